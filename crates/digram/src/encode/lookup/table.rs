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

use super::group::{Group, Misses};
use crate::bits::seeds;
use crate::cpu::{SimdLevel, prefetch};
use crate::error::Result;
use crate::index::{TokenIndex, TokenKey, near_the_end};
use crate::pages::{Pages, Zero};
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId};

/// The number of pretokens that are looked up together: enough that memory is prefetched long before it is
/// read, and few enough that their keys stay in the nearest cache.
pub(crate) const GROUP: usize = 128;

/// Longer pretokens are not stored, in bytes.
pub(super) const LONGEST: usize = 256;

/// The number of lines of a new table.
const FEW_LINES: usize = 1 << 8;

/// A table of this many lines is filled with all tokens when it has to grow.
const SEEDED_LINES: usize = 1 << 12;

/// The maximum number of lines: 32 MiB.
const MAX_LINES: usize = (32 << 20) / size_of::<Line>();

/// The maximum length of the arena: 4 MiB.
const MAX_ARENA: usize = (4 << 20) / size_of::<u32>();

/// The maximum number of ids in an entry.
const FEW: usize = 4;

/// The bits of an id; the bits above them are a count.
const ID_BITS: u32 = 24;
const ID_MASK: u32 = (1 << ID_BITS) - 1;
const _: () = assert!(MAX_VOCAB_SIZE <= 1 << ID_BITS);

/// The number of ids that may be written beyond the last one.
pub(super) const BEYOND: usize = FEW;

/// The count of an entry whose ids are in the arena.
const FAR: u32 = 0xff;

/// A key (up to 15 bytes and their number, or a hash of more bytes, or 0) and its ids.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Entry {
    key: u128,
    /// The ids, padded with zeros, and their count in the upper bits of the last. With a count of [`FAR`]:
    /// the offset of the ids in the arena, their number, and, if the key is a hash, the number of bytes,
    /// which follow the ids in the arena.
    ids: [u32; FEW],
}

/// A cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([Entry; 2]);

const _: () = assert!(size_of::<Line>() == 64);

// SAFETY: all bytes of it are zeros, and it has no padding, since a line has 64 bytes.
unsafe impl Zero for Line {
    const ZERO: Line = Line([Entry { key: 0, ids: [0; FEW] }; 2]);
}

/// What a key is for, in its highest bits: equal bytes may have different ids.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A pretoken.
    Pretoken,
    /// A piece of a pretoken, if pieces may have other ids than pretokens.
    Piece,
    /// A pretoken, if the kernel looks up the words in it.
    Upper,
}

impl Owner {
    #[inline(always)]
    fn bits(self) -> u128 {
        (self as u128) << 126
    }
}

/// The bit of keys that are hashes.
const LONG: u128 = 1 << 125;

/// The keys of a group, and the lines in which they are looked up.
pub(in crate::encode) struct Keys {
    keys: [u128; GROUP],
    lines: [u32; GROUP],
}

impl Keys {
    pub(in crate::encode) fn new() -> Keys {
        Keys { keys: [0; GROUP], lines: [0; GROUP] }
    }
}

/// See the [module](self).
pub(in crate::encode) struct Table {
    lines: Pages<Line>,
    /// Ids that do not fit into entries, and the bytes of long pretokens behind them.
    arena: Vec<u32>,
    /// The number of entries.
    count: usize,
    /// Whether it was filled with all tokens.
    has_tokens: bool,
    max_lines: usize,
    seeds: [u64; 2],
    simd: SimdLevel,
}

impl Table {
    pub(in crate::encode) fn new() -> Table {
        Table {
            lines: Pages::default(),
            arena: Vec::new(),
            count: 0,
            has_tokens: false,
            max_lines: MAX_LINES,
            seeds: seeds(),
            simd: SimdLevel::best(),
        }
    }

    /// Its size in bytes.
    pub(in crate::encode) fn bytes(&self) -> usize {
        size_of_val(&*self.lines) + self.arena.capacity() * size_of::<u32>()
    }

    /// Whether it contains all tokens of this many bytes.
    #[inline]
    pub(super) fn has_tokens_of_len(&self, len: usize) -> bool {
        self.has_tokens && len <= TokenKey::MAX
    }

    /// Allocates the lines of a new table.
    #[inline]
    pub(super) fn prepare(&mut self) -> Result<()> {
        if self.lines.is_empty() {
            self.lines = Pages::zeroed(FEW_LINES)?;
        }
        Ok(())
    }

