//! What pretokens become: one table for tokens and for words that were merged, one for each thread.
//!
//! An entry is half a line of memory and holds up to 15 bytes with up to four ids, so that what most
//! pretokens become is copied from the one place that is read, whether they are tokens or not: who
//! asks two tables one after the other waits twice, and the processor guesses wrong which has the
//! answer. Entries of more ids, or of longer pretokens, say where in an arena the rest lies.
//!
//! A table never changes a result, since an entry stands for exactly the bytes it was made from. It
//! starts small, so that a short text takes little memory, is filled with all tokens when it has
//! outgrown that, and starts anew with them when it is as large as it may be.
//!
//! Tried and lost: a small table of what is frequent before a large one, in near memory (7 to 9 ns for
//! a pretoken in place of 5.5: each that is not there is a branch guessed wrong). A loop that looks up
//! while it splits, and keys some places ahead in a ring, in place of groups.

use crate::bits::seeds;
use crate::cpu::{SimdLevel, prefetch};
use crate::error::Result;
use crate::index::{TokenIndex, TokenKey, near_the_end};
use crate::pages::{Pages, Zero};
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId};

/// How many pretokens are looked up together: enough that memory is asked for long before it is read,
/// few enough that their keys stay near.
pub(crate) const GROUP: usize = 128;

/// The most bytes of a pretoken that is kept.
pub(super) const LONGEST: usize = 256;

/// The lines of a new table.
const FEW_LINES: usize = 1 << 8;

/// A table of so many lines is filled with all tokens when it has to grow.
const SEEDED_LINES: usize = 1 << 12;

/// The most bytes of all lines, and of the arena.
const MOST_LINES: usize = (32 << 20) / size_of::<Line>();
const MOST_ARENA: usize = (4 << 20) / size_of::<u32>();

/// The most ids in an entry itself.
const FEW: usize = 4;

/// Ids are smaller than this, and above them is a count.
const ID_BITS: u32 = 24;
const ID_MASK: u32 = (1 << ID_BITS) - 1;
const _: () = assert!(MAX_VOCAB_SIZE <= 1 << ID_BITS);

/// So many ids may be written behind the last.
pub(super) const BEYOND: usize = FEW;

/// The count of an entry whose ids lie in the arena.
const FAR: u32 = 0xff;

/// Up to 15 bytes and their number, a hash of more than those, or 0, with what they become.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Entry {
    key: u128,
    /// The ids, zeros behind them, with their count above the last. With a count of [`FAR`]: where in
    /// the arena there are more, how many they are, and, for a hash, the number of its bytes, which
    /// are behind them.
    ids: [u32; FEW],
}

/// A line of memory.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([Entry; 2]);

const _: () = assert!(size_of::<Line>() == 64);

// SAFETY: as it says; without padding, since a line has 64 bytes.
unsafe impl Zero for Line {
    const ZERO: Line = Line([Entry { key: 0, ids: [0; FEW] }; 2]);
}

/// Whose key it is, where different ones share a table: the highest bits of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A pretoken.
    Pretoken,
    /// A piece of one, where these may become something else.
    Piece,
    /// A pretoken of a tokenizer whose kernel looks up words in it on its own.
    Upper,
}

impl Owner {
    #[inline(always)]
    fn bits(self) -> u128 {
        (self as u128) << 126
    }
}

/// The bit of the keys that are hashes of longer pretokens.
const LONG: u128 = 1 << 125;

/// What is known of a group of pretokens that are looked up.
pub(in crate::encode) struct Asked {
    keys: [u128; GROUP],
    places: [u32; GROUP],
    /// How many of them are not in the table.
    missing: usize,
    /// Which these are, and how many ids there are of all before each.
    numbers: [u16; GROUP],
    gaps: [u32; GROUP],
}

impl Asked {
    pub(in crate::encode) fn new() -> Asked {
        Asked { keys: [0; GROUP], places: [0; GROUP], missing: 0, numbers: [0; GROUP], gaps: [0; GROUP] }
    }

    /// The number of the pretoken that is the `at`th that is not in the table.
    pub(super) fn number(&self, at: usize) -> usize {
        usize::from(self.numbers[at])
    }

    /// How many ids of others there are before each that is not in the table.
    pub(in crate::encode) fn gaps(&self) -> &[u32] {
        &self.gaps[..self.missing]
    }

    pub(super) fn has_missing(&self) -> bool {
        self.missing > 0
    }
}

