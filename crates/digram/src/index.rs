//! From bytes to the token that has them, for many pretokens at once.

use hashbrown::HashMap;

use crate::bits::bits;
use crate::memory::prefetch;
use crate::vocabulary::{TokenId, Vocabulary};

/// How many pretokens are looked up together: the bits of a word tell which were found.
pub(crate) const AT_ONCE: usize = 64;

/// From bytes to ids, made for pretokens.
///
/// Keys of up to 15 bytes lie in the table itself, three with their ids to a line of memory, so
/// that a look-up waits for one line at most. The frequent ones among the short stand in a second
/// table too, which is small enough to stay near: four of five pretokens are found there.
pub(crate) struct TokenIndex {
    hot: Hot,
    lines: Box<[Line]>,
    long: HashMap<Box<[u8]>, TokenId>,
}

/// Keys of up to seven bytes with their ids, five to a line of memory.
struct Hot {
    lines: Box<[HotLine]>,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct HotLine {
    keys: [u64; HotLine::KEYS],
    ids: [TokenId; HotLine::KEYS],
}

impl HotLine {
    const KEYS: usize = 5;
    const FREE: HotLine = HotLine { keys: [0; HotLine::KEYS], ids: [0; HotLine::KEYS] };

    /// The id of a key, and whether it is here. Without a branch, as below.
    #[inline(always)]
    fn get(&self, key: u64) -> (TokenId, bool) {
        let (mut id, mut found) = (0, false);
        for (other, other_id) in self.keys.iter().zip(self.ids) {
            let same = *other == key;
            id |= other_id & TokenId::from(same).wrapping_neg();
            found |= same;
        }
        (id, found)
    }
}

impl Hot {
    /// Together 256 KiB: what fits beside all else into the second level of most caches.
    const MOST_LINES: usize = 1 << 12;

    /// The most bytes of a key.
    const MOST: usize = 7;

    /// For each length what of eight bytes belongs to a key.
    const MASKS: [u64; Hot::MOST + 2] = {
        let mut masks = [0; Hot::MOST + 2];
        let mut len = 0;
        while len <= Hot::MOST {
            masks[len] = (1 << (8 * len)) - 1;
            len += 1;
        }
        masks
    };

    fn with_capacity(tokens: usize) -> Hot {
        let lines = (tokens / 8).next_power_of_two().min(Hot::MOST_LINES);
        Hot { lines: vec![HotLine::FREE; lines].into() }
    }

    /// Adds a token if it is short and there is room.
    fn add(&mut self, text: &[u8], start: usize, end: usize, id: TokenId) {
        if end - start <= Hot::MOST {
            let key = Hot::key(text, start, end);
            let place = self.place(key);
            let line = &mut self.lines[place];
            if let Some(free) = line.keys.iter().position(|&key| key == 0) {
                (line.keys[free], line.ids[free]) = (key, id);
            }
        }
    }

    /// The key of `text[start..end]`: its bytes and their number. No token has that of a longer one.
    #[inline(always)]
    fn key(text: &[u8], start: usize, end: usize) -> u64 {
        let len = (end - start).min(Hot::MOST + 1);
        let bytes = match text.get(start..start + 8) {
            // Reading past the end of the bytes and masking takes the same few instructions for
            // any length.
            Some(bytes) => u64::from_le_bytes(bytes.try_into().expect("eight bytes")),
            None => u128::from_le_bytes(near_the_end(text, start)) as u64,
        };
        bytes & Hot::MASKS[len] | (len as u64) << (8 * Hot::MOST)
    }

    /// The line of a key.
    #[inline(always)]
    fn place(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (self.lines.len() - 1)
    }
}

/// Three keys with their ids, in one line of memory.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line {
    keys: [Key; Line::KEYS],
    ids: [TokenId; Line::KEYS],
    /// Whether keys that belong here had to go to the next line.
    full: bool,
}

impl Line {
    const KEYS: usize = 3;
    const FREE: Line = Line { keys: [Key::NONE; Line::KEYS], ids: [0; Line::KEYS], full: false };