    /// Writes the ids of a group to `ids`, in order, and returns their number. Pretokens that it does not
    /// contain are left out and added to `misses`.
    ///
    /// # Safety
    ///
    /// `ids` points to memory for [`BEYOND`] more ids than the group has bytes.
    #[inline]
    pub(super) unsafe fn get_many(
        &self,
        owner: Owner,
        group: Group,
        keys: &mut Keys,
        misses: &mut Misses,
        ids: *mut TokenId,
    ) -> usize {
        // SAFETY: the level was chosen because the processor supports it; the rest as above.
        unsafe {
            match self.simd {
                #[cfg(target_arch = "x86_64")]
                SimdLevel::Avx512 => self.get_many_avx512(owner, group, keys, misses, ids),
                #[cfg(target_arch = "x86_64")]
                SimdLevel::Avx2 => self.get_many_avx2(owner, group, keys, misses, ids),
                SimdLevel::Plain => self.get_many_by(owner, group, keys, misses, ids, |line, key| {
                    let same = |number: usize| u32::from(line.0[number].key == key);
                    same(0) | same(1) << 1
                }),
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vl,avx512bw,bmi1,bmi2,lzcnt")]
    unsafe fn get_many_avx512(
        &self,
        owner: Owner,
        group: Group,
        keys: &mut Keys,
        misses: &mut Misses,
        ids: *mut TokenId,
    ) -> usize {
        use std::arch::x86_64::*;
        let same = |line: &Line, key: u128| {
            // SAFETY: a line is 64 bytes, aligned to as many.
            let words = unsafe { _mm512_load_si512((&raw const *line).cast()) };
            let halves = _mm_set_epi64x((key >> 64) as i64, key as i64);
            let same = u32::from(_mm512_cmpeq_epi64_mask(words, _mm512_broadcast_i32x4(halves)));
            // Both halves of a key, of which the second entry has the fifth and the sixth word.
            let same = same & same >> 1;
            same & 1 | same >> 3 & 2
        };
        // SAFETY: as the caller promises.
        unsafe { self.get_many_by(owner, group, keys, misses, ids, same) }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    unsafe fn get_many_avx2(
        &self,
        owner: Owner,
        group: Group,
        keys: &mut Keys,
        misses: &mut Misses,
        ids: *mut TokenId,
    ) -> usize {
        use std::arch::x86_64::*;
        let same = |line: &Line, key: u128| {
            let key = _mm_set_epi64x((key >> 64) as i64, key as i64);
            let is = |number: usize| {
                // SAFETY: an entry is 32 bytes, aligned to as many, and begins with its key.
                let own = unsafe { _mm_load_si128((&raw const line.0[number]).cast()) };
                let other = _mm_xor_si128(own, key);
                _mm_testz_si128(other, other) as u32
            };
            is(0) | is(1) << 1
        };
        // SAFETY: as the caller promises.
        unsafe { self.get_many_by(owner, group, keys, misses, ids, same) }
    }

    /// `same` returns a bit for each entry of a line: whether it has this key.
    #[inline(always)]
    unsafe fn get_many_by(
        &self,
        owner: Owner,
        group: Group,
        keys: &mut Keys,
        misses: &mut Misses,
        ids: *mut TokenId,
        same: impl Fn(&Line, u128) -> u32,
    ) -> usize {
        // The compiler derives from this that all numbers are inside the arrays.
        let len = group.ends.len().min(GROUP);
        let mask = self.lines.len() - 1;
        let mut start = group.start;
        for (number, &end) in group.ends[..len].iter().enumerate() {
            let key = self.key(owner, group.text, start, end);
            let line = self.hash(key) as usize & mask;
            prefetch(&self.lines[line]);
            (keys.keys[number], keys.lines[number]) = (key, line as u32);
            start = end;
        }
        misses.clear();
        let mut count = 0;
        // With zipped iterators the compiler stores more in each iteration.
        #[allow(clippy::needless_range_loop)]
        for number in 0..len {
            let (key, first) = (keys.keys[number], keys.lines[number] as usize);
            let mut line = &self.lines[first & mask];
            let mut found = same(line, key);
            if found == 0 {
                line = &self.lines[step(first, 1) & mask];
                found = same(line, key);
            }
            // Without a branch on which of the two entries it is, which cannot be predicted.
            let entry = &line.0[(found >> 1) as usize & 1];
            let own = entry.ids[FEW - 1] >> ID_BITS;
            if found != 0 && own <= FEW as u32 {
                let mut few = entry.ids;
                few[FEW - 1] &= ID_MASK;
                // SAFETY: no pretoken has more ids than bytes, and there is memory for four more.
                unsafe { ids.add(count).cast::<[u32; FEW]>().write_unaligned(few) };
                count += own as usize;
                continue;
            }
            let far = if found == 0 { None } else { self.far_ids(entry, group.bytes(number)) };
            match far {
                // SAFETY: as above.
                Some(far) => unsafe {
                    std::ptr::copy_nonoverlapping(far.as_ptr(), ids.add(count), far.len());
                    count += far.len();
                },
                None => misses.push(number, count),
            }
        }
        count
    }

    /// The ids of an entry that are in the arena, if the entry is that of this pretoken: hashes may be equal.
    #[inline(never)]
    fn far_ids(&self, entry: &Entry, pretoken: &[u8]) -> Option<&[u32]> {
        let [offset, count, len, _] = entry.ids.map(|number| number as usize);
        let rest = &self.arena[offset..];
        if entry.key & LONG != 0 {
            let bytes = &rest[count..][..len.div_ceil(size_of::<u32>())];
            if len != pretoken.len() || !is_stored(bytes, pretoken) {
                return None;
            }
        }
        Some(&rest[..count])
    }

    /// The ids of `text[start..end]`.
    pub(super) fn get(&self, owner: Owner, text: &[u8], start: usize, end: usize) -> Option<Ids<'_>> {
        if self.lines.is_empty() || end - start > LONGEST {
            return None;
        }
        let key = self.key(owner, text, start, end);
        let mut steps = 0;
        loop {
            let place = step(self.hash(key) as usize, steps) & (self.lines.len() - 1);
            for entry in &self.lines[place].0 {
                if entry.key == key {
                    match entry.ids[FEW - 1] >> ID_BITS {
                        FAR => {
                            if let Some(ids) = self.far_ids(entry, &text[start..end]) {
                                return Some(Ids::Far(ids));
                            }
                        }
                        count => {
                            let mut ids = entry.ids;
                            ids[FEW - 1] &= ID_MASK;
                            return Some(Ids::Few(ids, count as usize));
                        }
                    }
                }
                if entry.key == 0 {
                    return None;
                }
            }
            steps += 1;
        }
    }

    /// Adds `text[start..end]` with its ids, unless it is too long or there is no memory for it. It must not
    /// be in the table yet. `tokens` are the tokens that a table is filled with when it grows.
    pub(super) fn put(
        &mut self,
        owner: Owner,
        text: &[u8],
        start: usize,
        end: usize,
        ids: &[TokenId],
        tokens: Option<&TokenIndex>,
    ) {
        if end - start > LONGEST || end == start || !self.has_space(tokens) {
            return;
        }
        let key = self.key(owner, text, start, end);
        let mut entry = Entry { key, ids: [0; FEW] };
        if ids.len() <= FEW && key & LONG == 0 {
            entry.ids[..ids.len()].copy_from_slice(ids);
            entry.ids[FEW - 1] |= (ids.len() as u32) << ID_BITS;
        } else {
            let bytes = if key & LONG == 0 { &[][..] } else { &text[start..end] };
            let more = ids.len() + bytes.len().div_ceil(size_of::<u32>());
            if self.arena.len() + more > MAX_ARENA {
                self.start_anew(tokens);
            }
            if self.arena.try_reserve(more).is_err() {
                return;
            }
            entry.ids = [self.arena.len() as u32, ids.len() as u32, bytes.len() as u32, FAR << ID_BITS];
            self.arena.extend_from_slice(ids);
            self.arena.extend(stored(bytes));
        }
        self.insert(entry);
    }

    fn insert(&mut self, entry: Entry) {
        let mut steps = 0;
        loop {
            let place = step(self.hash(entry.key) as usize, steps) & (self.lines.len() - 1);
            if let Some(free) = self.lines[place].0.iter_mut().find(|entry| entry.key == 0) {
                *free = entry;
                self.count += 1;
                return;
            }
            steps += 1;
        }
    }

    /// Whether there is space for another entry; if there is none, the table grows or is cleared.
    #[inline]
    fn has_space(&mut self, tokens: Option<&TokenIndex>) -> bool {
        // Three of five entries are used at most, so that few keys are behind their second line.
        if self.count * 5 < self.lines.len() * 6 { true } else { self.make_space(tokens) }
    }

    #[cold]
    fn make_space(&mut self, tokens: Option<&TokenIndex>) -> bool {
        let (mut lines, mut seeded) = (self.lines.len().max(FEW_LINES / 4) * 4, None);
        if self.lines.len() >= SEEDED_LINES {
            lines = self.lines.len() * 2;
            // With all tokens, at least half of the maximum size is left for words.
            if let (Some(tokens), false) = (tokens, self.has_tokens)
                && tokens.key_count() <= self.max_lines / 2
            {
                lines = lines.max(tokens.key_count().next_power_of_two());
                seeded = Some(tokens);
            }
        }
        let lines = lines.min(self.max_lines);
        if lines > self.lines.len() {
            if let Ok(larger) = Pages::zeroed(lines) {
                self.replace_by(larger, seeded);
                return true;
            }
            // Without memory for more, the table keeps its size.
            self.max_lines = self.lines.len();
        }
        self.start_anew(tokens);
        self.count * 5 < self.lines.len() * 6
    }

    /// Moves all entries to other memory, which is filled with `tokens` first.
    fn replace_by(&mut self, larger: Pages<Line>, tokens: Option<&TokenIndex>) {
        let lines = std::mem::replace(&mut self.lines, larger);
        self.count = 0;
        if let Some(tokens) = tokens {
            self.fill(tokens);
        }
        for entry in lines.iter().flat_map(|line| line.0).filter(|entry| entry.key != 0) {
            // With the seeds of the tokens, hashes are different; and an entry with one id is a token,
            // which has been added.
            let is_token = entry.ids[FEW - 1] >> ID_BITS == 1 && entry.key < Owner::Piece.bits();
            if tokens.is_none() || entry.key & LONG == 0 && !is_token {
                self.insert(entry);
            }
        }
    }

    /// Fills the empty table with all tokens of up to 15 bytes.
    fn fill(&mut self, tokens: &TokenIndex) {
        // With the seeds of the index, the tokens come in the order of the lines they belong to.
        self.seeds = tokens.seeds();
        for (key, id) in tokens.keys() {
            self.insert(Entry { key: key.number(), ids: [id, 0, 0, 1 << ID_BITS] });
        }
        self.has_tokens = true;
    }

    /// Removes all entries but the tokens.
    #[cold]
    fn start_anew(&mut self, tokens: Option<&TokenIndex>) {
        self.lines.fill(Line::ZERO);
        self.arena.clear();
        self.count = 0;
        if let (Some(tokens), true) = (tokens, self.has_tokens) {
            self.fill(tokens);
        }
    }

    /// The key of `text[start..end]`.
    #[inline(always)]
    fn key(&self, owner: Owner, text: &[u8], start: usize, end: usize) -> u128 {
        let key = TokenKey::new(text, start, end);
        let number = if key.is_long() { self.long_key(text, start, end) } else { key.number() };
        number | owner.bits()
    }

    /// The key of more than 15 bytes: a hash and their number.
    #[inline(never)]
    fn long_key(&self, text: &[u8], start: usize, end: usize) -> u128 {
        let mut hash = self.seeds[1] ^ (end - start) as u64;
        // Of a pretoken that is too long to be stored, only the beginning is read.
        let end = end.min(start + LONGEST);
        let mut at = start;
        while at < end {
            let bytes: [u8; 16] = match text.get(at..at + 16) {
                Some(bytes) => bytes.try_into().expect("sixteen bytes"),
                None => near_the_end(text, at),
            };
            let len = (end - at).min(16);
            let part = u128::from_le_bytes(bytes) << (8 * (16 - len)) >> (8 * (16 - len));
            let product = u128::from(part as u64 ^ self.seeds[0] ^ hash.rotate_left(23))
                * u128::from((part >> 64) as u64 ^ hash);
            hash = (product >> 64) as u64 ^ product as u64;
            at += 16;
        }
        LONG | u128::from(hash) << 32 | u128::from((end - start) as u32)
    }

    #[inline(always)]
    fn hash(&self, key: u128) -> u64 {
        TokenKey::of_number(key).hash(self.seeds)
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

/// Bytes as numbers for the arena.
fn stored(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks(size_of::<u32>()).map(|chunk| {
        let mut four = [0; size_of::<u32>()];
        four[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(four)
    })
}

/// Whether numbers of the arena are these bytes, which have the same length.
fn is_stored(numbers: &[u32], bytes: &[u8]) -> bool {
    stored(bytes).eq(numbers.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Consecutive words, some of which are equal, and their ends.
    fn words(from: u32, count: u32) -> (Vec<u8>, Vec<usize>) {
        let (mut text, mut ends) = (Vec::new(), Vec::new());
        for number in from..from + count {
            let number = number.wrapping_mul(2_654_435_761) >> 8;
            let len = 1 + number as usize % 60;
            // Zeros at the end must not make words alike.
            text.extend((0..len).map(|at| if at > 4 { 0 } else { (number >> (at * 5)) as u8 & 0x7f }));
            ends.push(text.len());
        }
        (text, ends)
    }

    /// The ids of a word, which depend on its bytes alone.
    fn ids_of(word: &[u8]) -> Vec<TokenId> {
        let sum: u32 = word.iter().map(|&byte| u32::from(byte)).sum();
        (0..1 + sum % 11).map(|id| (id * 1_000_003 + sum) % MAX_VOCAB_SIZE as u32).take(word.len()).collect()
    }

    #[test]
    fn entries_are_found_at_all_simd_levels() {
        let tokens: Vec<Vec<u8>> = (0..7_000u32).map(|id| format!("t{id}").into_bytes()).collect();
        let index: Vec<(TokenId, &[u8])> = (0..).zip(tokens.iter().map(|token| &token[..])).collect();
        let index = TokenIndex::new(&index);
        for simd in SimdLevel::available() {
            let mut table = Table { simd, max_lines: 1 << 14, ..Table::new() };
            table.prepare().unwrap();
            let (mut found, mut cleared, mut before, mut lines) = (0, 0, 0, Vec::new());
            for round in 0..900u32 {
                // Every second round repeats the one before it.
                let (text, ends) = words(round / 2 * 100, GROUP as u32);
                let mut ids: Vec<TokenId> = vec![0; text.len() + BEYOND];
                let group = Group { text: &text, start: 0, ends: &ends, are_split: false };
                let (mut keys, mut misses) = (Keys::new(), Misses::new());
                // SAFETY: there is memory for an id for each byte, and some more.
                let count = unsafe {
                    table.get_many(Owner::Pretoken, group, &mut keys, &mut misses, ids.as_mut_ptr())
                };
                let missing: Vec<usize> = (0..misses.len()).map(|miss| misses.number(miss)).collect();
                let mut expected = Vec::new();
                for number in 0..ends.len() {
                    let start = if number == 0 { 0 } else { ends[number - 1] };
                    let word = &text[start..ends[number]];
                    if let Ok(at) = missing.binary_search(&number) {
                        assert_eq!(misses.ids_before()[at] as usize, expected.len());
                        if table.get(Owner::Pretoken, &text, start, ends[number]).is_none() {
                            table.put(
                                Owner::Pretoken,
                                &text,
                                start,
                                ends[number],
                                &ids_of(word),
                                Some(&index),
                            );
                        }
                        let ids = table.get(Owner::Pretoken, &text, start, ends[number]).unwrap();
                        assert_eq!(ids.as_slice(), ids_of(word));
                    } else {
                        expected.extend(ids_of(word));
                        found += 1;
                    }
                    assert!(table.get(Owner::Piece, &text, start, ends[number]).is_none());
                }
                assert!(ids[..count] == expected, "{simd:?}");
                cleared += usize::from(table.count < before);
                before = table.count;
                lines.push(table.lines.len());
            }
            lines.dedup();
            assert!(found > 20_000 && cleared > 0, "{found} found, {cleared} times cleared");
            assert_eq!(lines, [1 << 8, 1 << 10, 1 << 12, 1 << 13, 1 << 14]);
            let token = b"t6999";
            assert_eq!(table.get(Owner::Pretoken, token, 0, token.len()).unwrap().as_slice(), [6_999]);
        }
    }

    #[test]
    fn long_words_with_the_same_key_are_distinguished() {
        let mut table = Table::new();
        table.prepare().unwrap();
        let (one, other) = (b"a word of twenty-one.".as_slice(), b"another, which is as.".as_slice());
        table.put(Owner::Pretoken, one, 0, one.len(), &[1, 2], None);
        let key = table.key(Owner::Pretoken, other, 0, other.len());
        let lines = table.lines.iter_mut().flat_map(|line| &mut line.0);
        let entry = lines.into_iter().find(|entry| entry.key != 0).unwrap();
        entry.key = key;
        let entry = *entry;
        table.lines.fill(Line::ZERO);
        table.insert(entry);
        assert!(table.get(Owner::Pretoken, other, 0, other.len()).is_none());
        let group = Group { text: other, start: 0, ends: &[other.len()], are_split: false };
        let (mut keys, mut misses, mut ids) = (Keys::new(), Misses::new(), [0; 40]);
        // SAFETY: there is memory for as many ids as bytes, and more.
        let count =
            unsafe { table.get_many(Owner::Pretoken, group, &mut keys, &mut misses, ids.as_mut_ptr()) };
        assert_eq!((count, misses.ids_before()), (0, &[0][..]));
    }
}