/// See the [module](self).
pub(in crate::encode) struct Table {
    lines: Pages<Line>,
    /// What has no room in an entry: ids, and bytes behind them.
    arena: Vec<u32>,
    /// How many entries there are.
    taken: usize,
    /// Whether it was filled with all tokens.
    has_tokens: bool,
    /// The most lines.
    most: usize,
    seeds: [u64; 2],
    simd: SimdLevel,
}

impl Table {
    pub(in crate::encode) fn new() -> Table {
        Table {
            lines: Pages::default(),
            arena: Vec::new(),
            taken: 0,
            has_tokens: false,
            most: MOST_LINES,
            seeds: seeds(),
            simd: SimdLevel::best(),
        }
    }

    /// How many bytes it takes.
    pub(in crate::encode) fn bytes(&self) -> usize {
        size_of_val(&*self.lines) + self.arena.capacity() * size_of::<u32>()
    }

    /// Whether it contains every token of this many bytes that a pretoken can become.
    #[inline]
    pub(super) fn has_token_keys(&self, len: usize) -> bool {
        self.has_tokens && len <= TokenKey::MAX
    }

    /// Makes a table without lines one with some.
    #[inline]
    pub(super) fn prepare(&mut self) -> Result<()> {
        if self.lines.is_empty() {
            self.lines = Pages::zeroed(FEW_LINES)?;
        }
        Ok(())
    }

