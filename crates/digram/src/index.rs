//! An index from bytes to token ids, with look-ups of many pretokens at once.

use hashbrown::HashMap;

use crate::bits::{seeds, set_bits};
use crate::cpu::{SimdLevel, prefetch};
use crate::vocabulary::{TokenId, Vocabulary};

/// The number of pretokens looked up together; the bits of a word mark the misses.
pub(crate) const AT_ONCE: usize = 64;

/// The start of pretoken `number` of consecutive pretokens that begin at `start`.
#[inline(always)]
pub(crate) fn start_of(number: usize, start: usize, ends: &[usize]) -> usize {
    if number == 0 { start } else { ends[number - 1] }
}

/// An index from bytes to ids, optimized for pretokens.
///
/// Keys of up to 15 bytes are stored in the table itself, three keys with their ids per cache line, so that
/// a look-up waits for one cache line at most. Tokens with low ids, which are the frequent ones, are added
/// first, so in most lines the first key is the one looked for.
///
/// Tried and rejected: a smaller table of the frequent short tokens before this one, which stays in a
/// nearer cache; a fifth of the pretokens needed two look-ups, which cost more. Also a separate table for
/// keys of up to 7 bytes, five per line: selecting without a branch took more instructions than the nearer
/// cache saved.
pub(crate) struct TokenIndex {
    lines: Box<[Line]>,
    long: HashMap<Box<[u8]>, TokenId>,
    seeds: [u64; 2],
    simd: SimdLevel,
}

/// Three keys with their ids, in one cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line {
    keys: [TokenKey; Line::KEYS],
    /// The ids, and last a flag that is set if keys of this line overflowed to the next one.
    ids: [TokenId; Line::KEYS + 1],
}

const _: () = assert!(size_of::<Line>() == 64);

impl Line {
    const KEYS: usize = 3;
    const FREE: Line = Line { keys: [TokenKey::NONE; Line::KEYS], ids: [0; Line::KEYS + 1] };

    fn is_full(&self) -> bool {
        self.ids[Line::KEYS] != 0
    }

    /// The id of a key, and whether it is in this line. Branch-free, because the position of the key is
    /// unpredictable.
    #[inline(always)]
    fn get(&self, key: TokenKey) -> (TokenId, bool) {
        let same = |at: usize| TokenId::from(self.keys[at] == key);
        let (first, second, third) = (same(0), same(1), same(2));
        let id = (first * self.ids[0]) | (second * self.ids[1]) | (third * self.ids[2]);
        (id, first | second | third == 1)
    }

    /// Like `get`, given a mask of the halves of the keys that equal those of the key, the lowest first.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn chosen(&self, same: u32) -> (TokenId, bool) {
        // Every second bit marks an equal key; if there is none, the returned id is meaningless.
        let same = same & same >> 1 & 0b01_0101;
        (self.ids[((same | 0b100_0000).trailing_zeros() / 2) as usize & Line::KEYS], same != 0)
    }
}

/// Buffers of a look-up of many keys: the keys, and their lines.
pub(crate) struct BatchLookup {
    pub(crate) keys: [TokenKey; AT_ONCE],
    lines: [u32; AT_ONCE],
}

impl BatchLookup {
    pub(crate) fn new() -> BatchLookup {
        BatchLookup { keys: [TokenKey::NONE; AT_ONCE], lines: [0; AT_ONCE] }
    }
}

impl TokenIndex {
    /// An index of the given tokens, the most frequent first. Of equal tokens the first one is kept.
    pub(crate) fn new(tokens: &[(TokenId, &[u8])]) -> TokenIndex {
        let mut index = TokenIndex::with_capacity(tokens.len());
        for &(id, bytes) in tokens {
            index.add(bytes, 0, bytes.len(), id);
        }
        index
    }

