//! Merging and splitting by the events of PickyBPE, in near-linear time.
//!
//! Each pair and each token that arises waits for its next event, at a place. A queue gives the
//! earliest event, and of its places the leftmost; whether it still finds there what it is about is
//! seen when its time has come, since what went from a place may have come back to it.
//!
//! The symbols lie where their bytes lie: a token's first place holds its number in one list, and its
//! last place in another, so that both neighbours of a place are found without links. (One list will
//! not do, as it does where tokens only grow: a place may be the first of a token now and the last of
//! another later.)

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::events::{Event, Events, NEVER, Step, Time};
use crate::room;
use crate::vocabulary::{TokenId, Vocabulary};
use crate::watch::{Paced, Watch};

use super::super::cuts::Cuts;
use super::super::symbols::{Join, Symbols};
use super::Sink;

/// Events, and the numbers that base tokens have there.
pub(in crate::encode) struct ByEvents {
    symbols: Arc<Symbols>,
    events: Events,
    /// By id; of no meaning for tokens that are none of the base.
    numbers: Vec<u32>,
}

impl ByEvents {
    /// Checks events of a vocabulary.
    pub(in crate::encode) fn new(
        symbols: Arc<Symbols>,
        events: &[Event],
        vocabulary: &Vocabulary,
        ordinary: impl Fn(TokenId) -> bool,
    ) -> Result<ByEvents> {
        let base = symbols.base();
        let mut numbers = vec![0; vocabulary.size()];
        (0..).zip(&base).for_each(|(number, &id)| numbers[id as usize] = number);
        let bytes = |id: TokenId| vocabulary.get(id).expect("base tokens are tokens").to_vec();
        let tokens = vocabulary.iter().filter(|(id, _)| ordinary(*id));
        let ids: HashMap<&[u8], TokenId> = tokens.map(|(id, token)| (token, id)).collect();
        let events = Events::new(base.iter().map(|&id| bytes(id)).collect(), events, |number, token| {
            base.get(number).or_else(|| ids.get(token)).copied()
        })?;
        Ok(ByEvents { symbols, events, numbers })
    }

    /// The places that merges may cross.
    pub(in crate::encode) fn cuts(&self) -> Cuts {
        Cuts::new(self.events.vocabulary(), &self.events.merges().collect::<Vec<_>>())
    }

    /// Emits the ids of a piece of text.
    ///
    /// Takes 8 bytes of memory for each byte, and 8 more for each place of an event; little of it
    /// stays in `scratch`, also where the work is stopped.
    #[inline]
    pub(super) fn encode(
        &self,
        piece: &[u8],
        scratch: &mut super::super::Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut playing = Playing { by: self, scratch: &mut scratch.events, watch };
        self.symbols.join(piece, &mut playing, watch, sink)
    }
}

struct Playing<'a> {
    by: &'a ByEvents,
    scratch: &'a mut Scratch,
    watch: &'a dyn Watch,
}

impl Join for Playing<'_> {
    #[inline]
    fn join(
        &mut self,
        symbols: impl Iterator<Item = (TokenId, usize)>,
        len: usize,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let ByEvents { events, numbers, .. } = self.by;
        let symbols = symbols.map(|(id, width)| (numbers[id as usize], width));
        if len <= SHORT {
            sink.reserve(len)?;
            short(symbols.map(|(number, _)| number), events, sink);
            return Ok(());
        }
        merge(symbols, len, events, self.scratch, self.watch, sink)
    }
}

/// Runs of so many bytes are gone through again and again: no queue is as fast for so few symbols.
const SHORT: usize = 32;

/// The same for a run of at most [`SHORT`] symbols.
fn short(symbols: impl Iterator<Item = u32>, events: &Events, sink: &mut impl Sink) {
    // Each token, and the time of its next event: that it is dropped, or merged with the one after it.
    let (mut tokens, mut times) = ([0; SHORT], [NEVER; SHORT]);
    let mut count = 0;
    for symbol in symbols {
        tokens[count] = symbol;
        count += 1;
    }
    let wait = |tokens: &[u32], at: usize, from: Time| {
        let merge = tokens.get(at + 1).map_or(NEVER, |&right| events.next_merge(tokens[at], right, from));
        merge.min(events.next_drop(tokens[at], from))
    };
    (0..count).for_each(|at| times[at] = wait(&tokens[..count], at, 0));
    // Of equal times the first, which is the leftmost.
    while let Some((at, &time)) = times[..count].iter().enumerate().min_by_key(|(_, time)| **time)
        && time != NEVER
    {
        let new = match events.step(time) {
            Step::Merge(merge) => {
                tokens[at] = merge.id;
                tokens.copy_within(at + 2..count, at + 1);
                times.copy_within(at + 2..count, at + 1);
                count -= 1;
                1
            }
            Step::Drop(_, parts) => {
                let parts = events.parts(parts);
                tokens.copy_within(at + 1..count, at + parts.len());
                times.copy_within(at + 1..count, at + parts.len());
                tokens[at..at + parts.len()].copy_from_slice(parts);
                count += parts.len() - 1;
                parts.len()
            }
        };
        // What stands before waits for something else as well.
        let first = at.saturating_sub(1);
        for (at, next) in (first..).zip(&mut times[first..at + new]) {
            *next = wait(&tokens[..count], at, time + 1);
        }
    }
    tokens[..count].iter().for_each(|&token| sink.one(events.id(token)));
}