    /// Writes the ids of up to [`GROUP`] pretokens, which stand one after the other in `text` from
    /// `start`, each up to one of `ends`, and returns how many ids these are. Those that are not here
    /// are left out, and noted in `asked`.
    ///
    /// # Safety
    ///
    /// There is memory behind `ids` for four more of them than the pretokens have bytes.
    #[inline]
    pub(super) unsafe fn get_many(
        &self,
        owner: Owner,
        text: &[u8],
        start: usize,
        ends: &[usize],
        asked: &mut Asked,
        ids: *mut TokenId,
    ) -> usize {
        // SAFETY: the way was chosen because the processor has these instructions; the rest as above.
        unsafe {
            match self.simd {
                #[cfg(target_arch = "x86_64")]
                SimdLevel::Avx512 => self.get_many_avx512(owner, text, start, ends, asked, ids),
                #[cfg(target_arch = "x86_64")]
                SimdLevel::Avx2 => self.get_many_avx2(owner, text, start, ends, asked, ids),
                SimdLevel::Plain => self.get_many_by(owner, text, start, ends, asked, ids, |line, key| {
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
        text: &[u8],
        start: usize,
        ends: &[usize],
        asked: &mut Asked,
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
        unsafe { self.get_many_by(owner, text, start, ends, asked, ids, same) }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    unsafe fn get_many_avx2(
        &self,
        owner: Owner,
        text: &[u8],
        start: usize,
        ends: &[usize],
        asked: &mut Asked,
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
        unsafe { self.get_many_by(owner, text, start, ends, asked, ids, same) }
    }

    /// `same` tells by a bit each whether the entries of a line have a key.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    unsafe fn get_many_by(
        &self,
        owner: Owner,
        text: &[u8],
        start: usize,
        ends: &[usize],
        asked: &mut Asked,
        ids: *mut TokenId,
        same: impl Fn(&Line, u128) -> u32,
    ) -> usize {
        // The compiler sees from this that all numbers are inside the arrays.
        let ends = &ends[..ends.len().min(GROUP)];
        let mask = self.lines.len() - 1;
        let mut from = start;
        for (number, &end) in ends.iter().enumerate() {
            let key = self.key(owner, text, from, end);
            let place = self.hash(key) as usize & mask;
            prefetch(&self.lines[place]);
            (asked.keys[number], asked.places[number]) = (key, place as u32);
            from = end;
        }
        let (mut count, mut missing) = (0, 0);
        // By number: zipped, the arrays took more stores each time.
        #[allow(clippy::needless_range_loop)]
        for number in 0..ends.len() {
            let (key, place) = (asked.keys[number], asked.places[number] as usize);
            let mut line = &self.lines[place & mask];
            let mut found = same(line, key);
            if found == 0 {
                line = &self.lines[step(place, 1) & mask];
                found = same(line, key);
            }
            // Which of the two it is cannot be foretold, but that it is one of them can.
            let entry = &line.0[(found >> 1) as usize & 1];
            let own = entry.ids[FEW - 1] >> ID_BITS;
            if found != 0 && own <= FEW as u32 {
                let mut few = entry.ids;
                few[FEW - 1] &= ID_MASK;
                // SAFETY: no pretoken before this one became more ids than it has bytes, and there is
                // memory for four more.
                unsafe { ids.add(count).cast::<[u32; FEW]>().write_unaligned(few) };
                count += own as usize;
                continue;
            }
            let far = match found {
                0 => None,
                _ => self.far(entry, text, start, ends, number),
            };
            match far {
                // SAFETY: as above; an entry holds what exactly these bytes become.
                Some(far) => unsafe {
                    std::ptr::copy_nonoverlapping(far.as_ptr(), ids.add(count), far.len());
                    count += far.len();
                },
                None => {
                    (asked.numbers[missing], asked.gaps[missing]) = (number as u16, count as u32);
                    missing += 1;
                }
            }
        }
        asked.missing = missing;
        count
    }

    /// The ids of an entry that are in the arena, if it is that of the pretoken of this number.
    #[inline(never)]
    fn far(&self, entry: &Entry, text: &[u8], start: usize, ends: &[usize], number: usize) -> Option<&[u32]> {
        let from = if number == 0 { start } else { ends[number - 1] };
        self.far_of(entry, &text[from..ends[number]])
    }

    fn far_of(&self, entry: &Entry, pretoken: &[u8]) -> Option<&[u32]> {
        let [at, count, len, _] = entry.ids.map(|number| number as usize);
        let rest = &self.arena[at..];
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
                            if let Some(ids) = self.far_of(entry, &text[start..end]) {
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

    /// Remembers the ids of `text[start..end]`, which is not here, unless there is no room for them.
    /// `tokens` are those that pretokens are looked up in; a larger table is filled with them.
    pub(super) fn put(
        &mut self,
        owner: Owner,
        text: &[u8],
        start: usize,
        end: usize,
        ids: &[TokenId],
        tokens: Option<&TokenIndex>,
    ) {
        if end - start > LONGEST || end == start || !self.has_room(tokens) {
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
            if self.arena.len() + more > MOST_ARENA {
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
                self.taken += 1;
                return;
            }
            steps += 1;
        }
    }

    /// Whether there is room for an entry, for which the table grows or starts anew.
    #[inline]
    fn has_room(&mut self, tokens: Option<&TokenIndex>) -> bool {
        // Of the entries three in five: of the lines that are read in vain then, few have a full one
        // behind them.
        if self.taken * 5 < self.lines.len() * 6 { true } else { self.make_room(tokens) }
    }

    #[cold]
    fn make_room(&mut self, tokens: Option<&TokenIndex>) -> bool {
        let (mut lines, mut seeded) = (self.lines.len().max(FEW_LINES / 4) * 4, None);
        if self.lines.len() >= SEEDED_LINES {
            lines = self.lines.len() * 2;
            // Where all tokens take less than it may be, there is room for as many words again.
            if let (Some(tokens), false) = (tokens, self.has_tokens)
                && tokens.key_count() <= self.most / 2
            {
                lines = lines.max(tokens.key_count().next_power_of_two());
                seeded = Some(tokens);
            }
        }
        let lines = lines.min(self.most);
        if lines > self.lines.len() {
            if let Ok(larger) = Pages::zeroed(lines) {
                self.replace_by(larger, seeded);
                return true;
            }
            // Without the memory for more it stays as large as it is.
            self.most = self.lines.len();
        }
        self.start_anew(tokens);
        self.taken * 5 < self.lines.len() * 6
    }

    /// Takes other memory, with what is known.
    fn replace_by(&mut self, larger: Pages<Line>, tokens: Option<&TokenIndex>) {
        let lines = std::mem::replace(&mut self.lines, larger);
        self.taken = 0;
        if let Some(tokens) = tokens {
            self.fill(tokens);
        }
        for entry in lines.iter().flat_map(|line| line.0).filter(|entry| entry.key != 0) {
            // Hashes were made by other numbers if these are those of the tokens now; ids that are one
            // are those of a token, which is here.
            let is_token = entry.ids[FEW - 1] >> ID_BITS == 1 && entry.key < Owner::Piece.bits();
            if tokens.is_none() || entry.key & LONG == 0 && !is_token {
                self.insert(entry);
            }
        }
    }

    /// Fills the empty table with all tokens that have a key.
    fn fill(&mut self, tokens: &TokenIndex) {
        // By the same numbers, so that what lies together in the index does here.
        self.seeds = tokens.seeds();
        for (key, id) in tokens.keys() {
            self.insert(Entry { key: key.number(), ids: [id, 0, 0, 1 << ID_BITS] });
        }
        self.has_tokens = true;
    }

    /// Forgets all but tokens.
    #[cold]
    fn start_anew(&mut self, tokens: Option<&TokenIndex>) {
        self.lines.fill(Line::ZERO);
        self.arena.clear();
        self.taken = 0;
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

    /// The same of more than 15 bytes.
    #[inline(never)]
    fn long_key(&self, text: &[u8], start: usize, end: usize) -> u128 {
        let mut hash = self.seeds[1] ^ (end - start) as u64;
        // What is too long to be kept is not read whole.
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

/// The line that is read after so many others, for a key whose own is `place`: its neighbour, which
/// processors fetch with it, and then those behind both.
#[inline(always)]
fn step(place: usize, steps: usize) -> usize {
    (place ^ steps & 1).wrapping_add(steps & !1)
}

/// Ids that were found.
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

/// Bytes as the numbers that the arena holds.
fn stored(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks(size_of::<u32>()).map(|chunk| {
        let mut four = [0; size_of::<u32>()];
        four[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(four)
    })
}

/// Whether numbers of the arena are those of these bytes, which are as many.
fn is_stored(numbers: &[u32], bytes: &[u8]) -> bool {
    stored(bytes).eq(numbers.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of words that stand one after the other, some of which are the same, and their ends.
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

    /// What a word becomes: the same each time.
    fn ids_of(word: &[u8]) -> Vec<TokenId> {
        let sum: u32 = word.iter().map(|&byte| u32::from(byte)).sum();
        (0..1 + sum % 11).map(|id| (id * 1_000_003 + sum) % MAX_VOCAB_SIZE as u32).take(word.len()).collect()
    }

    #[test]
    fn what_is_found_is_what_was_put_in_all_ways() {
        let tokens: Vec<Vec<u8>> = (0..7_000u32).map(|id| format!("t{id}").into_bytes()).collect();
        let index: Vec<(TokenId, &[u8])> = (0..).zip(tokens.iter().map(|token| &token[..])).collect();
        let index = TokenIndex::new(&index);
        for simd in SimdLevel::available() {
            let mut table = Table { simd, most: 1 << 14, ..Table::new() };
            table.prepare().unwrap();
            let (mut found, mut anew, mut taken, mut lines) = (0, 0, 0, Vec::new());
            for round in 0..900u32 {
                // Every second round repeats the one before it.
                let (text, ends) = words(round / 2 * 100, GROUP as u32);
                let mut ids: Vec<TokenId> = vec![0; text.len() + BEYOND];
                let mut asked = Asked::new();
                // SAFETY: there is memory for an id for each byte, and some more.
                let count =
                    unsafe { table.get_many(Owner::Pretoken, &text, 0, &ends, &mut asked, ids.as_mut_ptr()) };
                let missing: Vec<usize> = (0..asked.gaps().len()).map(|at| asked.number(at)).collect();
                let mut expected = Vec::new();
                for number in 0..ends.len() {
                    let start = if number == 0 { 0 } else { ends[number - 1] };
                    let word = &text[start..ends[number]];
                    if let Ok(at) = missing.binary_search(&number) {
                        assert_eq!(asked.gaps()[at] as usize, expected.len());
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
                anew += usize::from(table.taken < taken);
                taken = table.taken;
                lines.push(table.lines.len());
            }
            lines.dedup();
            assert!(found > 20_000 && anew > 0, "{found} found, {anew} times anew");
            assert_eq!(lines, [1 << 8, 1 << 10, 1 << 12, 1 << 13, 1 << 14]);
            let token = b"t6999";
            assert_eq!(table.get(Owner::Pretoken, token, 0, token.len()).unwrap().as_slice(), [6_999]);
        }
    }

    #[test]
    fn long_words_that_share_a_key_are_told_apart() {
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
        let mut asked = Asked::new();
        let mut ids = [0; 40];
        // SAFETY: there is memory for as many as bytes, and more.
        let count = unsafe {
            table.get_many(Owner::Pretoken, other, 0, &[other.len()], &mut asked, ids.as_mut_ptr())
        };
        assert_eq!((count, asked.gaps()), (0, &[0][..]));
    }
}
