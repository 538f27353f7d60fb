//! Table look-ups for 64 characters at once.
//!
//! A table of 128 entries is eight shuffles of 16 entries: for each value of the upper bits of a character,
//! its row is indexed with the lower bits, and one of the eight results is selected. A table over
//! pairs of kinds is one shuffle by the first kind, which gives one bit per second kind. All SIMD levels
//! give the same results; the tests compare each with the plain one.
//!
//! Characters that are not ASCII are looked up one by one and inserted at their positions.

use super::kinds::{MAX_KINDS, PairFacts};
use crate::cpu::SimdLevel;

/// The number of characters looked up at once.
pub(super) const BLOCK: usize = 64;

/// The facts of [`PairFacts`] as masks, with one bit per character for the position before it.
pub(super) type BoundaryMasks = [u64; PairFacts::COUNT];

/// Masks of the positions of a block with certain bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ByteMasks {
    /// Bytes that are not ASCII.
    pub(super) others: u64,
    /// Bytes equal to the marked byte.
    pub(super) marked: u64,
}

/// The tables of kinds of ASCII characters and of facts about pairs of kinds.
pub(super) struct ClassTables {
    kinds: [u8; 128],
    marked: u8,
    /// `facts[before * MAX_KINDS + kind]`
    facts: [PairFacts; MAX_KINDS * MAX_KINDS],
    /// The same for vectors: for each fact and each first kind, a bit per second kind, for the lower eight
    /// kinds and then for the upper eight.
    #[cfg(target_arch = "x86_64")]
    rows: [[[u8; MAX_KINDS]; 2]; PairFacts::COUNT],
    simd: SimdLevel,
}

/// The bit of each of the lower eight kinds, then of each of the upper eight.
#[cfg(target_arch = "x86_64")]
const COLUMNS: [[u8; MAX_KINDS]; 2] = {
    let mut columns = [[0; MAX_KINDS]; 2];
    let mut kind = 0;
    while kind < MAX_KINDS {
        columns[kind / 8][kind] = 1 << (kind % 8);
        kind += 1;
    }
    columns
};

impl ClassTables {
    /// Builds the tables from the kinds of the ASCII characters, the facts about pairs of kinds, and a byte
    /// to mark.
    pub(super) fn new(
        kinds: [u8; 128],
        facts: [PairFacts; MAX_KINDS * MAX_KINDS],
        marked: u8,
    ) -> ClassTables {
        #[cfg(target_arch = "x86_64")]
        let row = |fact: usize, half: usize, before: usize| {
            let holds = |kind: &usize| facts[before * MAX_KINDS + 8 * half + kind].holds(fact as u8);
            (0..8).filter(holds).fold(0, |bits, kind| bits | 1 << kind)
        };
        ClassTables {
            kinds,
            marked,
            facts,
            #[cfg(target_arch = "x86_64")]
            rows: std::array::from_fn(|fact| {
                std::array::from_fn(|half| std::array::from_fn(|before| row(fact, half, before)))
            }),
            simd: SimdLevel::best(),
        }
    }

    /// Writes the kind of each ASCII character; the kinds of other bytes are meaningless.
    #[inline]
    pub(super) fn kinds(&self, bytes: &[u8; BLOCK], kinds: &mut [u8; BLOCK]) -> ByteMasks {
        match self.simd {
            SimdLevel::Plain => self.kinds_plain(bytes, kinds),
            // SAFETY: the level was chosen because the processor supports it.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { self.kinds_avx2(bytes, kinds) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.kinds_avx512(bytes, kinds) },
        }
    }

    /// The facts about the position before each character; the character before the block has the kind
    /// `before`.
    #[inline]
    pub(super) fn masks(&self, before: u8, kinds: &[u8; BLOCK]) -> BoundaryMasks {
        match self.simd {
            SimdLevel::Plain => self.masks_plain(before, kinds),
            // SAFETY: the level was chosen because the processor supports it.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { self.masks_avx2(before, kinds) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.masks_avx512(before, kinds) },
        }
    }

    fn kinds_plain(&self, bytes: &[u8; BLOCK], kinds: &mut [u8; BLOCK]) -> ByteMasks {
        for (offset, &byte) in bytes.iter().enumerate() {
            kinds[offset] = self.kinds[byte as usize & 127];
        }
        ByteMasks { others: word(|offset| bytes[offset] >> 7), marked: equal(bytes, self.marked) }
    }

