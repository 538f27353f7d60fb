//! An index from bytes to token ids.

use hashbrown::HashMap;

use crate::bits::seeds;
use crate::cpu::prefetch;
use crate::keys::{Places, TokenKey};
use crate::pages::{Pages, Zero};
use crate::vocabulary::{TokenId, Vocabulary};

/// The number of pretokens looked up together; the bits of a word mark the misses.
pub(crate) const AT_ONCE: usize = 64;

/// While a token is added or looked up, the line of the one that is this many places later is prefetched.
pub(crate) const PREFETCH_DISTANCE: usize = 8;

/// The start of pretoken `index` of consecutive pretokens that begin at `start`.
#[inline(always)]
pub(crate) fn start_of(index: usize, start: usize, ends: &[usize]) -> usize {
    if index == 0 { start } else { ends[index - 1] }
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
    lines: Pages<IndexLine>,
    /// The number of tokens in the lines.
    keys: usize,
    long: HashMap<Box<[u8]>, TokenId>,
    seeds: [u64; 2],
}

/// Three keys with their ids, in one cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct IndexLine {
    keys: [TokenKey; IndexLine::KEYS],
    /// The ids, and last a flag that is set if keys of this line overflowed to the next one.
    ids: [TokenId; IndexLine::KEYS + 1],
}

const _: () = assert!(size_of::<IndexLine>() == 64);

// SAFETY: the keys and ids of `ZERO` are zero.
unsafe impl Zero for IndexLine {
    const ZERO: IndexLine =
        IndexLine { keys: [TokenKey::NONE; IndexLine::KEYS], ids: [0; IndexLine::KEYS + 1] };
}

impl IndexLine {
    const KEYS: usize = 3;

    fn is_full(&self) -> bool {
        self.ids[IndexLine::KEYS] != 0
    }

    /// The id of a key, and whether it is in this line. Branch-free, because the position of the key is
    /// unpredictable.
    #[inline(always)]
    fn get(&self, key: TokenKey) -> (TokenId, bool) {
        let matches = |index: usize| TokenId::from(self.keys[index] == key);
        let (first, second, third) = (matches(0), matches(1), matches(2));
        let id = (first * self.ids[0]) | (second * self.ids[1]) | (third * self.ids[2]);
        (id, first | second | third == 1)
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
            if let Some([from, to]) = ends.get(id + PREFETCH_DISTANCE..id + PREFETCH_DISTANCE + 2) {
                index.prefetch(text, *from as usize, *to as usize);
            }
            let end = end as usize;
            if start < end && !index.add(text, start, end, id as TokenId) {
                return Err((index.get(&text[start..end]).unwrap_or_default(), id as TokenId));
            }
            start = end;
        }
        Ok(index)
    }

    /// The number of tokens of up to 15 bytes.
    pub(crate) fn key_count(&self) -> usize {
        self.keys
    }

    /// The seeds of the hashes of its keys.
    pub(crate) fn seeds(&self) -> [u64; 2] {
        self.seeds
    }

    /// The keys of the tokens of up to 15 bytes with their ids, in the order of their lines.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (TokenKey, TokenId)> + '_ {
        let entries = self.lines.iter().flat_map(|line| line.keys.into_iter().zip(line.ids));
        entries.filter(|(key, _)| *key != TokenKey::NONE)
    }

    fn with_capacity(tokens: usize) -> TokenIndex {
        let lines = (tokens / 2).next_power_of_two();
        let lines = Pages::zeroed_unchecked(lines);
        TokenIndex { lines, keys: 0, long: HashMap::new(), seeds: seeds() }
    }

    /// Adds `text[start..end]`; returns whether it is new.
    fn add(&mut self, text: &[u8], start: usize, end: usize, id: TokenId) -> bool {
        let key = TokenKey::new(text, start, end);
        if key.is_long() {
            let previous_len = self.long.len();
            self.long.entry(text[start..end].into()).or_insert(id);
            return self.long.len() > previous_len;
        }
        let mut line_index = self.line_index(key);
        loop {
            let line = &mut self.lines[line_index];
            if line.get(key).1 {
                return false;
            }
            if let Some(free) = line.keys.iter().position(|&key| key == TokenKey::NONE) {
                (line.keys[free], line.ids[free]) = (key, id);
                self.keys += 1;
                return true;
            }
            line.ids[IndexLine::KEYS] = 1;
            line_index = (line_index + 1) & (self.lines.len() - 1);
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
            key => self.find(key, self.line_index(key)),
        }
    }

    /// The id of the token with a key, which is not that of more bytes.
    #[inline]
    pub(crate) fn of_key(&self, key: TokenKey) -> Option<TokenId> {
        self.find(key, self.line_index(key))
    }

    /// Prefetches the line of the key with a hash.
    #[inline]
    pub(crate) fn prefetch_hash(&self, hash: u32) {
        prefetch(&self.lines[Places::of(self.lines.len()).place(hash)]);
    }

    /// Prefetches the line of `text[start..end]`.
    #[inline]
    pub(crate) fn prefetch(&self, text: &[u8], start: usize, end: usize) {
        prefetch(&self.lines[self.line_index(TokenKey::new(text, start, end))]);
    }

    fn find(&self, key: TokenKey, mut line_index: usize) -> Option<TokenId> {
        loop {
            let line = &self.lines[line_index];
            match line.get(key) {
                (id, true) => return Some(id),
                _ if !line.is_full() => return None,
                _ => line_index = (line_index + 1) & (self.lines.len() - 1),
            }
        }
    }

    /// The line of a key.
    #[inline]
    fn line_index(&self, key: TokenKey) -> usize {
        Places::of(self.lines.len()).place(key.hash(self.seeds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_seeds_spread_colliding_tokens() {
        // The first eight bytes are a constant that an earlier hash combined with each key: the product
        // was 0, all tokens had the same line, and twenty thousand of them took seconds.
        let texts: Vec<Vec<u8>> = (0..20_000u32)
            .map(|number| [&0x9e37_79b9_7f4a_7c15u64.to_le_bytes()[..], &number.to_le_bytes()].concat())
            .collect();
        let tokens: Vec<(TokenId, &[u8])> =
            texts.iter().enumerate().map(|(id, text)| (id as TokenId, &text[..])).collect();
        let indexes = [TokenIndex::new(&tokens), TokenIndex::new(&tokens)];
        assert_ne!(indexes[0].seeds, indexes[1].seeds);
        for index in indexes {
            let (mut run, mut longest) = (0, 0);
            for line in index.lines.iter() {
                run = if line.is_full() { run + 1 } else { 0 };
                longest = longest.max(run);
            }
            assert!(longest < 1_000, "{longest} full lines in a row");
        }
    }

    #[test]
    fn every_token_is_found_and_nothing_else() {
        let texts: Vec<Vec<u8>> = (0..40usize)
            .flat_map(|len| {
                (0..60u8).map(move |seed| (0..len).map(|i| (i as u8).wrapping_mul(seed) ^ seed).collect())
            })
            .filter(|text: &Vec<u8>| !text.is_empty())
            .collect();
        let tokens: Vec<(TokenId, &[u8])> =
            texts.iter().enumerate().step_by(2).map(|(id, text)| (id as TokenId, &text[..])).collect();
        let index = TokenIndex::new(&tokens);
        let expected = |text: &[u8]| tokens.iter().find(|(_, token)| *token == text).map(|(id, _)| *id);
        for text in &texts {
            assert_eq!(index.get(text), expected(text), "{text:?}");
        }
        assert_eq!(index.get(b""), None);
    }
}
