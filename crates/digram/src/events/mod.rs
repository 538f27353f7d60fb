//! The events of PickyBPE training, in order: tokens are made from pairs, and intermediate tokens are
//! dropped again.
//!
//! Chizhov, Arnett, Korotkova and Yamshchikov, "BPE Gets Picky: Efficient Vocabulary Refinement During
//! Tokenizer Training", EMNLP 2024. A text is encoded by replaying the same events in the same order; the
//! time of an event is its index.
//!
//! Tokens have numbers here, since dropped tokens have no id: first the base, then each token in the order
//! in which it is first made.

use std::ops::Range;

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::merges::{Merge, Merges, NO_RANK, Rank};
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId, Vocabulary};

/// An event, in terms of token numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// All adjacent occurrences of the two, from the left, become the token of their bytes.
    Merge(u32, u32),
    /// All occurrences of this token become the parts it was first made of; parts that are dropped become
    /// their own parts.
    Drop(u32),
}

/// The index of an event.
pub(crate) type Time = u32;

/// No time.
pub(crate) const NEVER: Time = Time::MAX;

/// An event with its effect.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Merge(Merge),
    /// The token, and the range of its parts in the list of all parts.
    Drop(u32, Range<u32>),
}

/// Stands for the id of a token that is dropped at the end.
const NO_ID: TokenId = TokenId::MAX;

/// Events, indexed by the next time of each pair and each token.
#[derive(Clone)]
pub(crate) struct Events {
    /// All tokens ever made, by number.
    vocabulary: Vocabulary,
    steps: Vec<Step>,
    /// The parts of all tokens that are dropped.
    parts: Vec<u32>,
    merges: MergeTimes,
    /// The times at which tokens are dropped, by number, in ascending order.
    drops: Vec<Box<[Time]>>,
    /// From number to id.
    ids: Vec<TokenId>,
}

/// The times at which pairs are merged. Nearly all are merged once, at a time stored with the pair.
#[derive(Clone)]
struct MergeTimes {
    /// Each pair once, in the order of its first time. The ids of the resulting tokens are not used.
    pairs: Merges,
    first: Vec<Time>,
    /// The later times of pairs that have more than one, in ascending order.
    later: HashMap<Rank, Vec<Time>>,
}

impl MergeTimes {
    fn new(merges: &[((u32, u32), Time)]) -> MergeTimes {
        let mut times = MergeTimes {
            pairs: Merges::with_capacity(merges.len()),
            first: Vec::with_capacity(merges.len()),
            later: HashMap::default(),
        };
        for &((left, right), time) in merges {
            if times.pairs.push(Merge { left, right, id: 0 }) {
                times.first.push(time);
            } else {
                times.later.entry(times.pairs.rank(left, right)).or_default().push(time);
            }
        }
        times
    }

    /// The first time of a pair that is not before `from`; [`NEVER`] if there is none.
    #[inline]
    fn next(&self, left: u32, right: u32, from: Time) -> Time {
        let rank = self.pairs.rank(left, right);
        if rank == NO_RANK {
            return NEVER;
        }
        let first = self.first[rank as usize];
        if first >= from { first } else { self.later.get(&rank).map_or(NEVER, |later| next(later, from)) }
    }
}

/// The first of ascending times that is not before `from`; [`NEVER`] if there is none.
fn next(times: &[Time], from: Time) -> Time {
    times.get(times.partition_point(|&time| time < from)).copied().unwrap_or(NEVER)
}

impl Events {
    /// Validates events. `base` are the bytes of the base tokens, by number. `token_to_id` gives the id of
    /// a token that remains at the end, by its number and bytes.
    pub(crate) fn new(
        base: Vec<Vec<u8>>,
        events: &[Event],
        token_to_id: impl Fn(usize, &[u8]) -> Option<TokenId>,
    ) -> Result<Events> {
        let mut tokens_made = MadeTokens::new(base);
        let (mut steps, mut parts) = (Vec::with_capacity(events.len()), Vec::new());
        let (mut merges, mut dropped) = (Vec::new(), Vec::new());
        if events.len() > MAX_VOCAB_SIZE {
            return Err(Error::Limit { reason: format!("there are more than {MAX_VOCAB_SIZE} events.") });
        }
        for (time, &event) in (0..).zip(events) {
            let fail =
                |problem: &str| Error::Vocabulary { reason: format!("event {time} ({event:?}): {problem}") };
            match event {
                Event::Merge(left, right) => {
                    if !tokens_made.is_live(left) || !tokens_made.is_live(right) {
                        return Err(fail("a part is not there at this time."));
                    }
                    let id = tokens_made.merge(left, right)?;
                    merges.push(((left, right), time));
                    steps.push(Step::Merge(Merge { left, right, id }));
                }
                Event::Drop(token) => {
                    if !tokens_made.is_live(token) || (token as usize) < tokens_made.base {
                        return Err(fail("there is no such token to drop at this time."));
                    }
                    let start = parts.len() as u32;
                    tokens_made.drop(token, &mut parts);
                    if parts.len() > MAX_BYTES_IN_ALL {
                        return Err(Error::Limit {
                            reason: "dropped tokens have more than 2^28 parts.".into(),
                        });
                    }
                    dropped.push((token, time));
                    steps.push(Step::Drop(token, start..parts.len() as u32));
                }
            }
        }
        let mut drops = vec![Vec::new(); tokens_made.tokens.len()];
        dropped.into_iter().for_each(|(token, time): (u32, Time)| drops[token as usize].push(time));
        let drops = drops.into_iter().map(Vec::into_boxed_slice).collect();
        let mut ids = Vec::with_capacity(tokens_made.tokens.len());
        for (number, token) in tokens_made.tokens.iter().enumerate() {
            ids.push(match tokens_made.live[number] {
                true => token_to_id(number, token).ok_or_else(|| Error::Vocabulary {
                    reason: format!(
                        "{:?} is left after all events, but it is not a token of the vocabulary.",
                        String::from_utf8_lossy(token)
                    ),
                })?,
                false => NO_ID,
            });
        }
        Ok(Events {
            vocabulary: Vocabulary::new(tokens_made.tokens.iter().map(Some))?,
            steps,
            parts,
            merges: MergeTimes::new(&merges),
            drops,
            ids,
        })
    }