/// Stands where no token begins. No token has this number.
const INSIDE: u32 = u32::MAX;

/// Memory that a thread reuses from one run to the next.
#[derive(Default)]
pub(in crate::encode) struct Scratch {
    starts: Vec<u32>,
    ends: Vec<u32>,
    queue: BinaryHeap<Reverse<(Time, u32)>>,
}

/// Kept between calls: enough for most runs, little enough to forget about.
const KEEP: usize = 1 << 16;

fn merge(
    symbols: impl Iterator<Item = (u32, usize)>,
    len: usize,
    events: &Events,
    scratch: &mut Scratch,
    watch: &dyn Watch,
    sink: &mut impl Sink,
) -> Result<()> {
    if u32::try_from(len).is_err() {
        return Err(Error::Limit {
            reason: format!(
                "one pretoken is {len} bytes long; at most 4 GiB can be merged as one. Use a pretokenizer that cuts the text."
            ),
        });
    }
    let Scratch { starts, ends, queue } = scratch;
    for list in [&mut *starts, &mut *ends] {
        list.clear();
        room::reserve(list, len)?;
        list.resize(len, INSIDE);
    }
    queue.clear();
    let mut run = Run { starts, ends, queue, events };
    let done = run.go(symbols, watch).and_then(|()| run.emit(watch, sink));
    // Also where the watch stopped the work: what is kept must stay small.
    scratch.queue.clear();
    scratch.queue.shrink_to(KEEP);
    for list in [&mut scratch.starts, &mut scratch.ends] {
        list.truncate(KEEP);
        list.shrink_to(KEEP);
    }
    done
}

struct Run<'a> {
    /// For each place the token that begins there.
    starts: &'a mut [u32],
    /// For each place the token that ends there; what does not end there is of no meaning.
    ends: &'a mut [u32],
    queue: &'a mut BinaryHeap<Reverse<(Time, u32)>>,
    events: &'a Events,
}

impl Run<'_> {
    fn go(&mut self, symbols: impl Iterator<Item = (u32, usize)>, watch: &dyn Watch) -> Result<()> {
        let mut paced = Paced::new(watch);
        let mut at = 0;
        for (symbol, width) in symbols {
            paced.after(1)?;
            self.starts[at] = symbol;
            self.ends[at + width - 1] = symbol;
            self.wait_as_pair_before(at, 0)?;
            at += width;
        }
        while let Some(Reverse((time, at))) = self.queue.pop() {
            paced.after(1)?;
            let at = at as usize;
            match self.events.step(time) {
                Step::Merge(merge) => {
                    if self.starts[at] != merge.left {
                        continue;
                    }
                    let middle = at + self.len_of(merge.left);
                    if self.starts.get(middle) != Some(&merge.right) {
                        continue;
                    }
                    self.starts[middle] = INSIDE;
                    self.starts[at] = merge.id;
                    let end = middle + self.len_of(merge.right);
                    self.ends[end - 1] = merge.id;
                    self.wait_as_pair_before(at, time + 1)?;
                    self.wait_as_pair_before(end, time + 1)?;
                    self.wait_to_drop(at, time + 1)?;
                }
                Step::Drop(token, parts) => {
                    if self.starts[at] != *token {
                        continue;
                    }
                    let mut start = at;
                    for &part in self.events.parts(parts) {
                        paced.after(1)?;
                        self.starts[start] = part;
                        let end = start + self.len_of(part);
                        self.ends[end - 1] = part;
                        self.wait_as_pair_before(start, time + 1)?;
                        self.wait_to_drop(start, time + 1)?;
                        start = end;
                    }
                    self.wait_as_pair_before(start, time + 1)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn len_of(&self, token: u32) -> usize {
        self.events.vocabulary().len_of(token)
    }

    /// Lets the pair of what ends at `at` and what begins there wait for its next event, if there are
    /// both.
    #[inline]
    fn wait_as_pair_before(&mut self, at: usize, from: Time) -> Result<()> {
        if at == 0 || at == self.starts.len() {
            return Ok(());
        }
        let (left, right) = (self.ends[at - 1], self.starts[at]);
        let time = self.events.next_merge(left, right, from);
        if time == NEVER {
            return Ok(());
        }
        let start = (at - self.len_of(left)) as u32;
        room::push(self.queue, Reverse((time, start)))
    }

    /// Lets the token that begins at `at` wait until it is dropped.
    #[inline]
    fn wait_to_drop(&mut self, at: usize, from: Time) -> Result<()> {
        let time = self.events.next_drop(self.starts[at], from);
        if time == NEVER { Ok(()) } else { room::push(self.queue, Reverse((time, at as u32))) }
    }

    /// Emits the tokens that are left.
    fn emit(&self, watch: &dyn Watch, sink: &mut impl Sink) -> Result<()> {
        let (mut at, mut paced) = (0, Paced::new(watch));
        while at < self.starts.len() {
            paced.after(1)?;
            let token = self.starts[at];
            sink.reserve(1)?;
            sink.one(self.events.id(token));
            at += self.len_of(token);
        }
        Ok(())
    }
}
