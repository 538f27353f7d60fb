//! Sets of characters, and operations on them.

use std::rc::Rc;

use super::unicode::contains;

/// A set of characters: inclusive ranges in order, with gaps between them. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Set(Rc<[(char, char)]>);

impl Set {
    pub(super) fn one(c: char) -> Set {
        Set([(c, c)].into())
    }

    /// The characters of ranges in any order, which may overlap.
    pub(super) fn new(mut ranges: Vec<(char, char)>) -> Set {
        ranges.sort();
        let mut disjoint: Vec<(char, char)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match disjoint.last_mut() {
                Some(previous) if next_char(previous.1).is_none_or(|next| first <= next) => {
                    previous.1 = previous.1.max(last);
                }
                _ => disjoint.push((first, last)),
            }
        }
        Set(disjoint.into())
    }

    pub(super) fn ranges(&self) -> &[(char, char)] {
        &self.0
    }

    /// The number of ranges, which determines the cost of operations.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The character of a set of exactly one.
    pub(super) fn single(&self) -> Option<char> {
        match *self.0 {
            [(first, last)] if first == last => Some(first),
            _ => None,
        }
    }

    /// Whether it contains a character.
    pub(super) fn holds(&self, c: char) -> bool {
        contains(&self.0, c)
    }

    /// All characters that are not in it.
    pub(super) fn negated(&self) -> Set {
        let mut complement = Vec::with_capacity(self.len() + 1);
        let mut from = Some('\0');
        for &(first, last) in self.ranges() {
            if let Some(from) = from.filter(|&from| from < first) {
                complement.push((from, previous_char(first)));
            }
            from = next_char(last);
        }
        complement.extend(from.map(|from| (from, char::MAX)));
        Set(complement.into())
    }

    pub(super) fn union(&self, other: &Set) -> Set {
        Set::new([self.ranges(), other.ranges()].concat())
    }

    /// The characters in both sets.
    pub(super) fn intersection(&self, other: &Set) -> Set {
        let (mut ranges_a, mut ranges_b) = (self.ranges(), other.ranges());
        let mut common = Vec::new();
        while let ([a, rest_a @ ..], [b, rest_b @ ..]) = (ranges_a, ranges_b) {
            let (first, last) = (a.0.max(b.0), a.1.min(b.1));
            if first <= last {
                common.push((first, last));
            }
            if a.1 < b.1 { ranges_a = rest_a } else { ranges_b = rest_b }
        }
        Set(common.into())
    }

    /// The characters of this set that are not in `other`.
    pub(super) fn difference(&self, other: &Set) -> Set {
        self.intersection(&other.negated())
    }
}

/// The character after another one.
fn next_char(c: char) -> Option<char> {
    let mut after = c..=char::MAX;
    after.nth(1)
}

/// The character before one that is not the first.
fn previous_char(c: char) -> char {
    ('\0'..c).next_back().expect("not the first")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A few characters, including the limits of Unicode and of the surrogates.
    const CHARACTERS: [char; 9] =
        ['\0', '\u{1}', 'a', 'b', 'c', '\u{d7fe}', '\u{d7ff}', '\u{e000}', char::MAX];

    #[test]
    fn set_operations_agree_with_membership() {
        let mut random = 1u64;
        let mut below = |maximum: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % maximum
        };
        let mut random_set = || -> Set {
            let mut range = || {
                let (a, b) = (below(CHARACTERS.len()), below(CHARACTERS.len()));
                (CHARACTERS[a.min(b)], CHARACTERS[a.max(b)])
            };
            let ranges = [range(), range(), range()];
            Set::new(ranges[..below(4)].to_vec())
        };
        for _ in 0..20_000 {
            let (a, b) = (random_set(), random_set());
            let results = [
                (a.negated(), [false, false, true, true]),
                (a.union(&b), [true, true, true, false]),
                (a.intersection(&b), [true, false, false, false]),
                (a.difference(&b), [false, true, false, false]),
            ];
            for (set, expected) in results {
                let apart =
                    set.0.windows(2).all(|pair| next_char(pair[0].1).is_some_and(|next| next < pair[1].0));
                assert!(apart && set.0.iter().all(|range| range.0 <= range.1), "{set:?}");
                for c in CHARACTERS.into_iter().chain(['d', '\u{e001}']) {
                    let case = match (a.holds(c), b.holds(c)) {
                        (true, true) => 0,
                        (true, false) => 1,
                        (false, true) => 2,
                        (false, false) => 3,
                    };
                    assert_eq!(set.holds(c), expected[case], "{a:?} {b:?} {set:?} {c:?}");
                }
            }
        }
    }
}
