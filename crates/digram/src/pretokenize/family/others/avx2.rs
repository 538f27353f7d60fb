//! Characters that are not ASCII by AVX2.

use std::arch::x86_64::*;

use super::super::super::kinds::KindsOfOthers;
use super::super::classes::{BLOCK, CASELESS_BIT, HARD, MARK, UPPER_BIT};
use super::{MORE, Others, Row, attached, bit, common_bits, row_of, spaces_of};
use crate::masks::highest_bits;

/// The rows of all characters of two and three bytes. Most texts use few of them in a block, so that many characters
/// are looked up together.
pub(in crate::pretokenize::family) struct Rows {
    /// By the first byte of two.
    two: [Row; 32],
    /// By the first two bytes of three: the index of their row.
    three: Box<[u16; 1 << 10]>,
    /// Equal ones are stored once.
    rows: Vec<Row>,
    /// By the first byte of three: the bits that all characters with that byte have, or [`bit::MIXED`].
    uniform: [u8; 16],
}

impl Rows {
    pub(in crate::pretokenize::family) fn new(kinds: &KindsOfOthers) -> Box<Rows> {
        let (blocks, numbers) = kinds.of_three();
        let rows: Vec<Row> = blocks.iter().map(row_of).collect();
        let uniform = std::array::from_fn(|first| {
            common_bits(numbers[first * 64..][..64].iter().map(|&number| &rows[usize::from(number)]))
        });
        let two = std::array::from_fn(|first| row_of(&kinds.of_two()[first]));
        Box::new(Rows { two, three: Box::new(*numbers), rows, uniform })
    }

    /// As [`Others::read`]; `None` if there are bytes that do not have the form of UTF-8, or if the text ends within
    /// two bytes after the block. Overlong forms and surrogates are hard.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    pub(in crate::pretokenize::family) fn read<const CASED: bool>(
        &self,
        high: u64,
        after_letters: u64,
        kinds: &KindsOfOthers,
        text: &[u8],
        start: usize,
    ) -> Option<Others> {
        let bytes: &[u8; BLOCK + MORE] = text.get(start..)?.first_chunk()?;
        let first = Halves::of(bytes, 0);
        let leads =
            Leads { two: first.at_least(0xc0), three: first.at_least(0xe0), four: first.at_least(0xf0) };
        if !leads.are_followed(high) {
            return None;
        }
        let incomplete = leads.incomplete();
        let [second, third] = [1, 2].map(|offset| Halves::of(bytes, offset));
        let mut bits = [0u64; bit::COUNT];
        let count = if CASED { bit::COUNT } else { bit::HARD + 1 };
        let mut remaining = leads.two & !leads.four & !incomplete;
        if leads.three != 0 {
            // SAFETY: there are 16 bytes.
            let uniform = unsafe { _mm_loadu_si128(self.uniform.as_ptr().cast()) };
            let uniform = first.look_up_lower(_mm256_broadcastsi128_si256(uniform));
            let known = remaining & leads.three & !uniform.with_bit(bit::MIXED);
            if known != 0 {
                (0..count).for_each(|number| bits[number] = uniform.with_bit(number) & known);
                remaining &= !known;
            }
        }
        while remaining != 0 {
            let offset = remaining.trailing_zeros() as usize;
            let byte = |more: usize| bytes[offset + more];
            let (row, same, last) = if leads.three >> offset & 1 == 0 {
                (&self.two[usize::from(byte(0) & 0x1f)], first.equal(byte(0)), &second)
            } else {
                let number = usize::from(byte(0) & 0xf) << 6 | usize::from(byte(1) & 0x3f);
                let row = &self.rows[usize::from(self.three[number])];
                (row, first.equal(byte(0)) & second.equal(byte(1)), &third)
            };
            let same = same & remaining;
            for (bits, &set) in bits.iter_mut().zip(row).take(count) {
                *bits |= match set {
                    0 => 0,
                    u64::MAX => same,
                    set => last.in_set(set) & same,
                };
            }
            remaining &= !same;
        }
        let mut fours = leads.four & !incomplete;
        while fours != 0 {
            let offset = fours.trailing_zeros() as usize;
            let (kind, width) = kinds.first(text, start + offset);
            let has = |number: u32| u64::from(kind >> number & 1) << offset;
            let is_mark = u64::from(kind == MARK) << offset;
            bits[bit::LETTER] |= has(0) & !is_mark;
            bits[bit::HARD] |= has(HARD.trailing_zeros()) | u64::from(width != 4) << offset;
            bits[bit::UPPER] |= has(UPPER_BIT);
            bits[bit::CASELESS] |= has(CASELESS_BIT);
            bits[bit::MARK] |= is_mark;
            fours &= fours - 1;
        }
        let (mut letters, mut hard) = (leads.all_bytes(bits[bit::LETTER]), bits[bit::HARD]);
        if CASED {
            let attached = attached(leads.all_bytes(bits[bit::MARK]), letters, after_letters);
            letters |= attached;
            hard |= bits[bit::MARK] & !attached;
        }
        let mut spaces = 0;
        if hard & !incomplete != 0 {
            (spaces, hard) = spaces_of(kinds, text, start, hard & !incomplete);
        }
        Some(Others {
            len: (hard | incomplete).trailing_zeros(),
            firsts: leads.two,
            letters,
            upper: leads.all_bytes(bits[bit::UPPER]),
            caseless: leads.all_bytes(bits[bit::CASELESS]),
            spaces,
        })
    }
}

