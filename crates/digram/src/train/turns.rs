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

/// Chooses for each merge the language that is compressed least, relative to its target.
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
    turn_counts: Vec<usize>,
}

impl Turns {
    /// `lengths` are those before the first merge.
    pub(super) fn new(lengths: &[u64], ratios: Option<&[f64]>, window: Option<Window>) -> Turns {
        // A language without text cannot become shorter.
        let exhausted = lengths.iter().map(|&length| ratios.is_some() && length == 0).collect();
        let turn_counts = vec![0; lengths.len()];
        Turns {
            ratios: ratios.map(|ratios| (lengths.to_vec(), ratios.to_vec())),
            window: window.map(|window| RecentTurns { window, turns: VecDeque::new(), turn_counts }),
            exhausted,
        }
    }

    /// The language of the next turn, given the current lengths; `None` if all are exhausted. With a
    /// window, it may be an exhausted one, whose turn is lost.
    pub(super) fn next(&mut self, lengths: &[u64]) -> Option<usize> {
        let mut candidates: Vec<usize> =
            (0..lengths.len()).filter(|&language| !self.exhausted[language]).collect();
        let mut chosen = self.take_furthest(&mut candidates, lengths)?;
        let Some(recent) = &self.window else { return Some(chosen) };
        while recent.has_more_than_its_share(chosen) {
            match self.take_furthest(&mut candidates, lengths) {
                Some(next) => chosen = next,
                None => {
                    // Like Hugging Face's trainer: an exhausted language counts as the
                    // shortest one, and the first language represents these.
                    chosen = if self.exhausted.contains(&true) { 0 } else { chosen };
                    break;
                }
            }
        }
        self.window.as_mut()?.push(chosen);
        Some(chosen)
    }

    /// Removes and returns the language that is furthest behind; of equals the first.
    fn take_furthest(&self, candidates: &mut Vec<usize>, lengths: &[u64]) -> Option<usize> {
        let mut furthest = 0;
        for index in 1..candidates.len() {
            if self.is_behind(candidates[index], candidates[furthest], lengths) {
                furthest = index;
            }
        }
        (!candidates.is_empty()).then(|| candidates.remove(furthest))
    }

    fn is_behind(&self, language: usize, other: usize, lengths: &[u64]) -> bool {
        match &self.ratios {
            None => lengths[language] > lengths[other],
            Some((initial_lengths, ratios)) => {
                let progress = |language: usize| {
                    initial_lengths[language] as f64 / lengths[language] as f64 / ratios[language]
                };
                progress(language) < progress(other)
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
        let share = self.turn_counts[language] as f64 / self.window.size as f64;
        share > self.window.alpha / self.turn_counts.len() as f64
    }

    fn push(&mut self, language: usize) {
        self.turns.push_back(language);
        self.turn_counts[language] += 1;
        if self.turns.len() > self.window.size
            && let Some(oldest) = self.turns.pop_front()
        {
            self.turn_counts[oldest] -= 1;
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
    fn the_longest_language_is_next_and_ties_go_to_the_first() {
        let mut schedule = Turns::new(&[3, 5, 5], None, None);
        assert_eq!(turns(&mut schedule, &[3, 5, 5], 1), [Some(1)]);
        schedule.exhaust(1);
        assert_eq!(turns(&mut schedule, &[5, 9, 5], 1), [Some(0)]);
        schedule.exhaust(0);
        schedule.exhaust(2);
        assert_eq!(turns(&mut schedule, &[5, 9, 5], 1), [None]);
    }

    #[test]
    fn with_ratios_the_language_furthest_from_its_target_is_next() {
        let mut schedule = Turns::new(&[100, 100, 0], Some(&[2.0, 1.0, 1.0]), None);
        assert_eq!(turns(&mut schedule, &[80, 100, 0], 1), [Some(0)]);
        assert_eq!(turns(&mut schedule, &[40, 100, 0], 1), [Some(1)]);
        schedule.exhaust(0);
        schedule.exhaust(1);
        // A language without text has no turn.
        assert_eq!(turns(&mut schedule, &[40, 100, 0], 1), [None]);
    }

    #[test]
    fn a_language_with_more_than_its_share_of_turns_waits() {
        let window = Some(Window { size: 4, alpha: 1.0 });
        let mut schedule = Turns::new(&[9, 5], None, window);
        let languages: Vec<usize> = turns(&mut schedule, &[9, 5], 8).into_iter().flatten().collect();
        assert_eq!(languages, [0, 0, 0, 1, 1, 0, 0, 0]);
        // If all must wait, the last candidate is chosen.
        let window = Some(Window { size: 2, alpha: 0.1 });
        let mut schedule = Turns::new(&[9, 5], None, window);
        let languages: Vec<usize> = turns(&mut schedule, &[9, 5], 5).into_iter().flatten().collect();
        assert_eq!(languages, [0, 1, 1, 0, 1]);
    }

    /// Turns may be lost, but never all of them.
    #[test]
    fn a_waiting_language_eventually_has_a_turn() {
        for alpha in [1e-9, 0.5, 1.0, 3.0] {
            let mut schedule = Turns::new(&[9, 5, 7], None, Some(Window { size: 5, alpha }));
            schedule.exhaust(0);
            schedule.exhaust(2);
            for _ in 0..20 {
                let languages = turns(&mut schedule, &[9, 5, 7], 6);
                assert!(languages.contains(&Some(1)), "{alpha}: {languages:?}");
            }
        }
    }
}
