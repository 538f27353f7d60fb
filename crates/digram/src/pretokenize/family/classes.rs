//! The classes of the bytes of a block, as masks.

use super::others::Others;

/// The size of a block in bytes.
pub(in crate::pretokenize) const BLOCK: usize = 64;

/// A character that the pattern does not distinguish from most ASCII punctuation.
pub(super) const OTHER: u8 = 0;
/// A letter that the pattern does not distinguish from most lower-case ASCII letters.
pub(super) const LETTER: u8 = 1;
/// If the pattern distinguishes case: an upper-case letter, a letter without case, a mark.
pub(super) const UPPER: u8 = LETTER | 1 << UPPER_BIT;
pub(super) const CASELESS: u8 = LETTER | 1 << CASELESS_BIT;
pub(super) const MARK: u8 = CASELESS | 8;
/// Any other character: a digit, a letter that is part of a contraction.
pub(super) const HARD: u8 = 16;
/// White space that the pattern does not distinguish from a tab. It is rare, so it is found among what is hard.
pub(super) const SPACE: u8 = HARD | 32;

pub(super) const UPPER_BIT: u32 = 1;
pub(super) const CASELESS_BIT: u32 = 2;

/// The classes of up to 64 bytes, with a bit for each byte. All bytes of a character have its class.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BlockClasses {
    /// The number of bytes; bits beyond it are 0.
    pub(super) len: u32,
    /// The first bytes of characters.
    pub(super) begins: u64,
    pub(super) letters: u64,
    /// Upper-case letters, and letters without case; if the pattern distinguishes case.
    pub(super) upper: u64,
    pub(super) caseless: u64,
    pub(super) digits: u64,
    /// White space, including newlines.
    pub(super) spaces: u64,
    /// `\r` and `\n`.
    pub(super) newlines: u64,
    /// The space character.
    pub(super) blanks: u64,
    pub(super) apostrophes: u64,
    /// If the pattern distinguishes case.
    pub(super) slashes: u64,
}

impl BlockClasses {
    /// The classes of 64 bytes, from the masks of the ASCII bytes. `after_letter` is 1 if the byte before them is
    /// one of a letter. `others` gives the other characters, from the bytes that are not ASCII and those after
    /// letters that are.
    #[inline(always)]
    pub(super) fn from_masks(
        masks: AsciiMasks,
        after_letter: u64,
        others: impl FnOnce(u64, u64) -> Others,
    ) -> BlockClasses {
        let AsciiMasks { high, letters, upper, digits, controls, newlines, blanks, apostrophes, slashes } =
            masks;
        // Only numbers are passed on: a structure in memory would be written in words and read at once as a
        // vector, for which a processor waits.
        let others = match high {
            0 => Others { len: BLOCK as u32, ..Others::default() },
            _ => others(high, letters << 1 | after_letter),
        };
        let valid = u64::MAX.checked_shr(BLOCK as u32 - others.len).unwrap_or(0);
        BlockClasses {
            len: others.len,
            begins: !high | others.firsts,
            letters: (letters | others.letters) & valid,
            upper: (upper | others.upper) & valid,
            caseless: others.caseless & valid,
            digits: digits & valid,
            spaces: (controls | blanks | others.spaces) & valid,
            newlines: newlines & valid,
            blanks: blanks & valid,
            apostrophes: apostrophes & valid,
            slashes: slashes & valid,
        }
    }
}

impl BlockClasses {
    /// A bit for each byte.
    #[inline(always)]
    pub(super) fn valid(&self) -> u64 {
        u64::MAX.checked_shr(BLOCK as u32 - self.len).unwrap_or(0)
    }

    /// Whether the last byte is one of a letter: 0 or 1.
    #[inline(always)]
    pub(super) fn last_letter(&self) -> u64 {
        self.letters >> (self.len.wrapping_sub(1) % BLOCK as u32) & 1
    }

    /// Whether the last byte is white space within a line: 0 or 1.
    #[inline(always)]
    pub(super) fn last_inner(&self) -> u64 {
        (self.spaces & !self.newlines) >> (self.len.wrapping_sub(1) % BLOCK as u32) & 1
    }

    /// The upper-case letters after letters without case: whether a word begins there depends on the
    /// letters around them.
    #[inline(always)]
    pub(super) fn unclear(&self) -> u64 {
        self.upper & self.begins & self.caseless << 1
    }

    /// A later place from which the rest of a long run is split like the whole run, of which the block is a part: the
    /// start of the last character, if all but the first are letters, and that of the last but one, if they are other
    /// characters. The last of these alone would begin a word, or a contraction, with the letters after it.
    #[inline]
    pub(super) fn last_of_run(&self) -> Option<usize> {
        let valid = self.valid();
        let begins = self.begins & valid;
        let without_first = begins & begins.wrapping_sub(1);
        let rest = u64::MAX.checked_shl(without_first.trailing_zeros()).unwrap_or(0) & valid;
        if self.len as usize <= BLOCK / 2 {
            return None;
        }
        let last: u64 = 1 << begins.ilog2();
        if rest & !self.letters == 0 && self.unclear() == 0 {
            return Some(last.trailing_zeros() as usize);
        }
        let others = valid & !(self.letters | self.digits | self.spaces);
        let are_others = (rest | 1) & !(others | self.blanks & 1) == 0;
        are_others.then(|| (without_first & !last).checked_ilog2()).flatten().map(|place| place as usize)
    }
}

