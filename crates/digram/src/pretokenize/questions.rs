//! Questions about 64 characters at once.
//!
//! A table of 128 entries is eight shuffles of 16 for a processor that has them: for each value of
//! the upper bits of a character its row is asked with the lower bits, and of the eight answers the
//! right one kept. A table of pairs of kinds is one shuffle by the first that gives a bit for each
//! second. All ways give the same; the tests hold each against the plain one.
//!
//! Characters that are not ASCII are looked up one by one and put in their places among the others.

use super::kinds::{MOST_KINDS, Told};
use crate::memory::Way;

/// How many characters are looked up at once.
pub(super) const BLOCK: usize = 64;

/// The answers to the questions of [`Told`]: a bit for each place of a block, which is the one
/// before its character.
pub(super) type Answers = [u64; Told::QUESTIONS];

/// Places of a block with certain bytes, a bit each.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// Bytes that are not ASCII.
    pub(super) others: u64,
    /// The one byte that was to be marked.
    pub(super) marked: u64,
}

/// What is asked about each ASCII character, and about each pair of neighbours.
pub(super) struct Questions {
    kinds: [u8; 128],
    marked: u8,
    /// `told[before * MOST_KINDS + here]`
    told: [Told; MOST_KINDS * MOST_KINDS],
    /// The same for vectors: for each question and each kind before a bit for each of the lower
    /// eight kinds, then for each of the upper eight.
    #[cfg(target_arch = "x86_64")]
    rows: [[[u8; MOST_KINDS]; 2]; Told::QUESTIONS],
    way: Way,
}

/// For each of the lower eight kinds its bit, then for each of the upper eight.
#[cfg(target_arch = "x86_64")]
const COLUMNS: [[u8; MOST_KINDS]; 2] = {
    let mut columns = [[0; MOST_KINDS]; 2];
    let mut kind = 0;
    while kind < MOST_KINDS {
        columns[kind / 8][kind] = 1 << (kind % 8);
        kind += 1;
    }
    columns
};

impl Questions {
    /// The tables of the kinds of the ASCII characters and of what pairs of them tell; and a byte
    /// to be marked.
    pub(super) fn new(kinds: [u8; 128], told: [Told; MOST_KINDS * MOST_KINDS], marked: u8) -> Questions {
        #[cfg(target_arch = "x86_64")]
        let row = |question: usize, half: usize, before: usize| {
            let holds = |here: &usize| told[before * MOST_KINDS + 8 * half + here].holds(question as u8);
            (0..8).filter(holds).fold(0, |bits, here| bits | 1 << here)
        };
        Questions {
            kinds,
            marked,
            told,
            #[cfg(target_arch = "x86_64")]
            rows: std::array::from_fn(|question| {
                std::array::from_fn(|half| std::array::from_fn(|before| row(question, half, before)))
            }),
            way: Way::best(),
        }
    }

    /// Writes the kind of each ASCII character, and of other bytes anything.
    #[inline]
    pub(super) fn kinds(&self, bytes: &[u8; BLOCK], kinds: &mut [u8; BLOCK]) -> Seen {
        match self.way {
            Way::Plain => self.kinds_plain(bytes, kinds),
            // SAFETY: the way was chosen because the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            Way::Avx2 => unsafe { self.kinds_avx2(bytes, kinds) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Way::Avx512 => unsafe { self.kinds_avx512(bytes, kinds) },
        }
    }

    /// What the places before each of these tell; before the first stands one of the kind `before`.
    #[inline]
    pub(super) fn answers(&self, before: u8, kinds: &[u8; BLOCK]) -> Answers {
        match self.way {
            Way::Plain => self.answers_plain(before, kinds),
            // SAFETY: the way was chosen because the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            Way::Avx2 => unsafe { self.answers_avx2(before, kinds) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Way::Avx512 => unsafe { self.answers_avx512(before, kinds) },
        }
    }

    fn kinds_plain(&self, bytes: &[u8; BLOCK], kinds: &mut [u8; BLOCK]) -> Seen {
        for (offset, &byte) in bytes.iter().enumerate() {
            kinds[offset] = self.kinds[byte as usize & 127];
        }
        Seen { others: word(|offset| bytes[offset] >> 7), marked: equal(bytes, self.marked) }
    }