    /// The id of a key and whether it is here. Without a branch: which of the keys it is cannot be
    /// foretold.
    #[inline]
    fn get(&self, key: Key) -> (TokenId, bool) {
        let same = |at: usize| TokenId::from(self.keys[at] == key);
        let (first, second, third) = (same(0), same(1), same(2));
        let id = (first * self.ids[0]) | (second * self.ids[1]) | (third * self.ids[2]);
        (id, first | second | third == 1)
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
        let hot = Hot::with_capacity(tokens);
        TokenIndex { hot, lines: vec![Line::FREE; lines].into(), long: HashMap::new() }
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
                self.hot.add(text, start, end, id);
                return true;
            }
            line.full = true;
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
    /// `start`, each up to one of `ends`; gives a word with a bit for each that is no token.
    ///
    /// Together, the processor waits for all of them at once: one by one took twice as long.
    #[inline]
    pub(crate) fn get_many(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        ids: &mut [TokenId; AT_ONCE],
    ) -> u64 {
        let mut keys = [0; AT_ONCE];
        let mut from = start;
        for (key, &end) in keys.iter_mut().zip(ends) {
            *key = Hot::key(text, from, end);
            prefetch(&self.hot.lines[self.hot.place(*key)]);
            from = end;
        }
        let mut others = 0;
        for (number, &key) in keys[..ends.len()].iter().enumerate() {
            let (id, found) = self.hot.lines[self.hot.place(key)].get(key);
            ids[number] = id;
            others |= u64::from(!found) << number;
        }
        // The rest in the same way, where it takes longer.
        let from = |number: usize| if number == 0 { start } else { ends[number - 1] };
        for number in bits(others) {
            prefetch(&self.lines[self.place(Key::new(text, from(number), ends[number]))]);
        }
        let mut missing = 0;
        for number in bits(others) {
            match self.get_in(text, from(number), ends[number]) {
                Some(id) => ids[number] = id,
                None => missing |= 1 << number,
            }
        }
        missing
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
                _ if !line.full => return None,
                _ => at = (at + 1) & (self.lines.len() - 1),
            }
        }
    }

    /// The line of a key.
    #[inline]
    fn place(&self, key: Key) -> usize {
        key.hash() & (self.lines.len() - 1)
    }
}

/// Up to 15 bytes and their number as one number; longer ones share a key that no token has.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key(u128);

impl Key {
    const MOST: usize = 15;

    /// The key of no bytes, which no token has.
    const NONE: Key = Key(0);

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
    fn new(text: &[u8], start: usize, end: usize) -> Key {
        let len = (end - start).min(Key::MOST + 1);
        let bytes = match text.get(start..start + 16) {
            // Reading past the end of the bytes and masking takes the same few instructions for
            // any length.
            Some(bytes) => bytes.try_into().expect("sixteen bytes"),
            None => near_the_end(text, start),
        };
        Key(u128::from_le_bytes(bytes) & Key::MASKS[len] | (len as u128) << (8 * Key::MOST))
    }

    #[inline]
    fn is_long(self) -> bool {
        self.0 >> (8 * Key::MOST) > Key::MOST as u128
    }

    /// A number that differs between most keys in all of its lower bits.
    #[inline(always)]
    fn hash(self) -> usize {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        let product = u128::from(low ^ 0x9e37_79b9_7f4a_7c15) * u128::from(high ^ 0xd6e8_feb8_6659_fd93);
        ((product >> 64) as u64 ^ product as u64) as usize
    }
}

#[cold]
fn near_the_end(text: &[u8], start: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    let rest = &text[start..];
    let len = rest.len().min(16);
    bytes[..len].copy_from_slice(&rest[..len]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

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

        for many in texts.chunks(AT_ONCE - 1) {
            let joined = many.concat();
            let ends: Vec<usize> = many
                .iter()
                .scan(0, |end, text| {
                    *end += text.len();
                    Some(*end)
                })
                .collect();
            let mut ids = [0; AT_ONCE];
            let missing = index.get_many(&joined, 0, &ends, &mut ids);
            for (number, text) in many.iter().enumerate() {
                let found = (missing >> number & 1 == 0).then_some(ids[number]);
                assert_eq!(found, expected(text), "{text:?}");
            }
        }
    }
}
