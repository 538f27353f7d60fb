//! A table from pretokens to their ids: tokens, and words that were merged. Each thread has its own.
//!
//! An entry is half a cache line: up to 15 bytes and up to four ids. So the ids of most pretokens are
//! copied from the one line that is read, whether the pretoken is a token or not; with a second table for
//! merged words, a look-up would wait for memory twice, and the processor would mispredict which table
//! has the entry. An entry with more ids, or of a longer pretoken, refers to an arena.
//!
//! A table never changes a result, since an entry is found only for exactly the bytes that it was made
//! from. It starts small, because short texts need few entries. When it has outgrown its first size, it is
//! filled with all tokens; when it has reached its maximum size, it is cleared and filled with them again.
//!
//! Tried and rejected: a small table of the frequent pretokens, in a near cache, before a large one (7 to
//! 9 ns for a pretoken instead of 5.5, because of mispredicted branches); looking up while splitting,
//! with keys that are computed some places ahead, instead of groups.

mod arena;
mod entry;
mod groups;
mod growth;
mod key;
mod seen;

use super::super::budget::Share;
use super::super::scratch_pool::BUDGET;
use super::super::text_slice::TextSlice;
use crate::bits::seeds;
use crate::cpu::{SimdLevel, prefetch};
use crate::error::Result;
use crate::index::TokenIndex;
use crate::keys::{Places, TokenKey};
use crate::pages::Pages;
use crate::vocabulary::TokenId;
use arena::Arena;
use entry::{Entry, FAR, FEW, Line};
pub(super) use groups::GroupQuery;
pub(in crate::encode) use groups::Keys;
use growth::FEW_LINES;
pub(super) use key::Owner;
use key::{Seeds, is_hash};
use seen::Seen;
pub(super) use seen::Sight;

/// The number of pretokens that are looked up together: enough that memory is prefetched long before it is
/// read, and few enough that their keys stay in the nearest cache.
pub(super) const AHEAD: usize = 128;

/// Longer pretokens are not stored, in bytes.
pub(super) const LONGEST: usize = 256;

/// The maximum number of lines: 64 MiB, for the 870,000 words of 129 MB of English, code, medicine and many languages.
/// With half of them a later pass over all took twice as long, since the table was cleared in it.
const MAX_LINES: usize = (64 << 20) / size_of::<Line>();

/// The number of ids that may be written beyond the last one.
pub(super) const BEYOND: usize = FEW;

/// The place of an entry.
#[derive(Clone, Copy)]
struct Place {
    line: usize,
    /// Its number in the line.
    slot: usize,
}

/// See the [module](self).
pub(in crate::encode) struct Table {
    lines: Pages<Line>,
    /// Ids that do not fit into entries, and the bytes of long pretokens behind them.
    arena: Arena,
    /// The number of entries.
    count: usize,
    /// Whether it was filled with all tokens.
    has_tokens: bool,
    /// The number of pretokens of the last group that it did not contain.
    new_in_group: usize,
    max_lines: usize,
    seeds: Seeds,
    /// The memory that it takes, and may take.
    share: Share,
    /// The slot of a line whose entry next gives its place to another one.
    swapped_slot: usize,
    simd: SimdLevel,
    /// The words of letters of three bytes.
    seen: Seen,
}

impl Table {
    pub(in crate::encode) fn new() -> Table {
        Table {
            lines: Pages::default(),
            arena: Arena::default(),
            count: 0,
            has_tokens: false,
            new_in_group: 0,
            max_lines: MAX_LINES,
            seeds: Seeds(seeds()),
            share: Share::of(&BUDGET),
            swapped_slot: 0,
            simd: SimdLevel::best(),
            seen: Seen::default(),
        }
    }

    /// Its size in bytes.
    pub(in crate::encode) fn bytes(&self) -> usize {
        self.share.bytes()
    }

    /// Prepares for a call in which `threads` threads use tables.
    #[inline]
    pub(in crate::encode) fn begin(&mut self, threads: usize) {
        self.share.set_threads(threads);
        // There may be memory again.
        self.max_lines = MAX_LINES;
    }

    /// The instructions that its look-ups use.
    pub(super) fn simd(&self) -> SimdLevel {
        self.simd
    }

    /// Whether it has no lines yet.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The number of its lines.
    pub(super) fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// Whether it contains all tokens that are not too long.
    #[inline]
    pub(super) fn has_tokens(&self) -> bool {
        self.has_tokens
    }

    /// Whether it contains all tokens of this many bytes.
    #[inline]
    pub(super) fn has_tokens_of_len(&self, len: usize) -> bool {
        self.has_tokens && len <= TokenKey::MAX
    }

