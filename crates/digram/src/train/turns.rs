//! The choice of the language for the next merge.

use std::collections::VecDeque;

/// A limit on how often a language is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// The number of past turns considered; at least 1.
    pub size: usize,
    /// A language that had more than `alpha` times its even share of these turns must wait; above 0.
    pub alpha: f64,
}

/// Chooses for each merge the language that is furthest behind.
pub(super) struct Turns {
    /// The initial length and the target compression ratio of each language: the one that has achieved the
    /// smallest part of its target is behind. Without ratios the longest language is behind.
    ratios: Option<(Vec<u64>, Vec<f64>)>,
    window: Option<RecentTurns>,
    /// Languages without a pair to merge.
    exhausted: Vec<bool>,
}

/// The last turns.
struct RecentTurns {
    window: Window,
    turns: VecDeque<usize>,
    /// The number of these turns of each language.
    times: Vec<usize>,
}

impl Turns {
    /// `lengths` are those before the first merge.
    pub(super) fn new(lengths: &[u64], ratios: Option<&[f64]>, window: Option<Window>) -> Turns {
        // A language without text cannot become shorter.
        let exhausted = lengths.iter().map(|&length| ratios.is_some() && length == 0).collect();
        let times = vec![0; lengths.len()];
        Turns {
            ratios: ratios.map(|ratios| (lengths.to_vec(), ratios.to_vec())),
            window: window.map(|window| RecentTurns { window, turns: VecDeque::new(), times }),
            exhausted,
        }
    }

    /// The language of the next turn, given the current lengths; `None` if all are exhausted. With a
    /// window, it may be an exhausted one, whose turn is lost.
    pub(super) fn next(&mut self, lengths: &[u64]) -> Option<usize> {
        let mut waiting: Vec<usize> = (0..lengths.len()).filter(|&one| !self.exhausted[one]).collect();
        let mut last = self.take_furthest(&mut waiting, lengths)?;
        let Some(recent) = &self.window else { return Some(last) };
        while recent.has_more_than_its_share(last) {
            match self.take_furthest(&mut waiting, lengths) {
                Some(next) => last = next,
                None => {
                    // As Hugging Face's trainer has it: an exhausted language counts as the
                    // shortest one, and the first of all stands for those.
                    last = if self.exhausted.contains(&true) { 0 } else { last };
                    break;
                }
            }
        }
        self.window.as_mut()?.push(last);
        Some(last)
    }

    /// Removes and returns the language that is furthest behind; of equals the first.
    fn take_furthest(&self, waiting: &mut Vec<usize>, lengths: &[u64]) -> Option<usize> {
        let mut furthest = 0;
        for at in 1..waiting.len() {
            if self.is_behind(waiting[at], waiting[furthest], lengths) {
                furthest = at;
            }
        }
        (!waiting.is_empty()).then(|| waiting.remove(furthest))
    }

    fn is_behind(&self, one: usize, other: usize, lengths: &[u64]) -> bool {
        match &self.ratios {
            None => lengths[one] > lengths[other],
            Some((before, ratios)) => {
                let done = |of: usize| before[of] as f64 / lengths[of] as f64 / ratios[of];
                done(one) < done(other)
            }
        }
    }

    pub(super) fn is_exhausted(&self, language: usize) -> bool {
        self.exhausted[language]
    }

    /// Marks a language as having no pairs to merge.
    pub(super) fn exhaust(&mut self, language: usize) {
        self.exhausted[language] = true;
    }
}

impl RecentTurns {
    fn has_more_than_its_share(&self, language: usize) -> bool {
        let share = self.times[language] as f64 / self.window.size as f64;
        share > self.window.alpha / self.times.len() as f64
    }

    fn push(&mut self, language: usize) {
        self.turns.push_back(language);
        self.times[language] += 1;
        if self.turns.len() > self.window.size
            && let Some(gone) = self.turns.pop_front()
        {
            self.times[gone] -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(turns: &mut Turns, lengths: &[u64], number: usize) -> Vec<Option<usize>> {
        (0..number).map(|_| turns.next(lengths)).collect()
    }

    #[test]
    fn the_longest_is_behind_and_of_equals_the_first() {
        let mut steered = Turns::new(&[3, 5, 5], None, None);
        assert_eq!(turns(&mut steered, &[3, 5, 5], 1), [Some(1)]);
        steered.exhaust(1);
        assert_eq!(turns(&mut steered, &[5, 9, 5], 1), [Some(0)]);
        steered.exhaust(0);
        steered.exhaust(2);
        assert_eq!(turns(&mut steered, &[5, 9, 5], 1), [None]);
    }

    #[test]
    fn by_ratios_who_is_furthest_from_its_aim_is_behind() {
        let mut steered = Turns::new(&[100, 100, 0], Some(&[2.0, 1.0, 1.0]), None);
        assert_eq!(turns(&mut steered, &[80, 100, 0], 1), [Some(0)]);
        assert_eq!(turns(&mut steered, &[40, 100, 0], 1), [Some(1)]);
        steered.exhaust(0);
        steered.exhaust(1);
        // A language without text has no turn.
        assert_eq!(turns(&mut steered, &[40, 100, 0], 1), [None]);
    }

    #[test]
    fn who_had_more_than_its_share_of_the_last_turns_waits() {
        let window = Some(Window { size: 4, alpha: 1.0 });
        let mut steered = Turns::new(&[9, 5], None, window);
        let seen: Vec<usize> = turns(&mut steered, &[9, 5], 8).into_iter().flatten().collect();
        assert_eq!(seen, [0, 0, 0, 1, 1, 0, 0, 0]);
        // Where nobody may, the last that was looked at does.
        let window = Some(Window { size: 2, alpha: 0.1 });
        let mut steered = Turns::new(&[9, 5], None, window);
        let seen: Vec<usize> = turns(&mut steered, &[9, 5], 5).into_iter().flatten().collect();
        assert_eq!(seen, [0, 1, 1, 0, 1]);
    }

    /// Turns may be lost, but never all of them.
    #[test]
    fn a_language_that_waits_has_its_turn_in_the_end() {
        for alpha in [1e-9, 0.5, 1.0, 3.0] {
            let mut steered = Turns::new(&[9, 5, 7], None, Some(Window { size: 5, alpha }));
            steered.exhaust(0);
            steered.exhaust(2);
            for _ in 0..20 {
                let seen = turns(&mut steered, &[9, 5, 7], 6);
                assert!(seen.contains(&Some(1)), "{alpha}: {seen:?}");
            }
        }
    }
}