    fn masks_plain(&self, mut before: u8, kinds: &[u8; BLOCK]) -> BoundaryMasks {
        let facts = kinds.map(|kind| {
            let index = std::mem::replace(&mut before, kind) as usize * MAX_KINDS + kind as usize;
            self.facts[index & (MAX_KINDS * MAX_KINDS - 1)].bits()
        });
        std::array::from_fn(|fact| word(|offset| facts[offset] >> fact & 1))
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn kinds_avx2(&self, bytes: &[u8; BLOCK], kinds: &mut [u8; BLOCK]) -> ByteMasks {
        use std::arch::x86_64::*;
        let row = |table: &[u8; 128], row: usize| {
            // SAFETY: 16 bytes from the start of one of the eight rows.
            _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().add(16 * row).cast()) })
        };
        let mut masks = ByteMasks { others: 0, marked: 0 };
        for half in 0..2 {
            // SAFETY: 32 bytes from the start of either half.
            let text = unsafe { _mm256_loadu_si256(bytes.as_ptr().add(32 * half).cast()) };
            let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(text), _mm256_set1_epi8(7));
            let lower = _mm256_and_si256(text, _mm256_set1_epi8(15));
            let mut kind = _mm256_setzero_si256();
            for row_index in 0..8 {
                let is_row = _mm256_cmpeq_epi8(upper, _mm256_set1_epi8(row_index as i8));
                let row_kinds = _mm256_shuffle_epi8(row(&self.kinds, row_index), lower);
                kind = _mm256_or_si256(kind, _mm256_and_si256(is_row, row_kinds));
            }
            // SAFETY: as for the text.
            unsafe { _mm256_storeu_si256(kinds.as_mut_ptr().add(32 * half).cast(), kind) };
            let word = |bytes| u64::from(_mm256_movemask_epi8(bytes) as u32) << (32 * half);
            masks.others |= word(text);
            masks.marked |= word(_mm256_cmpeq_epi8(text, _mm256_set1_epi8(self.marked as i8)));
        }
        masks
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn masks_avx2(&self, before: u8, kinds: &[u8; BLOCK]) -> BoundaryMasks {
        use std::arch::x86_64::*;
        let table = |table: &[u8; MAX_KINDS]| {
            // SAFETY: the table has 16 bytes.
            _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
        };
        let mut masks = [0; PairFacts::COUNT];
        let mut previous = _mm256_set1_epi8(before as i8);
        for half in 0..2 {
            // SAFETY: 32 bytes from the start of either half.
            let current = unsafe { _mm256_loadu_si256(kinds.as_ptr().add(32 * half).cast()) };
            let before =
                _mm256_alignr_epi8::<15>(current, _mm256_permute2x128_si256::<0x21>(previous, current));
            previous = current;
            let columns = COLUMNS.each_ref().map(|columns| _mm256_shuffle_epi8(table(columns), current));
            for (mask, rows) in masks.iter_mut().zip(&self.rows) {
                let hit = |half: usize| {
                    _mm256_and_si256(_mm256_shuffle_epi8(table(&rows[half]), before), columns[half])
                };
                let hits = _mm256_or_si256(hit(0), hit(1));
                let misses = _mm256_movemask_epi8(_mm256_cmpeq_epi8(hits, _mm256_setzero_si256()));
                *mask |= u64::from(!misses as u32) << (32 * half);
            }
        }
        masks
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn kinds_avx512(&self, bytes: &[u8; BLOCK], kinds: &mut [u8; BLOCK]) -> ByteMasks {
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
        for row_index in 0..8 {
            let is_row = _mm512_cmpeq_epi8_mask(upper, _mm512_set1_epi8(row_index as i8));
            kind = _mm512_mask_shuffle_epi8(kind, is_row, row(&self.kinds, row_index), lower);
        }
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(kinds.as_mut_ptr().cast(), kind) };
        ByteMasks {
            others: _mm512_movepi8_mask(text),
            marked: _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(self.marked as i8)),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn masks_avx512(&self, before: u8, kinds: &[u8; BLOCK]) -> BoundaryMasks {
        use std::arch::x86_64::*;
        let table = |table: &[u8; MAX_KINDS]| {
            // SAFETY: the table has 16 bytes.
            _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
        };
        // SAFETY: the array has 64 bytes.
        let current = unsafe { _mm512_loadu_si512(kinds.as_ptr().cast()) };
        let quarters_before = _mm512_alignr_epi32::<12>(current, _mm512_set1_epi8(before as i8));
        let before = _mm512_alignr_epi8::<15>(current, quarters_before);
        let [low, high] = COLUMNS.each_ref().map(|columns| _mm512_shuffle_epi8(table(columns), current));
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

/// A word of 64 bits, each given as 0 or 1.
#[inline(always)]
fn word(mask: impl Fn(usize) -> u8) -> u64 {
    // A byte each first, then eight of them packed into a byte by one multiplication: compilers turn both
    // forms into vector instructions, or into few scalar ones.
    let masks: [u8; BLOCK] = std::array::from_fn(mask);
    let mut word = 0;
    for (index, group) in masks.chunks_exact(8).enumerate() {
        let group = u64::from_le_bytes(group.try_into().expect("eight bytes"));
        word |= (group.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * index);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_simd_levels_give_the_same_result() {
        let mut random = 1u64;
        let mut next = move || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize
        };
        for _ in 0..200 {
            let class_kinds: [u8; 128] = std::array::from_fn(|_| (next() % MAX_KINDS) as u8);
            let facts = std::array::from_fn(|_| PairFacts::from_bits(next() as u8));
            let mut tables = ClassTables::new(class_kinds, facts, next() as u8 % 128);
            for _ in 0..50 {
                let span = 1 + next() % 128;
                let other = next() % 3 / 2;
                let bytes: [u8; BLOCK] =
                    std::array::from_fn(|_| ((next() % span) | ((next() & other) << 7)) as u8);
                for simd in SimdLevel::available() {
                    tables.simd = simd;
                    let mut kinds = [0; BLOCK];
                    let byte_masks = tables.kinds(&bytes, &mut kinds);
                    assert_eq!(byte_masks.marked, equal(&bytes, tables.marked));
                    assert_eq!(byte_masks.others, !equal(&bytes.map(|byte| byte & 128), 0));
                    let mut before = next() % MAX_KINDS;
                    let masks = tables.masks(before as u8, &kinds);
                    for (offset, &byte) in bytes.iter().enumerate() {
                        let kind = kinds[offset];
                        assert!(byte > 127 || kind == class_kinds[byte as usize], "{simd:?}");
                        let facts = facts[before * MAX_KINDS + kind as usize];
                        for (fact, mask) in masks.iter().enumerate() {
                            let expected = facts.holds(fact as u8);
                            assert_eq!(mask >> offset & 1 == 1, expected, "{simd:?} {fact} {offset}");
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
