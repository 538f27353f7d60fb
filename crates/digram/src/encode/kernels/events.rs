//! Merging and splitting by the events of PickyBPE, in near-linear time.
//!
//! Each pair and each token that arises is queued with the time of its next event and its place. The queue
//! yields the earliest event, and of equal times the leftmost place. Whether the pair or token is still
//! there is checked when the event is processed, since a pair may leave a place and return to it.
//!
//! Symbols are stored at the positions of their bytes: one list holds a token at its first place, a second
//! list at its last place, so both neighbours of a place are found without links. A single list, which
//! suffices if tokens only grow, does not work here: a place may be the first of a token now and the last
//! of another later.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::error::Result;
use crate::events::{Event, Events, NEVER, Step, Time};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::vocabulary::{TokenId, Vocabulary};

use super::super::safe_splits::SafeSplits;
use super::super::symbols::{Join, Symbol, SymbolRun, Symbols};
use super::super::{Context, Sink};
use super::check_len;

/// Events, and the numbers of the base tokens in them.
pub(in crate::encode) struct ByEvents {
    symbols: Arc<Symbols>,
    events: Events,
    /// By id; meaningless for tokens that are not base tokens.
    numbers: Vec<u32>,
}

impl ByEvents {
    /// Validates the events against a vocabulary.
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

    /// The places at which text can be split, since no merge crosses them.
    pub(in crate::encode) fn splits(&self) -> SafeSplits {
        SafeSplits::new(self.events.vocabulary(), &self.events.merges().collect::<Vec<_>>(), false)
    }

    /// Emits the ids of a piece of text.
    ///
    /// Takes 8 bytes of memory per byte of text, and 8 more per queued event. Little of it is kept in
    /// `scratch`, even after an interrupt.
    #[inline]
    pub(super) fn encode(&self, piece: &[u8], context: &mut Context<'_>, sink: &mut impl Sink) -> Result<()> {
        let interrupt = context.interrupt;
        let mut join = EventJoin { by: self, scratch: &mut context.scratch.events, interrupt };
        self.symbols.join(piece, &mut join, interrupt, sink)
    }
}

struct EventJoin<'a> {
    by: &'a ByEvents,
    scratch: &'a mut EventScratch,
    interrupt: &'a dyn Interrupt,
}

impl Join for EventJoin<'_> {
    #[inline]
    fn join(&mut self, run: SymbolRun<impl Iterator<Item = Symbol>>, sink: &mut impl Sink) -> Result<()> {
        let ByEvents { events, numbers, .. } = self.by;
        let SymbolRun { symbols, len } = run;
        let symbols = symbols.map(|(id, width)| (numbers[id as usize], width));
        if len <= SHORT {
            sink.reserve(len)?;
            short(symbols.map(|(number, _)| number), events, sink);
            return Ok(());
        }
        merge(SymbolRun { symbols, len }, events, self.scratch, self.interrupt, sink)
    }
}

/// Up to this many bytes, scanning repeatedly is faster than a queue.
const SHORT: usize = 32;

/// Like `merge`, for at most [`SHORT`] symbols.
fn short(symbols: impl Iterator<Item = u32>, events: &Events, sink: &mut impl Sink) {
    // Each token and the time of its next event: its drop, or its merge with the token after it.
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
    // `min_by_key` returns the first minimum, which is the leftmost.
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
        // The next event of the token before may have changed too.
        let first = at.saturating_sub(1);
        for (at, next) in (first..).zip(&mut times[first..at + new]) {
            *next = wait(&tokens[..count], at, time + 1);
        }
    }
    tokens[..count].iter().for_each(|&token| sink.push_id(events.id(token)));
}

/// Marks a place where no token begins. No token has this number.
const INSIDE: u32 = u32::MAX;

/// Buffers that a thread reuses from one pretoken to the next.
#[derive(Default)]
pub(in crate::encode) struct EventScratch {
    starts: Vec<u32>,
    ends: Vec<u32>,
    queue: BinaryHeap<Reverse<(Time, u32)>>,
}

/// Capacity kept between calls: enough for most inputs, and small.
const KEEP: usize = 1 << 16;

fn merge(
    SymbolRun { symbols, len }: SymbolRun<impl Iterator<Item = (u32, usize)>>,
    events: &Events,
    scratch: &mut EventScratch,
    interrupt: &dyn Interrupt,
    sink: &mut impl Sink,
) -> Result<()> {
    check_len(len)?;
    let EventScratch { starts, ends, queue } = scratch;
    for list in [&mut *starts, &mut *ends] {
        list.clear();
        memory::try_reserve(list, len)?;
        list.resize(len, INSIDE);
    }
    queue.clear();
    let mut run = EventRun { starts, ends, queue, events };
    let done = run.go(symbols, interrupt).and_then(|()| run.emit(interrupt, sink));
    // Also after an interrupt, so that the kept buffers stay small.
    scratch.queue.clear();
    scratch.queue.shrink_to(KEEP);
    for list in [&mut scratch.starts, &mut scratch.ends] {
        list.truncate(KEEP);
        list.shrink_to(KEEP);
    }
    done
}

struct EventRun<'a> {
    /// For each place, the token that begins there.
    starts: &'a mut [u32],
    /// For each place, the token that ends there; meaningless where none ends.
    ends: &'a mut [u32],
    queue: &'a mut BinaryHeap<Reverse<(Time, u32)>>,
    events: &'a Events,
}

impl EventRun<'_> {
    fn go(&mut self, symbols: impl Iterator<Item = (u32, usize)>, interrupt: &dyn Interrupt) -> Result<()> {
        let mut pacer = Pacer::new(interrupt);
        let mut at = 0;
        for (symbol, width) in symbols {
            pacer.after(1)?;
            self.starts[at] = symbol;
            self.ends[at + width - 1] = symbol;
            self.wait_as_pair_before(at, 0)?;
            at += width;
        }
        while let Some(Reverse((time, at))) = self.queue.pop() {
            pacer.after(1)?;
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
                        pacer.after(1)?;
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

    /// Queues the next event of the pair around the place `at`, if there are tokens on both sides.
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
        memory::try_push(self.queue, Reverse((time, start)))
    }

    /// Queues the drop of the token that begins at `at`.
    #[inline]
    fn wait_to_drop(&mut self, at: usize, from: Time) -> Result<()> {
        let time = self.events.next_drop(self.starts[at], from);
        if time == NEVER { Ok(()) } else { memory::try_push(self.queue, Reverse((time, at as u32))) }
    }

    /// Emits the remaining tokens.
    fn emit(&self, interrupt: &dyn Interrupt, sink: &mut impl Sink) -> Result<()> {
        let (mut at, mut pacer) = (0, Pacer::new(interrupt));
        while at < self.starts.len() {
            pacer.after(1)?;
            let token = self.starts[at];
            sink.reserve(1)?;
            sink.push_id(self.events.id(token));
            at += self.len_of(token);
        }
        Ok(())
    }
}