/// 64 bytes.
struct Halves([__m256i; 2]);

impl Halves {
    /// The bytes from an offset on.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn of(bytes: &[u8; BLOCK + MORE], offset: usize) -> Halves {
        let bytes = &bytes[offset..][..BLOCK];
        // SAFETY: these are two times 32 bytes.
        Halves([0, 32].map(|at| unsafe { _mm256_loadu_si256(bytes.as_ptr().add(at).cast()) }))
    }

    /// The highest bit of each byte of what a function makes of the halves.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn mask(&self, of: impl Fn(__m256i) -> __m256i) -> u64 {
        let [low, high] = self.0.map(|half| highest_bits(of(half)));
        low | high << 32
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn at_least(&self, byte: u8) -> u64 {
        let byte = _mm256_set1_epi8(byte as i8);
        self.mask(|half| _mm256_cmpeq_epi8(_mm256_max_epu8(half, byte), half))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn equal(&self, byte: u8) -> u64 {
        let byte = _mm256_set1_epi8(byte as i8);
        self.mask(|half| _mm256_cmpeq_epi8(half, byte))
    }

    /// The bytes of a table of sixteen that the lower four bits of each byte select.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn look_up_lower(&self, table: __m256i) -> Halves {
        Halves(self.0.map(|half| _mm256_shuffle_epi8(table, _mm256_and_si256(half, _mm256_set1_epi8(0xf)))))
    }

    /// The bytes that have a bit.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn with_bit(&self, number: usize) -> u64 {
        let bit = _mm256_set1_epi8((1u32 << number) as i8);
        self.mask(|half| _mm256_cmpeq_epi8(_mm256_and_si256(half, bit), bit))
    }

    /// The bytes whose lower six bits are in a set.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn in_set(&self, set: u64) -> u64 {
        let set = _mm256_set1_epi64x(set as i64);
        let each_bit = _mm256_set1_epi64x(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
        let seven = _mm256_set1_epi8(7);
        self.mask(|half| {
            let byte = _mm256_shuffle_epi8(set, _mm256_and_si256(_mm256_srli_epi16::<3>(half), seven));
            let bit = _mm256_shuffle_epi8(each_bit, _mm256_and_si256(half, seven));
            _mm256_cmpeq_epi8(_mm256_and_si256(byte, bit), bit)
        })
    }
}

/// The bytes of a block that begin characters of more than one byte: of two or more, of three or more, of four.
#[derive(Clone, Copy)]
struct Leads {
    two: u64,
    three: u64,
    four: u64,
}

impl Leads {
    /// Whether the bytes `high`, all that are not ASCII, are these and the right number of bytes behind each.
    fn are_followed(self, high: u64) -> bool {
        high & !self.two == self.two << 1 | self.three << 2 | self.four << 3
    }

    /// All bytes of the characters that begin at these.
    fn all_bytes(self, firsts: u64) -> u64 {
        firsts | firsts << 1 | (firsts & self.three) << 2 | (firsts & self.four) << 3
    }

    /// The first bytes of characters that the block contains in part.
    fn incomplete(self) -> u64 {
        self.two & 1 << 63 | self.three & 1 << 62 | self.four & 1 << 61
    }
}
