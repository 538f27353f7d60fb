//! From bytes to the token that has them, for many pretokens at once.

use hashbrown::HashMap;

use crate::bits::{bits, seeds};
use crate::memory::{Way, prefetch};
use crate::vocabulary::{TokenId, Vocabulary};

/// How many pretokens are looked up together: the bits of a word tell which were found.
pub(crate) const AT_ONCE: usize = 64;

/// Where the pretoken of that number starts, of those that stand one after the other from `start`.
#[inline(always)]
pub(crate) fn start_of(number: usize, start: usize, ends: &[usize]) -> usize {
    if number == 0 { start } else { ends[number - 1] }
}

/// From bytes to ids, made for pretokens.
///
/// Keys of up to 15 bytes lie in the table itself, three with their ids to a line of memory, so
/// that a look-up waits for one line at most. Tokens of low ids come first, which are the frequent
/// ones, so of most lines the first key is the one asked for.
///
/// Tried and lost: a smaller table before this one, of the frequent short tokens, which stays in
/// nearer memory; a fifth of the pretokens had to be looked up twice, and that took more. And a
/// table of their own for keys of up to 7 bytes, five to a line: to tell them apart without a branch
/// took more instructions than the nearer memory spared.
pub(crate) struct TokenIndex {
    lines: Box<[Line]>,
    long: HashMap<Box<[u8]>, TokenId>,
    seeds: [u64; 2],
    way: Way,
}

/// Three keys with their ids, in one line of memory.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line {
    keys: [Key; Line::KEYS],
    /// The ids, and behind them whether keys that belong here had to go to the next line.
    ids: [TokenId; Line::KEYS + 1],
}

const _: () = assert!(size_of::<Line>() == 64);

impl Line {
    const KEYS: usize = 3;
    const FREE: Line = Line { keys: [Key::NONE; Line::KEYS], ids: [0; Line::KEYS + 1] };

    fn is_full(&self) -> bool {
        self.ids[Line::KEYS] != 0
    }

    /// The id of a key and whether it is here. Without a branch: which of the keys it is cannot be
    /// foretold.
    #[inline(always)]
    fn get(&self, key: Key) -> (TokenId, bool) {
        let same = |at: usize| TokenId::from(self.keys[at] == key);
        let (first, second, third) = (same(0), same(1), same(2));
        let id = (first * self.ids[0]) | (second * self.ids[1]) | (third * self.ids[2]);
        (id, first | second | third == 1)
    }

    /// The same when it is known which halves of the keys are those of the one asked for: a bit
    /// each, the lowest first.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn chosen(&self, same: u32) -> (TokenId, bool) {
        // Every second bit is that of a key; where there is none, what is found is not an id.
        let same = same & same >> 1 & 0b01_0101;
        (self.ids[((same | 0b100_0000).trailing_zeros() / 2) as usize & Line::KEYS], same != 0)
    }
}

/// Memory for a look-up of many: what is asked, and where it would be.
pub(crate) struct Asked {
    pub(crate) keys: [Key; AT_ONCE],
    lines: [u32; AT_ONCE],
}

impl Asked {
    pub(crate) fn new() -> Asked {
        Asked { keys: [Key::NONE; AT_ONCE], lines: [0; AT_ONCE] }
    }
}

impl TokenIndex {
    /// An index of the given tokens, the most frequent first. Among equal bytes the first stands.
    pub(crate) fn new(tokens: &[(TokenId, &[u8])]) -> TokenIndex {
        let mut index = TokenIndex::with_capacity(tokens.len());
        for &(id, bytes) in tokens {
            index.add(bytes, 0, bytes.len(), id);
        }
        index
    }

    /// An index of all tokens of a vocabulary; the ids of two with the same bytes if there are.
    pub(crate) fn of_all(vocabulary: &Vocabulary) -> std::result::Result<TokenIndex, (TokenId, TokenId)> {
        let mut index = TokenIndex::with_capacity(vocabulary.token_count());
        let (text, ends) = vocabulary.ends();
        let mut start = 0;
        for (id, &end) in ends.iter().enumerate() {
            let end = end as usize;
            if start < end && !index.add(text, start, end, id as TokenId) {
                return Err((index.get(&text[start..end]).unwrap_or_default(), id as TokenId));
            }
            start = end;
        }
        Ok(index)
    }

    fn with_capacity(tokens: usize) -> TokenIndex {
        let lines = (tokens / 2).next_power_of_two();
        let lines = vec![Line::FREE; lines].into();
        TokenIndex { lines, long: HashMap::new(), seeds: seeds(), way: Way::best() }
    }

    /// Adds `text[start..end]`, and says whether it was not there yet.
    fn add(&mut self, text: &[u8], start: usize, end: usize, id: TokenId) -> bool {
        let key = Key::new(text, start, end);
        if key.is_long() {
            let long = self.long.len();
            self.long.entry(text[start..end].into()).or_insert(id);
            return self.long.len() > long;
        }
        let mut at = self.place(key);
        loop {
            let line = &mut self.lines[at];
            if line.get(key).1 {
                return false;
            }
            if let Some(free) = line.keys.iter().position(|&key| key == Key::NONE) {
                (line.keys[free], line.ids[free]) = (key, id);
                return true;
            }
            line.ids[Line::KEYS] = 1;
            at = (at + 1) & (self.lines.len() - 1);
        }
    }