    /// Allocates the lines of a new table. `tokens` are those that it is filled with when it grows.
    #[inline]
    pub(super) fn prepare(&mut self, tokens: Option<&TokenIndex>) -> Result<()> {
        if self.lines.is_empty() { self.allocate(tokens) } else { Ok(()) }
    }

    #[cold]
    fn allocate(&mut self, tokens: Option<&TokenIndex>) -> Result<()> {
        self.lines = Pages::zeroed(FEW_LINES)?;
        self.share.add(size_of_val(&*self.lines));
        self.seed_by(tokens);
        Ok(())
    }

    /// Takes the seeds of tokens, for a table without lines: so the hash of a key is that of the token too, and
    /// tokens come in the order of the lines they belong to.
    pub(super) fn seed_by(&mut self, tokens: Option<&TokenIndex>) {
        if let Some(tokens) = tokens {
            self.seeds = Seeds(tokens.seeds());
        }
    }

    /// How often a word was seen since the table was empty, as far as is known, and its key. If it was seen once, its
    /// line is prefetched, since the word will be stored.
    pub(super) fn see(&mut self, word: TextSlice<'_>) -> (Sight, u128) {
        if let Some(bytes) = self.seen.prepare() {
            self.share.add(bytes);
        }
        let key = self.key(Owner::Pretoken, word);
        let hash = self.seeds.hash(key);
        let sight = self.seen.add(hash);
        if sight == Sight::Second {
            prefetch(&raw const self.lines[self.places().place(hash)]);
        }
        (sight, key)
    }

    /// The ids of an entry that are in the arena, if the entry is that of this pretoken: hashes may be equal.
    #[inline(never)]
    fn far_ids(&self, entry: &Entry, pretoken: &[u8]) -> Option<&[u32]> {
        let (offset, count, len) = entry.place();
        let rest = self.arena.from(offset);
        if is_hash(entry.key) {
            let bytes = &rest[count..][..len.div_ceil(size_of::<u32>())];
            if len != pretoken.len() || !is_stored(bytes, pretoken) {
                return None;
            }
        }
        Some(&rest[..count])
    }