    fn answers_plain(&self, mut before: u8, kinds: &[u8; BLOCK]) -> Answers {
        let told = kinds.map(|kind| {
            let at = std::mem::replace(&mut before, kind) as usize * MOST_KINDS + kind as usize;
            self.told[at & (MOST_KINDS * MOST_KINDS - 1)].bits()
        });
        std::array::from_fn(|question| word(|offset| told[offset] >> question & 1))
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn kinds_avx2(&self, bytes: &[u8; BLOCK], kinds: &mut [u8; BLOCK]) -> Seen {
        use std::arch::x86_64::*;
        let row = |table: &[u8; 128], row: usize| {
            // SAFETY: 16 bytes from the start of one of the eight rows.
            _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().add(16 * row).cast()) })
        };
        let mut seen = Seen { others: 0, marked: 0 };
        for half in 0..2 {
            // SAFETY: 32 bytes from the start of either half.
            let text = unsafe { _mm256_loadu_si256(bytes.as_ptr().add(32 * half).cast()) };
            let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(text), _mm256_set1_epi8(7));
            let lower = _mm256_and_si256(text, _mm256_set1_epi8(15));
            let mut kind = _mm256_setzero_si256();
            for number in 0..8 {
                let here = _mm256_cmpeq_epi8(upper, _mm256_set1_epi8(number as i8));
                let found = _mm256_shuffle_epi8(row(&self.kinds, number), lower);
                kind = _mm256_or_si256(kind, _mm256_and_si256(here, found));
            }
            // SAFETY: as for the text.
            unsafe { _mm256_storeu_si256(kinds.as_mut_ptr().add(32 * half).cast(), kind) };
            let word = |bytes| u64::from(_mm256_movemask_epi8(bytes) as u32) << (32 * half);
            seen.others |= word(text);
            seen.marked |= word(_mm256_cmpeq_epi8(text, _mm256_set1_epi8(self.marked as i8)));
        }
        seen
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn answers_avx2(&self, before: u8, kinds: &[u8; BLOCK]) -> Answers {
        use std::arch::x86_64::*;
        let table = |table: &[u8; MOST_KINDS]| {
            // SAFETY: the table has 16 bytes.
            _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
        };
        let mut answers = [0; Told::QUESTIONS];
        let mut last = _mm256_set1_epi8(before as i8);
        for half in 0..2 {
            // SAFETY: 32 bytes from the start of either half.
            let here = unsafe { _mm256_loadu_si256(kinds.as_ptr().add(32 * half).cast()) };
            let before = _mm256_alignr_epi8::<15>(here, _mm256_permute2x128_si256::<0x21>(last, here));
            last = here;
            let columns = COLUMNS.each_ref().map(|columns| _mm256_shuffle_epi8(table(columns), here));
            for (answer, rows) in answers.iter_mut().zip(&self.rows) {
                let hit = |half: usize| {
                    _mm256_and_si256(_mm256_shuffle_epi8(table(&rows[half]), before), columns[half])
                };
                let hits = _mm256_or_si256(hit(0), hit(1));
                let misses = _mm256_movemask_epi8(_mm256_cmpeq_epi8(hits, _mm256_setzero_si256()));
                *answer |= u64::from(!misses as u32) << (32 * half);
            }
        }
        answers
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn kinds_avx512(&self, bytes: &[u8; BLOCK], kinds: &mut [u8; BLOCK]) -> Seen {
        use std::arch::x86_64::*;
        let row = |table: &[u8; 128], row: usize| {
            // SAFETY: 16 bytes from the start of one of the eight rows.
            _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(table.as_ptr().add(16 * row).cast()) })
        };
        // SAFETY: the array has 64 bytes.
        let text = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        let upper = _mm512_and_si512(_mm512_srli_epi16::<4>(text), _mm512_set1_epi8(7));
        let lower = _mm512_and_si512(text, _mm512_set1_epi8(15));
        let mut kind = _mm512_setzero_si512();
        for number in 0..8 {
            let here = _mm512_cmpeq_epi8_mask(upper, _mm512_set1_epi8(number as i8));
            kind = _mm512_mask_shuffle_epi8(kind, here, row(&self.kinds, number), lower);
        }
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(kinds.as_mut_ptr().cast(), kind) };
        Seen {
            others: _mm512_movepi8_mask(text),
            marked: _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(self.marked as i8)),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn answers_avx512(&self, before: u8, kinds: &[u8; BLOCK]) -> Answers {
        use std::arch::x86_64::*;
        let table = |table: &[u8; MOST_KINDS]| {
            // SAFETY: the table has 16 bytes.
            _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
        };
        // SAFETY: the array has 64 bytes.
        let here = unsafe { _mm512_loadu_si512(kinds.as_ptr().cast()) };
        let quarters_before = _mm512_alignr_epi32::<12>(here, _mm512_set1_epi8(before as i8));
        let before = _mm512_alignr_epi8::<15>(here, quarters_before);
        let [low, high] = COLUMNS.each_ref().map(|columns| _mm512_shuffle_epi8(table(columns), here));
        self.rows.each_ref().map(|[low_rows, high_rows]| {
            let hits = _mm512_and_si512(_mm512_shuffle_epi8(table(high_rows), before), high);
            // The third table is that of `a & b | c`.
            let hits =
                _mm512_ternarylogic_epi32::<0xea>(_mm512_shuffle_epi8(table(low_rows), before), low, hits);
            _mm512_test_epi8_mask(hits, hits)
        })
    }
}