    /// The id of the token with these bytes.
    #[inline]
    pub(crate) fn get(&self, bytes: &[u8]) -> Option<TokenId> {
        self.get_in(bytes, 0, bytes.len())
    }

    /// The id of the token that is `text[start..end]`.
    #[inline]
    pub(crate) fn get_in(&self, text: &[u8], start: usize, end: usize) -> Option<TokenId> {
        match Key::new(text, start, end) {
            Key::NONE => None,
            key if key.is_long() => self.long.get(&text[start..end]).copied(),
            key => self.find(key, self.place(key)),
        }
    }

    /// Writes the ids of up to [`AT_ONCE`] pretokens that stand one after the other in `text`, from
    /// `start`, each up to one of `ends`; gives a word with a bit for each that is not a token.
    ///
    /// Together, the processor waits for all of them at once: one by one took twice as long.
    #[inline]
    pub(crate) fn get_many(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        asked: &mut Asked,
        ids: &mut [TokenId; AT_ONCE],
    ) -> u64 {
        match self.way {
            // SAFETY: the way was chosen because the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            Way::Avx512 => unsafe { self.get_many_avx512(text, start, ends, asked, ids) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Way::Avx2 => unsafe { self.get_many_avx2(text, start, ends, asked, ids) },
            Way::Plain => self.get_many_by(text, start, ends, asked, ids, Line::get),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,bmi1,bmi2,lzcnt")]
    fn get_many_avx512(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        asked: &mut Asked,
        ids: &mut [TokenId; AT_ONCE],
    ) -> u64 {
        use std::arch::x86_64::*;
        self.get_many_by(text, start, ends, asked, ids, |line, key| {
            // SAFETY: a line is 64 bytes, aligned to as many.
            let words = unsafe { _mm512_load_si512((&raw const *line).cast()) };
            let halves = _mm_set_epi64x((key.0 >> 64) as i64, key.0 as i64);
            line.chosen(_mm512_cmpeq_epi64_mask(words, _mm512_broadcast_i32x4(halves)).into())
        })
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn get_many_avx2(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        asked: &mut Asked,
        ids: &mut [TokenId; AT_ONCE],
    ) -> u64 {
        use std::arch::x86_64::*;
        self.get_many_by(text, start, ends, asked, ids, |line, key| {
            let halves = _mm_set_epi64x((key.0 >> 64) as i64, key.0 as i64);
            let halves = _mm256_broadcastsi128_si256(halves);
            let same = |side: usize| {
                // SAFETY: a line is twice 32 bytes, aligned to 64.
                let words = unsafe { _mm256_load_si256((&raw const *line).cast::<__m256i>().add(side)) };
                _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(words, halves))) as u32
            };
            line.chosen(same(0) | same(1) << 4)
        })
    }

    #[inline(always)]
    fn get_many_by(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        asked: &mut Asked,
        ids: &mut [TokenId; AT_ONCE],
        get: impl Fn(&Line, Key) -> (TokenId, bool),
    ) -> u64 {
        // The compiler sees from this that all numbers are inside the arrays.
        let ends = &ends[..ends.len().min(AT_ONCE)];
        let mut from = start;
        for (number, &end) in ends.iter().enumerate() {
            let key = Key::new(text, from, end);
            let line = self.place(key);
            prefetch(&self.lines[line]);
            (asked.keys[number], asked.lines[number]) = (key, line as u32);
            from = end;
        }
        // Without a branch: which of them are found cannot be foretold. By number: zipped, the three
        // arrays took two more stores each time.
        let mut missing = 0;
        #[allow(clippy::needless_range_loop)]
        for number in 0..ends.len() {
            let (id, found) = get(&self.lines[asked.lines[number] as usize], asked.keys[number]);
            ids[number] = id;
            missing |= u64::from(!found) << number;
        }
        let mut found = 0;
        for number in bits(missing) {
            let (key, line) = (asked.keys[number], asked.lines[number] as usize);
            let id = match key.is_long() {
                true => self.long.get(&text[start_of(number, start, ends)..ends[number]]).copied(),
                false if self.lines[line].is_full() => self.find(key, line),
                false => None,
            };
            if let Some(id) = id {
                ids[number] = id;
                found |= 1 << number;
            }
        }
        missing & !found
    }

    /// Asks for the memory where the token `text[start..end]` would be, without waiting for it.
    #[inline]
    pub(crate) fn prefetch(&self, text: &[u8], start: usize, end: usize) {
        prefetch(&self.lines[self.place(Key::new(text, start, end))]);
    }

    fn find(&self, key: Key, mut at: usize) -> Option<TokenId> {
        loop {
            let line = &self.lines[at];
            match line.get(key) {
                (id, true) => return Some(id),
                _ if !line.is_full() => return None,
                _ => at = (at + 1) & (self.lines.len() - 1),
            }
        }
    }

    /// The line of a key.
    #[inline]
    fn place(&self, key: Key) -> usize {
        key.hash(self.seeds) as usize & (self.lines.len() - 1)
    }
}

/// Up to 15 bytes and their number as one number; longer ones share a key that no token has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key(u128);

impl Key {
    const MOST: usize = 15;

