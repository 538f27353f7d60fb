//! Scratch memory of a thread.

use std::ops::Range;

use super::kernels::lockstep::Lockstep;
use super::kernels::{events, long};
use super::lookup::{Asked, Table};
use crate::vocabulary::TokenId;

/// Lists with a larger capacity are freed.
const KEEP: usize = 1 << 15;

/// Buffers and a cache that a thread reuses from one pretoken to the next. They never change a result.
pub(crate) struct Scratch {
    pub(super) table: Table,
    pub(super) asked: Box<Asked>,
    /// The ids of the pretokens of a group that were not in the table.
    pub(super) late: Late,
    /// Spare lists of ids: a pretoken needs one, and so does a piece of it.
    spare: Vec<Vec<TokenId>>,
    /// The ids of a group, for sinks that are not lists.
    pub(super) group: Vec<TokenId>,
    pub(super) lockstep: Box<Lockstep>,
    pub(super) long: long::LongScratch,
    pub(super) events: events::EventScratch,
}

/// The ids of the pretokens of a group that the table does not contain, by their numbers among these.
#[derive(Default)]
pub(super) struct Late {
    ids: Vec<TokenId>,
    spans: Vec<Range<u32>>,
    /// The numbers of words that are merged in lockstep, once the others have their ids.
    pub(super) words: Vec<u32>,
}

impl Late {
    /// Forgets the pretokens of the last group; this one has `count`.
    pub(super) fn reset(&mut self, count: usize) {
        self.ids.clear();
        self.words.clear();
        self.spans.clear();
        self.spans.resize(count, 0..0);
    }

    /// Sets the ids of a pretoken.
    #[inline]
    pub(super) fn set(&mut self, number: usize, ids: &[TokenId]) {
        let start = self.ids.len() as u32;
        self.ids.extend_from_slice(ids);
        self.spans[number] = start..self.ids.len() as u32;
    }

    /// Sets the ids of a pretoken to those of another.
    #[inline]
    pub(super) fn set_as(&mut self, number: usize, other: usize) {
        self.spans[number] = self.spans[other].clone();
    }

    /// Inserts the ids between the `found` ids of the other pretokens at `place`, and returns the number
    /// of all.
    ///
    /// # Safety
    ///
    /// `place` points to memory for all ids.
    pub(super) unsafe fn insert_into(&self, place: *mut TokenId, found: usize, asked: &Asked) -> usize {
        let inserted: usize = self.spans.iter().map(|span| span.len()).sum();
        let (mut end, mut late) = (found, inserted);
        for (&gap, span) in asked.gaps().iter().zip(&self.spans).rev() {
            let gap = gap as usize;
            let ids = &self.ids[span.start as usize..span.end as usize];
            // SAFETY: from the last gap to the first, the ids behind a gap move by the ids that are still
            // to be inserted up to there.
            unsafe {
                std::ptr::copy(place.add(gap), place.add(gap + late), end - gap);
                late -= ids.len();
                std::ptr::copy_nonoverlapping(ids.as_ptr(), place.add(gap + late), ids.len());
            }
            end = gap;
        }
        found + inserted
    }
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        Scratch {
            table: Table::new(),
            asked: Box::new(Asked::new()),
            late: Late::default(),
            spare: Vec::new(),
            group: Vec::new(),
            lockstep: Box::new(Lockstep::new()),
            long: long::LongScratch::default(),
            events: events::EventScratch::default(),
        }
    }

    /// Calls `work` with an empty list of ids.
    pub(super) fn with_list<R>(&mut self, work: impl FnOnce(&mut Scratch, &mut Vec<TokenId>) -> R) -> R {
        let mut ids = self.spare.pop().unwrap_or_default();
        ids.clear();
        let result = work(self, &mut ids);
        if ids.capacity() <= KEEP {
            self.spare.push(ids);
        }
        result
    }

    /// The size of the cache in bytes; the rest is small.
    pub(super) fn bytes(&self) -> usize {
        self.table.bytes() + size_of::<Asked>()
    }

    /// Frees memory that is too large to keep until the next call.
    pub(crate) fn trim(&mut self) {
        if self.late.ids.capacity() > KEEP {
            self.late.ids = Vec::new();
        }
        if self.group.capacity() > KEEP {
            self.group = Vec::new();
        }
    }
}