/// The ASCII bytes of each class, and all others.
pub(super) struct AsciiMasks {
    high: u64,
    letters: u64,
    upper: u64,
    digits: u64,
    /// White space but the space character.
    controls: u64,
    newlines: u64,
    blanks: u64,
    apostrophes: u64,
    slashes: u64,
}

impl AsciiMasks {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
    pub(super) fn of_avx512<const CASED: bool>(bytes: &[u8; BLOCK]) -> AsciiMasks {
        use std::arch::x86_64::*;
        // SAFETY: there are 64 bytes.
        let block = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        let splat = |byte: u8| _mm512_set1_epi8(byte as i8);
        let equals = |byte: u8| _mm512_cmpeq_epi8_mask(block, splat(byte));
        let within = |block, first: u8, last: u8| {
            _mm512_cmple_epu8_mask(_mm512_sub_epi8(block, splat(first)), splat(last - first))
        };
        AsciiMasks {
            high: _mm512_movepi8_mask(block),
            letters: within(_mm512_or_si512(block, splat(0x20)), b'a', b'z'),
            upper: if CASED { within(block, b'A', b'Z') } else { 0 },
            digits: within(block, b'0', b'9'),
            controls: within(block, b'\t', b'\r'),
            newlines: equals(b'\n') | equals(b'\r'),
            blanks: equals(b' '),
            apostrophes: equals(b'\''),
            slashes: if CASED { equals(b'/') } else { 0 },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    pub(super) fn of_avx2<const CASED: bool>(bytes: &[u8; BLOCK]) -> AsciiMasks {
        use std::arch::x86_64::*;
        // SAFETY: there are twice 32 bytes.
        let halves = unsafe {
            let halves = bytes.as_ptr().cast::<__m256i>();
            [_mm256_loadu_si256(halves), _mm256_loadu_si256(halves.add(1))]
        };
        let splat = |byte: u8| _mm256_set1_epi8(byte as i8);
        let combine = |mask: &dyn Fn(__m256i) -> __m256i| {
            let [low, high] = halves.map(|half| _mm256_movemask_epi8(mask(half)) as u32);
            u64::from(low) | u64::from(high) << 32
        };
        let within = |block, first: u8, last: u8| {
            let from_first = _mm256_sub_epi8(block, splat(first));
            _mm256_cmpeq_epi8(_mm256_min_epu8(from_first, splat(last - first)), from_first)
        };
        let equals = |block, byte: u8| _mm256_cmpeq_epi8(block, splat(byte));
        AsciiMasks {
            high: combine(&|block| block),
            letters: combine(&|block| within(_mm256_or_si256(block, splat(0x20)), b'a', b'z')),
            upper: if CASED { combine(&|block| within(block, b'A', b'Z')) } else { 0 },
            digits: combine(&|block| within(block, b'0', b'9')),
            controls: combine(&|block| within(block, b'\t', b'\r')),
            newlines: combine(&|block| _mm256_or_si256(equals(block, b'\n'), equals(block, b'\r'))),
            blanks: combine(&|block| equals(block, b' ')),
            apostrophes: combine(&|block| equals(block, b'\'')),
            slashes: if CASED { combine(&|block| equals(block, b'/')) } else { 0 },
        }
    }

    /// Without SIMD instructions, by words of eight bytes.
    pub(super) fn of_words<const CASED: bool>(bytes: &[u8; BLOCK]) -> AsciiMasks {
        const HIGH: u64 = 0x8080_8080_8080_8080;
        let splat = |byte: u8| u64::from(byte) * 0x0101_0101_0101_0101;
        let mut masks = [0; 9];
        for (index, word) in bytes.chunks_exact(8).enumerate() {
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            let high = word & HIGH;
            // Sums of seven bits do not carry into the next byte.
            let low = word & !HIGH;
            let at_least = |word: u64, byte: u8| word + splat(0x80 - byte);
            let within =
                |word: u64, first: u8, last: u8| at_least(word, first) & !at_least(word, last + 1) & !high;
            let equals = |byte: u8| within(low, byte, byte);
            let word_masks = [
                high,
                within(low | splat(0x20), b'a', b'z'),
                if CASED { within(low, b'A', b'Z') } else { 0 },
                within(low, b'0', b'9'),
                within(low, b'\t', b'\r'),
                equals(b'\n') | equals(b'\r'),
                equals(b' '),
                equals(b'\''),
                if CASED { equals(b'/') } else { 0 },
            ];
            for (mask, word_masks) in masks.iter_mut().zip(word_masks) {
                // The multiplication gathers the highest bits of eight bytes in the highest byte.
                let bits = ((word_masks & HIGH) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
                *mask |= bits << (8 * index);
            }
        }
        let [high, letters, upper, digits, controls, newlines, blanks, apostrophes, slashes] = masks;
        AsciiMasks { high, letters, upper, digits, controls, newlines, blanks, apostrophes, slashes }
    }
}