/// A word with a bit for each of `bytes` that is `byte`.
#[inline]
pub(super) fn equal(bytes: &[u8; BLOCK], byte: u8) -> u64 {
    word(|offset| u8::from(bytes[offset] == byte))
}

/// A word of 64 answers, each of which is 0 or 1.
#[inline(always)]
fn word(answer: impl Fn(usize) -> u8) -> u64 {
    // First a byte each, then eight of them to a byte by one multiplication: both are forms that
    // compilers turn into instructions for vectors, or into few.
    let answers: [u8; BLOCK] = std::array::from_fn(answer);
    let mut word = 0;
    for (number, eight) in answers.chunks_exact(8).enumerate() {
        let eight = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
        word |= (eight.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * number);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_give_the_same() {
        let mut random = 1u64;
        let mut next = move || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize
        };
        for _ in 0..200 {
            let of: [u8; 128] = std::array::from_fn(|_| (next() % MOST_KINDS) as u8);
            let told = std::array::from_fn(|_| Told::from_bits(next() as u8));
            let mut questions = Questions::new(of, told, next() as u8 % 128);
            for _ in 0..50 {
                let span = 1 + next() % 128;
                let other = next() % 3 / 2;
                let bytes: [u8; BLOCK] =
                    std::array::from_fn(|_| ((next() % span) | ((next() & other) << 7)) as u8);
                for way in Way::available() {
                    questions.way = way;
                    let mut kinds = [0; BLOCK];
                    let seen = questions.kinds(&bytes, &mut kinds);
                    assert_eq!(seen.marked, equal(&bytes, questions.marked));
                    assert_eq!(seen.others, !equal(&bytes.map(|byte| byte & 128), 0));
                    let mut before = next() % MOST_KINDS;
                    let answers = questions.answers(before as u8, &kinds);
                    for (offset, &byte) in bytes.iter().enumerate() {
                        let kind = kinds[offset];
                        assert!(byte > 127 || kind == of[byte as usize], "{way:?}");
                        let told = told[before * MOST_KINDS + kind as usize];
                        for (question, answer) in answers.iter().enumerate() {
                            let expected = told.holds(question as u8);
                            assert_eq!(answer >> offset & 1 == 1, expected, "{way:?} {question} {offset}");
                        }
                        before = kind as usize;
                    }
                }
                let byte = bytes[next() % BLOCK];
                for (offset, &other) in bytes.iter().enumerate() {
                    assert_eq!(equal(&bytes, byte) >> offset & 1 == 1, other == byte);
                }
            }
        }
    }
}