    /// The bytes of all tokens ever made, by number.
    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The event at a time.
    #[inline]
    pub(crate) fn step(&self, time: Time) -> &Step {
        &self.steps[time as usize]
    }

    /// All merges, in token numbers.
    pub(crate) fn merges(&self) -> impl Iterator<Item = Merge> {
        self.steps.iter().filter_map(|step| match step {
            Step::Merge(merge) => Some(*merge),
            Step::Drop(..) => None,
        })
    }

    /// The parts of a token that is dropped.
    #[inline]
    pub(crate) fn parts(&self, range: &Range<u32>) -> &[u32] {
        &self.parts[range.start as usize..range.end as usize]
    }

    /// The first time from `from` on at which a pair is merged, or [`NEVER`].
    #[inline]
    pub(crate) fn next_merge(&self, left: u32, right: u32, from: Time) -> Time {
        self.merges.next(left, right, from)
    }

    /// The first time from `from` on at which a token is dropped, or [`NEVER`].
    #[inline]
    pub(crate) fn next_drop(&self, token: u32, from: Time) -> Time {
        match &*self.drops[token as usize] {
            [] => NEVER,
            times => next(times, from),
        }
    }

    /// The id of a token that remains at the end.
    #[inline]
    pub(crate) fn id(&self, number: u32) -> TokenId {
        let id = self.ids[number as usize];
        debug_assert_ne!(id, NO_ID, "a dropped token occurs in no text after that");
        id
    }
}

/// The tokens made up to some time.
pub(crate) struct MadeTokens {
    /// Their bytes, by number.
    pub(crate) tokens: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, u32>,
    /// The parts that each token was first made of; `None` for base tokens.
    parts_of: Vec<Option<(u32, u32)>>,
    /// Whether each token exists now.
    live: Vec<bool>,
    base: usize,
    pub(crate) live_count: usize,
    /// The bytes of all tokens that were made.
    bytes: usize,
}

impl MadeTokens {
    pub(crate) fn new(base: Vec<Vec<u8>>) -> MadeTokens {
        let count = base.len();
        MadeTokens {
            tokens: base,
            // A made token has at least two symbols, so it differs from all base tokens.
            numbers: HashMap::default(),
            parts_of: vec![None; count],
            live: vec![true; count],
            base: count,
            live_count: count,
            bytes: 0,
        }
    }

    pub(crate) fn is_live(&self, number: u32) -> bool {
        self.live.get(number as usize).copied().unwrap_or(false)
    }

    /// Whether a token is not a base token.
    pub(crate) fn is_made(&self, number: u32) -> bool {
        number as usize >= self.base
    }

    /// Makes the token of two others, possibly again, and returns its number.
    pub(crate) fn merge(&mut self, left: u32, right: u32) -> Result<u32> {
        let parts = [&self.tokens[left as usize][..], &self.tokens[right as usize]];
        let len = parts[0].len() + parts[1].len();
        if len > MAX_BYTES || self.bytes + len > MAX_BYTES_IN_ALL {
            // A file of a few lines could ask for all memory, since a token may double at each merge.
            return Err(Error::Limit {
                reason: format!(
                    "a token of {len} bytes was made; at most {MAX_BYTES} are kept, and {MAX_BYTES_IN_ALL} in all."
                ),
            });
        }
        let token = parts.concat();
        let number = match self.numbers.get(&token) {
            Some(&number) => number,
            None => {
                let number = self.tokens.len() as u32;
                if self.tokens.len() >= MAX_TOKENS {
                    return Err(Error::Limit { reason: format!("more than {MAX_TOKENS} tokens were made.") });
                }
                self.bytes += len;
                self.numbers.insert(token.clone(), number);
                self.tokens.push(token);
                self.parts_of.push(Some((left, right)));
                self.live.push(false);
                number
            }
        };
        self.live_count += usize::from(!self.live[number as usize]);
        self.live[number as usize] = true;
        Ok(number)
    }

    /// Drops a token and appends its parts.
    pub(crate) fn drop(&mut self, number: u32, parts: &mut Vec<u32>) {
        self.live[number as usize] = false;
        self.live_count -= 1;
        // The parts of parts, the left ones first; a token may be as deep as it is long.
        let mut stack = vec![number];
        while let Some(number) = stack.pop() {
            match self.parts_of[number as usize] {
                Some((left, right)) if !self.live[number as usize] => stack.extend([right, left]),
                _ => parts.push(number),
            }
        }
    }
}

/// The maximum number of tokens ever made, including dropped ones.
const MAX_TOKENS: usize = MAX_VOCAB_SIZE;

/// The longest token.
const MAX_BYTES: usize = 1 << 24;

/// The maximum total size of all tokens, and the maximum number of parts of dropped ones.
const MAX_BYTES_IN_ALL: usize = 1 << 28;
