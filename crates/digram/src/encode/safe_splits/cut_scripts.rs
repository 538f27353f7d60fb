//! Scripts whose letters are joined by few tokens.
//!
//! A word of such a script is mostly made of tokens of one letter, and is split between nearly all letters. A
//! vocabulary made of English text hardly joins two letters of Hebrew, while one for many languages has thousands of
//! tokens of Hindi. So the tokens are counted. Where even the letters are no tokens, as those of Armenian are not in
//! cl100k, nothing of a word is merged, which takes little time for letters of two bytes.

/// Letters that more pairs of tokens than this join make words that are often tokens, or few tokens.
const MANY_TOKENS: u32 = 128;

/// Letters of two bytes of which fewer are tokens are not split.
const SOME_LETTERS: u32 = 8;

/// The first block of letters of three bytes.
const THREE_BYTES: usize = 0x800 >> 6;

/// The number of blocks of 64 characters in the Basic Multilingual Plane. In UTF-8, the characters of a block differ in
/// the last byte alone.
const BLOCKS: usize = 1 << 10;

/// The first block of Greek; the letters before it are Latin ones.
const FIRST: usize = 0x380 >> 6;

/// Blocks without letters, most of which are punctuation and symbols.
const SYMBOLS: std::ops::Range<usize> = 0x2000 >> 6..0x3000 >> 6;

/// How often tokens join two letters of a script, and how many of its letters are tokens.
#[derive(Default)]
pub(in crate::encode) struct LetterCounts {
    joined: BlockCounts,
    whole: BlockCounts,
}

/// A number for the first block of each script.
struct BlockCounts(Box<[u32; BLOCKS]>);

impl Default for BlockCounts {
    fn default() -> BlockCounts {
        BlockCounts(vec![0; BLOCKS].into_boxed_slice().try_into().expect("it has this length"))
    }
}

impl BlockCounts {
    #[inline]
    fn add(&mut self, script: usize) {
        if let Some(count) = self.0.get_mut(script) {
            *count += 1;
        }
    }
}

impl LetterCounts {
    /// Counts two neighbours in a token.
    #[inline]
    pub(super) fn add_joined(&mut self, left: char, right: char) {
        let script = script_of(block_of(left));
        if script == script_of(block_of(right)) {
            self.joined.add(script);
        }
    }

    /// Counts a token that is one character.
    pub(in crate::encode) fn add_whole(&mut self, c: char) {
        self.whole.add(script_of(block_of(c)));
    }

    pub(in crate::encode) fn cut_scripts(&self) -> CutScripts {
        let mut blocks = [0; BLOCKS / 64];
        for block in (FIRST..BLOCKS).filter(|block| !SYMBOLS.contains(block)) {
            let script = script_of(block);
            let is_cut = self.joined.0[script] < MANY_TOKENS
                && (script >= THREE_BYTES || self.whole.0[script] >= SOME_LETTERS);
            blocks[block / 64] |= u64::from(is_cut) << (block % 64);
        }
        CutScripts { blocks }
    }
}

/// The scripts whose letters are joined by few tokens.
pub(in crate::encode) struct CutScripts {
    /// A bit for each block of 64 characters.
    blocks: [u64; BLOCKS / 64],
}

impl CutScripts {
    /// Whether a word begins with a letter of such a script, perhaps behind a space.
    #[inline]
    pub(in crate::encode) fn has(&self, word: &[u8]) -> bool {
        let (lead, next) = match *word {
            [lead, next, ..] if lead >= 0xc0 => (lead, next),
            [_, lead, next, ..] => (lead, next),
            _ => return false,
        };
        let block = match lead {
            0xc0..=0xdf => usize::from(lead & 0x1f),
            0xe0..=0xef => usize::from(lead & 0xf) << 6 | usize::from(next & 0x3f),
            _ => return false,
        };
        self.blocks[block / 64] >> (block % 64) & 1 == 1
    }
}

fn block_of(c: char) -> usize {
    u32::from(c) as usize >> 6
}

/// The first block of the script that a block belongs to, as far as that matters here: words of a script have letters of
/// several blocks.
fn script_of(block: usize) -> usize {
    match block {
        0x0e..=0x0f => 0x0e,    // Greek
        0x10..=0x13 => 0x10,    // Cyrillic
        0x14..=0x16 => 0x14,    // Armenian
        0x17 => 0x17,           // Hebrew
        0x18..=0x1b => 0x18,    // Arabic
        0x48..=0x4e => 0x48,    // Ethiopic
        0x2b0..=0x35f => 0x2b0, // Korean
        _ => block & !1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_cut_unless_many_tokens_join_their_letters() {
        let mut counts = LetterCounts::default();
        for _ in 0..MANY_TOKENS / 2 {
            counts.add_joined('д', 'ә');
            counts.add_joined('ә', 'д');
            counts.add_joined('한', '국');
            counts.add_joined('국', '한');
            counts.add_joined('ש', 'a');
            counts.add_joined('😀', '😀');
        }
        counts.add_joined('ש', 'ל');
        for letter in ('א'..='ת').chain('а'..='я').chain('α'..='ω') {
            counts.add_whole(letter);
        }
        let scripts = counts.cut_scripts();
        for word in ["שלום", " של", " δέλτα", "हिन्दी", " ქართ", "አማርኛ"]
        {
            assert!(scripts.has(word.as_bytes()), "{word}");
        }
        for word in ["", "a", " a", "é", "ж", " ә", "ելք", "한", " 국", "“", " “", "😀", "  ש"]
        {
            assert!(!scripts.has(word.as_bytes()), "{word}");
        }
    }
}