    /// An index of all tokens of a vocabulary, or the ids of two tokens with the same bytes.
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
        TokenIndex { lines, long: HashMap::new(), seeds: seeds(), simd: SimdLevel::best() }
    }

    /// Adds `text[start..end]`; returns whether it is new.
    fn add(&mut self, text: &[u8], start: usize, end: usize, id: TokenId) -> bool {
        let key = TokenKey::new(text, start, end);
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
            if let Some(free) = line.keys.iter().position(|&key| key == TokenKey::NONE) {
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
        match TokenKey::new(text, start, end) {
            TokenKey::NONE => None,
            key if key.is_long() => self.long.get(&text[start..end]).copied(),
            key => self.find(key, self.place(key)),
        }
    }

    /// Writes the ids of up to [`AT_ONCE`] consecutive pretokens of `text`: the first starts at `start`,
    /// and `ends` are their ends. Returns a mask of the pretokens that are not tokens.
    ///
    /// The cache misses of all look-ups overlap: one by one took twice as long.
    #[inline]
    pub(crate) fn get_many(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        batch: &mut BatchLookup,
        ids: &mut [TokenId; AT_ONCE],
    ) -> u64 {
        match self.simd {
            // SAFETY: the way was chosen because the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.get_many_avx512(text, start, ends, batch, ids) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { self.get_many_avx2(text, start, ends, batch, ids) },
            SimdLevel::Plain => self.get_many_by(text, start, ends, batch, ids, Line::get),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,bmi1,bmi2,lzcnt")]
    fn get_many_avx512(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        batch: &mut BatchLookup,
        ids: &mut [TokenId; AT_ONCE],
    ) -> u64 {
        use std::arch::x86_64::*;
        self.get_many_by(text, start, ends, batch, ids, |line, key| {
            // SAFETY: a line has 64 bytes and is aligned to 64.
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
        batch: &mut BatchLookup,
        ids: &mut [TokenId; AT_ONCE],
    ) -> u64 {
        use std::arch::x86_64::*;
        self.get_many_by(text, start, ends, batch, ids, |line, key| {
            let halves = _mm_set_epi64x((key.0 >> 64) as i64, key.0 as i64);
            let halves = _mm256_broadcastsi128_si256(halves);
            let same = |side: usize| {
                // SAFETY: a line has twice 32 bytes and is aligned to 64.
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
        batch: &mut BatchLookup,
        ids: &mut [TokenId; AT_ONCE],
        get: impl Fn(&Line, TokenKey) -> (TokenId, bool),
    ) -> u64 {
        // This lets the compiler remove the bounds checks.
        let ends = &ends[..ends.len().min(AT_ONCE)];
        let mut from = start;
        for (number, &end) in ends.iter().enumerate() {
            let key = TokenKey::new(text, from, end);
            let line = self.place(key);
            prefetch(&self.lines[line]);
            (batch.keys[number], batch.lines[number]) = (key, line as u32);
            from = end;
        }
        // Branch-free, because hits are unpredictable. Indexed, because zipping the three arrays took two
        // more stores per item.
        let mut missing = 0;
        #[allow(clippy::needless_range_loop)]
        for number in 0..ends.len() {
            let (id, found) = get(&self.lines[batch.lines[number] as usize], batch.keys[number]);
            ids[number] = id;
            missing |= u64::from(!found) << number;
        }
        let mut found = 0;
        for number in set_bits(missing) {
            let (key, line) = (batch.keys[number], batch.lines[number] as usize);
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

    /// Prefetches the line of `text[start..end]`.
    #[inline]
    pub(crate) fn prefetch(&self, text: &[u8], start: usize, end: usize) {
        prefetch(&self.lines[self.place(TokenKey::new(text, start, end))]);
    }

    fn find(&self, key: TokenKey, mut at: usize) -> Option<TokenId> {
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
    fn place(&self, key: TokenKey) -> usize {
        key.hash(self.seeds) as usize & (self.lines.len() - 1)
    }
}

/// Up to 15 bytes and their length as one number. Longer inputs map to keys that no token has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenKey(u128);

impl TokenKey {
    const MAX: usize = 15;

    /// The key of the empty string, which no token has.
    pub(crate) const NONE: TokenKey = TokenKey(0);

    /// For each length, the mask of its bytes within 16 bytes.
    const MASKS: [u128; TokenKey::MAX + 2] = {
        let mut masks = [0; TokenKey::MAX + 2];
        let mut len = 0;
        while len <= TokenKey::MAX {
            masks[len] = (1 << (8 * len)) - 1;
            len += 1;
        }
        masks
    };

    /// The key of `text[start..end]`.
    #[inline(always)]
    pub(crate) fn new(text: &[u8], start: usize, end: usize) -> TokenKey {
        let len = (end - start).min(TokenKey::MAX + 1);
        let bytes = match text.get(start..start + 16) {
            // Reading past the end and masking takes the same few instructions for any length.
            Some(bytes) => bytes.try_into().expect("sixteen bytes"),
            None => near_the_end(text, start),
        };
        TokenKey(u128::from_le_bytes(bytes) & TokenKey::MASKS[len] | (len as u128) << (8 * TokenKey::MAX))
    }

    /// Whether the input was longer than a key holds.
    #[inline]
    pub(crate) fn is_long(self) -> bool {
        self.0 >> (8 * TokenKey::MAX) > TokenKey::MAX as u128
    }

    /// The bytes, padded with zeros, and their length in the last byte; 16 if there are more.
    #[inline(always)]
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// A 64-bit hash. Without the seeds nobody can construct keys that collide.
    #[inline(always)]
    pub(crate) fn hash(self, seeds: [u64; 2]) -> u64 {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        let product = u128::from(low ^ seeds[0]) * u128::from(high ^ seeds[1]);
        (product >> 64) as u64 ^ product as u64
    }
}

/// The bytes of a text from `start` on, padded with zeros after the end of the text.
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
            for simd in SimdLevel::available() {
                index.simd = simd;
                let mut ids = [0; AT_ONCE];
                let missing = index.get_many(&joined, 0, &ends, &mut BatchLookup::new(), &mut ids);
                for (number, text) in many.iter().enumerate() {
                    let found = (missing >> number & 1 == 0).then_some(ids[number]);
                    assert_eq!(found, expected(text), "{text:?} {simd:?}");
                }
            }
        }
    }
}