    /// The ids of an entry with the key of this pretoken, if it is the pretoken's: hashes may be equal.
    fn ids_of(&self, entry: &Entry, pretoken: TextSlice<'_>) -> Option<Ids<'_>> {
        match entry.count() {
            FAR => self.far_ids(entry, pretoken.bytes()).map(Ids::Far),
            count => Some(Ids::Few(entry.ids(), count as usize)),
        }
    }

    /// The ids of a pretoken or of a piece.
    pub(super) fn get(&self, owner: Owner, piece: TextSlice<'_>) -> Option<Ids<'_>> {
        let (place, _) = self.find(self.key(owner, piece), piece)?;
        self.ids_of(&self.lines[place.line].0[place.slot], piece)
    }

    /// The key of a pretoken or of a piece, once the table has lines: those of different ones may be equal if they
    /// are long.
    #[inline]
    pub(super) fn key(&self, owner: Owner, piece: TextSlice<'_>) -> u128 {
        self.seeds.key(owner, piece.text, piece.start, piece.end)
    }

    /// The key of a pretoken or of a piece that will be stored, whose line is prefetched.
    #[inline]
    pub(super) fn key_ahead(&self, owner: Owner, piece: TextSlice<'_>) -> u128 {
        let key = self.key(owner, piece);
        prefetch(&raw const self.lines[self.line(key, 0)]);
        key
    }

    /// The ids of a pretoken with this key that [`Table::get_group`] missed. If its entry is in a line that is
    /// not read there, it changes places with one that is, since it may be more frequent.
    pub(super) fn get_missed(&mut self, key: u128, pretoken: TextSlice<'_>) -> Option<Ids<'_>> {
        let (mut place, steps) = self.find(key, pretoken)?;
        if steps > 1 {
            let key = self.lines[place.line].0[place.slot].key;
            place = self.swap(place, self.line(key, 0));
        }
        self.ids_of(&self.lines[place.line].0[place.slot], pretoken)
    }

    /// The place of the entry of a pretoken or of a piece, and the number of lines that are read before it.
    fn find(&self, key: u128, piece: TextSlice<'_>) -> Option<(Place, usize)> {
        if self.lines.is_empty() || piece.len() > LONGEST || self.is_absent(key, self.line(key, 0)) {
            return None;
        }
        let mut steps = 0;
        loop {
            let line = self.line(key, steps);
            for (slot, entry) in self.lines[line].0.iter().enumerate() {
                if entry.key == key && self.ids_of(entry, piece).is_some() {
                    return Some((Place { line, slot }, steps));
                }
                if entry.key == 0 {
                    return None;
                }
            }
            steps += 1;
        }
    }

    /// Whether the table surely does not contain a key that belongs to line `first`: most new words find a free entry
    /// there. Without branches on what is in the line, and without reading the next one, which was not prefetched.
    #[inline(always)]
    fn is_absent(&self, key: u128, first: usize) -> bool {
        let Line(entries) = &self.lines[first];
        // The second entry is taken last, and a search ends at a free one.
        !(entries[0].has_key(&key) | entries[1].has_key(&key)) & entries[1].has_key(&0)
    }

    /// Lets the entry at a place change places with one of the line that it belongs to, and returns its new
    /// place. The slots take turns, so that an entry that is used as often comes to another slot than this
    /// one, and the rarely used entries of the line leave it.
    ///
    /// The other entry is found at the old place: it is read from the same two lines on, or from earlier
    /// ones, and all lines between are full. Only in the old place's pair of lines the one that the other
    /// entry reads first may have free slots; then nothing is moved.
    fn swap(&mut self, place: Place, first: usize) -> Place {
        self.swapped_slot ^= 1;
        let near = Place { line: first, slot: self.swapped_slot };
        let (entry, other) = (self.lines[place.line].0[place.slot], self.lines[near.line].0[near.slot]);
        let reads_first = place.line ^ (place.line ^ self.line(other.key, 0)) & 1;
        if reads_first != place.line && self.lines[reads_first].0.iter().any(|entry| entry.key == 0) {
            return place;
        }
        self.lines[near.line].0[near.slot] = entry;
        self.lines[place.line].0[place.slot] = other;
        near
    }

    /// Adds a pretoken or a piece by its key with its ids, unless it is too long, the table has its key, or there is no
    /// memory for it. `tokens` are the tokens that a table is filled with when it grows.
    pub(super) fn put(
        &mut self,
        key: u128,
        piece: TextSlice<'_>,
        ids: &[TokenId],
        tokens: Option<&TokenIndex>,
    ) {
        if piece.len() > LONGEST || piece.len() == 0 || !self.has_space(tokens) {
            return;
        }
        if ids.len() <= FEW && !is_hash(key) {
            self.insert(key, |_| Entry::near(key, ids));
            return;
        }
        let bytes = if is_hash(key) { piece.bytes() } else { &[] };
        let more = Arena::space_of(ids, bytes);
        if self.arena.len() + more > arena::LONGEST {
            self.start_anew(tokens);
        }
        if !self.arena.has_space(more) && !self.arena.grow(more, &mut self.share) {
            return;
        }
        self.insert(key, |arena| {
            let entry = Entry::far(key, arena.len(), ids.len(), bytes.len());
            arena.push(ids, bytes);
            entry
        });
    }

    /// Adds an entry, unless the table has its key; `entry` makes it, and may add to the arena.
    #[inline(always)]
    fn insert(&mut self, key: u128, entry: impl FnOnce(&mut Arena) -> Entry) {
        let mut steps = 0;
        loop {
            let line = self.line(key, steps);
            let Line(entries) = &mut self.lines[line];
            if entries[0].has_key(&key) | entries[1].has_key(&key) {
                return;
            }
            // The first one that is free, without a branch on which that is.
            let slot = usize::from(entries[0].key != 0);
            if entries[slot].key == 0 {
                entries[slot] = entry(&mut self.arena);
                self.count += 1;
                return;
            }
            steps += 1;
        }
    }

    /// The lines of hashes.
    #[inline(always)]
    fn places(&self) -> Places {
        Places::of(self.lines.len())
    }

    /// The line that is read for a key after `steps` others.
    #[inline(always)]
    fn line(&self, key: u128, steps: usize) -> usize {
        step(self.places().place(self.seeds.hash(key)), steps) & (self.lines.len() - 1)
    }
}

/// The line that is read after `steps` others for a key that belongs to line `first`: its neighbour, which
/// processors fetch with it, and then the lines behind both.
#[inline(always)]
fn step(first: usize, steps: usize) -> usize {
    (first ^ steps & 1).wrapping_add(steps & !1)
}

/// The ids of an entry.
pub(super) enum Ids<'a> {
    Few([TokenId; FEW], usize),
    Far(&'a [TokenId]),
}

impl Ids<'_> {
    #[inline]
    pub(super) fn as_slice(&self) -> &[TokenId] {
        match self {
            Ids::Few(ids, count) => &ids[..*count],
            Ids::Far(ids) => ids,
        }
    }
}

/// Whether numbers of the arena are these bytes, which have the same length.
#[inline]
fn is_stored(numbers: &[u32], bytes: &[u8]) -> bool {
    // SAFETY: all bytes of a number are initialized.
    let (_, stored, _) = unsafe { numbers.align_to::<u8>() };
    stored[..bytes.len()] == *bytes
}

#[cfg(test)]
mod tests;