    /// The key of no bytes, which no token has.
    pub(crate) const NONE: Key = Key(0);

    /// For each length what of 16 bytes belongs to it.
    const MASKS: [u128; Key::MOST + 2] = {
        let mut masks = [0; Key::MOST + 2];
        let mut len = 0;
        while len <= Key::MOST {
            masks[len] = (1 << (8 * len)) - 1;
            len += 1;
        }
        masks
    };

    /// The key of `text[start..end]`.
    #[inline(always)]
    pub(crate) fn new(text: &[u8], start: usize, end: usize) -> Key {
        let len = (end - start).min(Key::MOST + 1);
        let bytes = match text.get(start..start + 16) {
            // Reading past the end of the bytes and masking takes the same few instructions for
            // any length.
            Some(bytes) => bytes.try_into().expect("sixteen bytes"),
            None => near_the_end(text, start),
        };
        Key(u128::from_le_bytes(bytes) & Key::MASKS[len] | (len as u128) << (8 * Key::MOST))
    }

    /// Whether it stands for more bytes than it holds.
    #[inline]
    pub(crate) fn is_long(self) -> bool {
        self.0 >> (8 * Key::MOST) > Key::MOST as u128
    }

    /// Its bytes, zeros behind them, and their number; that number is 16 if there are more.
    #[inline(always)]
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// A number that differs between most keys in all of its bits. Who does not know the seeds cannot
    /// choose keys that share it.
    #[inline(always)]
    pub(crate) fn hash(self, seeds: [u64; 2]) -> u64 {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        let product = u128::from(low ^ seeds[0]) * u128::from(high ^ seeds[1]);
        (product >> 64) as u64 ^ product as u64
    }
}

/// The bytes of a text from `start` on, and zeros where it ends before there are enough of them.
#[cold]
pub(crate) fn near_the_end<const MANY: usize>(text: &[u8], start: usize) -> [u8; MANY] {
    let mut bytes = [0; MANY];
    let rest = &text[start..text.len().min(start + MANY)];
    bytes[..rest.len()].copy_from_slice(rest);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tokens_share_a_place_in_all_indexes() {
        // The first eight bytes are the number that all keys were once mixed with: multiplied with
        // nothing, each went to the same line, and twenty thousand took seconds.
        let texts: Vec<Vec<u8>> = (0..20_000u32)
            .map(|number| [&0x9e37_79b9_7f4a_7c15u64.to_le_bytes()[..], &number.to_le_bytes()].concat())
            .collect();
        let tokens: Vec<(TokenId, &[u8])> =
            texts.iter().enumerate().map(|(id, text)| (id as TokenId, &text[..])).collect();
        let indexes = [TokenIndex::new(&tokens), TokenIndex::new(&tokens)];
        assert_ne!(indexes[0].seeds, indexes[1].seeds);
        for index in indexes {
            let (mut run, mut longest) = (0, 0);
            for line in &index.lines {
                run = if line.is_full() { run + 1 } else { 0 };
                longest = longest.max(run);
            }
            assert!(longest < 1_000, "{longest} full lines in a row");
        }
    }

    #[test]
    fn every_token_is_found_and_nothing_else_in_all_ways() {
        let texts: Vec<Vec<u8>> = (0..40usize)
            .flat_map(|len| {
                (0..60u8).map(move |seed| (0..len).map(|i| (i as u8).wrapping_mul(seed) ^ seed).collect())
            })
            .filter(|text: &Vec<u8>| !text.is_empty())
            .collect();
        let tokens: Vec<(TokenId, &[u8])> =
            texts.iter().enumerate().step_by(2).map(|(id, text)| (id as TokenId, &text[..])).collect();
        let mut index = TokenIndex::new(&tokens);
        let expected = |text: &[u8]| tokens.iter().find(|(_, token)| *token == text).map(|(id, _)| *id);
        for text in &texts {
            assert_eq!(index.get(text), expected(text), "{text:?}");
        }
        assert_eq!(index.get(b""), None);

        for many in texts.chunks(AT_ONCE - 1) {
            let joined = many.concat();
            let ends: Vec<usize> = many
                .iter()
                .scan(0, |end, text| {
                    *end += text.len();
                    Some(*end)
                })
                .collect();
            for way in Way::available() {
                index.way = way;
                let mut ids = [0; AT_ONCE];
                let missing = index.get_many(&joined, 0, &ends, &mut Asked::new(), &mut ids);
                for (number, text) in many.iter().enumerate() {
                    let found = (missing >> number & 1 == 0).then_some(ids[number]);
                    assert_eq!(found, expected(text), "{text:?} {way:?}");
                }
            }
        }
    }
}
