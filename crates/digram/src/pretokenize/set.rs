//! Sets of characters, and what becomes of them in a pattern.

use std::rc::Rc;

/// A set of characters: ranges, both ends included, in order and apart. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Set(Rc<[(char, char)]>);

impl Set {
    pub(super) fn one(c: char) -> Set {
        Set([(c, c)].into())
    }

    /// The characters of ranges in any order, which may overlap.
    pub(super) fn new(mut ranges: Vec<(char, char)>) -> Set {
        ranges.sort();
        let mut apart: Vec<(char, char)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match apart.last_mut() {
                Some(before) if next(before.1).is_none_or(|next| first <= next) => {
                    before.1 = before.1.max(last);
                }
                _ => apart.push((first, last)),
            }
        }
        Set(apart.into())
    }

    pub(super) fn ranges(&self) -> &[(char, char)] {
        &self.0
    }

    /// How many ranges it has: the work that it takes to do something with it.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its one character, where it has one.
    pub(super) fn single(&self) -> Option<char> {
        match *self.0 {
            [(first, last)] if first == last => Some(first),
            _ => None,
        }
    }

    /// Whether it holds a character.
    pub(super) fn holds(&self, c: char) -> bool {
        let range = self.0.partition_point(|&(_, last)| last < c);
        self.0.get(range).is_some_and(|&(first, _)| first <= c)
    }

    /// All characters that are not in it.
    pub(super) fn negated(&self) -> Set {
        let mut others = Vec::with_capacity(self.len() + 1);
        let mut from = Some('\0');
        for &(first, last) in self.ranges() {
            if let Some(from) = from.filter(|&from| from < first) {
                others.push((from, before(first)));
            }
            from = next(last);
        }
        others.extend(from.map(|from| (from, char::MAX)));
        Set(others.into())
    }

    pub(super) fn union(&self, other: &Set) -> Set {
        Set::new([self.ranges(), other.ranges()].concat())
    }

    /// What is in both.
    pub(super) fn intersection(&self, other: &Set) -> Set {
        let (mut mine, mut theirs) = (self.ranges(), other.ranges());
        let mut both = Vec::new();
        while let ([one, rest @ ..], [other, others @ ..]) = (mine, theirs) {
            let (first, last) = (one.0.max(other.0), one.1.min(other.1));
            if first <= last {
                both.push((first, last));
            }
            if one.1 < other.1 { mine = rest } else { theirs = others }
        }
        Set(both.into())
    }

    /// What is in this one alone.
    pub(super) fn difference(&self, other: &Set) -> Set {
        self.intersection(&other.negated())
    }
}

/// The character after another one.
fn next(c: char) -> Option<char> {
    let mut after = c..=char::MAX;
    after.nth(1)
}

/// The character before one that is not the first.
fn before(c: char) -> char {
    ('\0'..c).next_back().expect("not the first")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A few characters, the borders of the characters and of the surrogates among them.
    const CHARACTERS: [char; 9] =
        ['\0', '\u{1}', 'a', 'b', 'c', '\u{d7fe}', '\u{d7ff}', '\u{e000}', char::MAX];

    #[test]
    fn what_becomes_of_sets_is_what_becomes_of_each_character() {
        let mut random = 1u64;
        let mut below = |maximum: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % maximum
        };
        let mut any = || -> Set {
            let mut range = || {
                let (one, other) = (below(CHARACTERS.len()), below(CHARACTERS.len()));
                (CHARACTERS[one.min(other)], CHARACTERS[one.max(other)])
            };
            let ranges = [range(), range(), range()];
            Set::new(ranges[..below(4)].to_vec())
        };
        for _ in 0..20_000 {
            let (one, other) = (any(), any());
            let results = [
                (one.negated(), [false, false, true, true]),
                (one.union(&other), [true, true, true, false]),
                (one.intersection(&other), [true, false, false, false]),
                (one.difference(&other), [false, true, false, false]),
            ];
            for (set, expected) in results {
                let apart = set.0.windows(2).all(|pair| next(pair[0].1).is_some_and(|next| next < pair[1].0));
                assert!(apart && set.0.iter().all(|range| range.0 <= range.1), "{set:?}");
                for c in CHARACTERS.into_iter().chain(['d', '\u{e001}']) {
                    let case = match (one.holds(c), other.holds(c)) {
                        (true, true) => 0,
                        (true, false) => 1,
                        (false, true) => 2,
                        (false, false) => 3,
                    };
                    assert_eq!(set.holds(c), expected[case], "{one:?} {other:?} {set:?} {c:?}");
                }
            }
        }
    }
}
