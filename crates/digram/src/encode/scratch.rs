//! Scratch memory of a thread, and the context of a call.

use super::kernels::{events, fewest, lockstep, long, scored, viterbi};
use super::lookup::{GivenMisses, Keys, MissedIds, MissedWords, Misses, NewWords, Table};
use crate::interrupt::Interrupt;
use crate::normalize::JoinedTexts;
use crate::text::Utf8Converter;
use crate::vocabulary::TokenId;

/// Lists with a larger capacity are freed.
const KEEP: usize = 1 << 15;

/// The same for the ids of a text: those of 100,000 bytes of English take half of it.
const KEEP_IDS: usize = 1 << 16;

/// Memory for a text in UTF-8 is freed if it has more bytes.
const KEEP_BYTES: usize = 1 << 18;

/// Buffers and a cache that a thread reuses from one pretoken to the next. They never change a result.
pub(crate) struct Scratch {
    pub(super) table: Table,
    pub(super) keys: Box<Keys>,
    pub(super) misses: Box<Misses>,
    pub(super) missed_ids: MissedIds,
    pub(super) given_misses: GivenMisses,
    /// The ends of words of the given text.
    pub(crate) given_ends: Vec<usize>,
    /// Whether new pretokens are cached.
    pub(crate) keeps_pretokens: bool,
    /// Those of them whose ids are computed.
    pub(crate) joined: JoinedTexts,
    pub(super) new_words: Box<NewWords>,
    /// Spare lists of ids: a pretoken needs one, and so does a piece of it.
    spare: Vec<Vec<TokenId>>,
    /// The ids of a group, for sinks that are not lists.
    pub(super) group: Vec<TokenId>,
    /// The ids of a text.
    pub(crate) ids: Vec<TokenId>,
    /// Converts texts that are not in UTF-8.
    pub(crate) converter: Utf8Converter,
    /// The number of the thread that had it last.
    pub(super) thread: usize,
    /// The bytes of this memory that the pool it belongs to has counted.
    pub(super) counted: usize,
    /// The number of words that were merged in lockstep; not counted beyond some hundreds.
    pub(super) merged: usize,
    pub(super) short_words: Box<MissedWords<{ lockstep::SHORT }>>,
    pub(super) long_words: Box<MissedWords<{ lockstep::LONG }>>,
    pub(super) longest_words: Box<MissedWords<{ lockstep::LONGEST }>>,
    pub(super) long: long::LongScratch,
    pub(super) events: events::EventScratch,
    pub(super) fewest: fewest::FewestScratch,
    pub(super) viterbi: viterbi::ViterbiScratch,
    pub(super) scored: scored::ScoredScratch,
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        Scratch {
            table: Table::new(),
            keys: Box::new(Keys::new()),
            misses: Box::new(Misses::new()),
            missed_ids: MissedIds::default(),
            given_misses: GivenMisses::new(),
            given_ends: Vec::new(),
            keeps_pretokens: true,
            joined: JoinedTexts::default(),
            new_words: Box::new(NewWords::new()),
            spare: Vec::new(),
            group: Vec::new(),
            ids: Vec::new(),
            converter: Utf8Converter::new(),
            thread: 0,
            counted: 0,
            merged: 0,
            short_words: Box::new(MissedWords::new()),
            long_words: Box::new(MissedWords::new()),
            longest_words: Box::new(MissedWords::new()),
            long: long::LongScratch::default(),
            events: events::EventScratch::default(),
            fewest: fewest::FewestScratch::default(),
            viterbi: viterbi::ViterbiScratch::default(),
            scored: scored::ScoredScratch::default(),
        }
    }

    /// Prepares for a call in which `threads` threads have such memory. A cache of more bytes than it may have is
    /// emptied.
    #[inline]
    pub(super) fn begin(&mut self, bytes: usize, threads: usize) {
        if self.table.bytes() > bytes {
            self.table = Table::new();
        }
        self.table.begin(threads);
    }

    /// Adds a miss that is merged in lockstep.
    #[inline]
    pub(super) fn push_word(&mut self, miss: usize, len: usize) {
        if len <= lockstep::SHORT {
            self.short_words.push(miss);
        } else if len <= lockstep::LONG {
            self.long_words.push(miss);
        } else {
            self.longest_words.push(miss);
        }
    }

    /// The size of the cache in bytes; the rest is small.
    pub(super) fn bytes(&self) -> usize {
        self.table.bytes() + size_of::<Keys>() + 2 * size_of::<Misses>()
    }

    /// Frees memory that is too large to keep until the next call.
    pub(crate) fn trim(&mut self) {
        self.missed_ids.trim(KEEP);
        self.given_misses.trim(KEEP);
        if self.group.capacity() > KEEP {
            self.group = Vec::new();
        }
        if self.ids.capacity() > KEEP_IDS {
            self.ids = Vec::new();
        }
        self.converter.trim(KEEP_BYTES);
    }
}

/// The scratch memory that a call uses, and the way to stop it.
pub(super) struct Context<'a> {
    pub(super) scratch: &'a mut Scratch,
    pub(super) interrupt: &'a dyn Interrupt,
}

impl Context<'_> {
    /// Calls `work` with an empty list of ids.
    pub(super) fn with_list<R>(&mut self, work: impl FnOnce(&mut Self, &mut Vec<TokenId>) -> R) -> R {
        let mut ids = self.scratch.spare.pop().unwrap_or_default();
        ids.clear();
        let result = work(self, &mut ids);
        if ids.capacity() <= KEEP {
            self.scratch.spare.push(ids);
        }
        result
    }
}
