//! Characters of 16 bits by AVX2.

use std::arch::x86_64::*;
use std::sync::atomic::Ordering;

use super::{AVERAGED, INERT_KINDS, KEPT, PART, ROW, Row, Units, bit};
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::masks::{highest_bits, sixteen};
use crate::normalize::forms::FormTable;

/// The number of characters that are examined at once.
const BLOCK: usize = 32;

/// The characters before a block that are read again with it: the one that its first one stands behind.
const BEFORE: usize = 1;

/// Characters of a text that is too short for a block. Vectors beside them on the stack are in one cache line each.
#[repr(align(64))]
struct Copied([u16; BLOCK]);

/// The check looks up all characters of a block if blocks have four or more bound characters on average.
const MANY: u16 = AVERAGED * 4;

/// Updates the average number of bound characters of a block, times [`AVERAGED`], with the `count` of another block.
#[inline(always)]
fn after_block(bound: u16, count: u32) -> u16 {
    bound - bound / AVERAGED + count as u16
}

impl FormTable {
    /// See [`FormTable::keeps`].
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn keeps_units(&self, units: &[u16], pacer: &mut Pacer<'_>) -> Result<bool> {
        let table = self.units();
        let mut bound = table.bound.load(Ordering::Relaxed);
        for from in (0..units.len()).step_by(PART) {
            let part = &units[..units.len().min(from + PART)];
            let is_kept = match bound {
                MANY.. => self.keeps_by_rows(part, from, &mut bound, pacer)?,
                _ => self.keeps_by_ranges(part, from, &mut bound, pacer)?,
            };
            if !is_kept {
                return Ok(false);
            }
        }
        table.bound.store(bound, Ordering::Relaxed);
        Ok(true)
    }

    /// Whether all characters from an index on stay. Looks up the bound ones, each on its own.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn keeps_by_ranges(
        &self,
        units: &[u16],
        from: usize,
        bound: &mut u16,
        pacer: &mut Pacer<'_>,
    ) -> Result<bool> {
        let (table, mut copy) = (self.units(), Copied([0; BLOCK]));
        let (mut ranges, first) = (table.recent_free(), _mm256_set1_epi16(table.first.cast_signed()));
        let mut end = from;
        while end < units.len() {
            let (block, start) = block_at(units, end, &mut copy);
            let new = u64::MAX << (end - start);
            end = start + BLOCK;
            pacer.after(BLOCK)?;
            let (low, high) = both(block);
            let are_bound = bytes_of(not_in(low, first, &ranges), not_in(high, first, &ranges));
            let mut left = highest_bits(are_bound) & new;
            *bound = after_block(*bound, left.count_ones());
            while left != 0 {
                let index = start + left.trailing_zeros() as usize;
                let needs = table.needs[table.kind(units[index])];
                if needs & table.before(units, index) == 0 && !self.unit_stays(units, index) {
                    return Ok(false);
                }
                if needs & bit::ANY != 0 {
                    table.set_free(units[index], &mut ranges);
                }
                left &= left - 1;
            }
        }
        Ok(true)
    }

    /// Whether all characters from an index on stay. Looks up all of them, row by row.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn keeps_by_rows(
        &self,
        units: &[u16],
        from: usize,
        bound: &mut u16,
        pacer: &mut Pacer<'_>,
    ) -> Result<bool> {
        let (table, mut copy) = (self.units(), Copied([0; BLOCK]));
        let mut recent = table.recent();
        let first = _mm256_set1_epi16(table.first.cast_signed());
        let (mut end, mut before) = (from, _mm256_set1_epi8(table.before(units, from).cast_signed()));
        while end < units.len() {
            let (block, start) = block_at(units, end, &mut copy);
            // Those that were in no block before, and the one before them.
            let new = u64::MAX << (end - start);
            let with_before = u64::MAX << (end - start).saturating_sub(BEFORE);
            end = start + BLOCK;
            pacer.after(BLOCK)?;
            let (low, high) = both(block);
            let [from_low, from_high] = [_mm256_max_epu16(low, first), _mm256_max_epu16(high, first)];
            let may_change = bytes_of(_mm256_cmpeq_epi16(from_low, low), _mm256_cmpeq_epi16(from_high, high));
            let mut left = highest_bits(may_change) & with_before;
            if left == 0 {
                *bound = after_block(*bound, 0);
                before = _mm256_set1_epi8(INERT_KINDS[0].is.cast_signed());
                continue;
            }
            let rows = [_mm256_srli_epi16::<7>(low), _mm256_srli_epi16::<7>(high)];
            let last_bits = _mm256_set1_epi16(ROW as i16 - 1);
            let low_place = _mm256_and_si256(low, last_bits);
            let places = _mm256_packus_epi16(low_place, _mm256_and_si256(high, last_bits));
            let places = _mm256_permute4x64_epi64::<0b11_01_10_00>(places);
            let (mut kinds, first) = of_row(table, recent[0], rows, places, _mm256_setzero_si256());
            left &= !first;
            if left != 0 {
                left &= !in_ranges(low, high, &table.inert);
            }
            let mut number = 1;
            while left != 0 {
                if number == KEPT {
                    number -= 1;
                    table.set_recent(number, units[start + left.trailing_zeros() as usize], &mut recent);
                }
                let found;
                (kinds, found) = of_row(table, recent[number], rows, places, kinds);
                left &= !found;
                number += 1;
            }
            // The row that comes first is one that most blocks have.
            if first == 0 {
                recent.swap(0, number - 1);
            }
            let is = _mm256_shuffle_epi8(sixteen(&table.is), kinds);
            let inert_kinds = _mm256_set1_epi8(INERT_KINDS.len() as i8 - 1);
            let are_bound = highest_bits(_mm256_cmpgt_epi8(kinds, inert_kinds)) & new;
            *bound = after_block(*bound, are_bound.count_ones());
            if are_bound != 0 {
                let between = _mm256_permute2x128_si256::<0x21>(before, is);
                let behind = _mm256_alignr_epi8::<15>(is, between);
                let needs = _mm256_shuffle_epi8(sixteen(&table.needs), kinds);
                let none = _mm256_cmpeq_epi8(_mm256_and_si256(needs, behind), _mm256_setzero_si256());
                let mut uncertain = highest_bits(none) & new;
                while uncertain != 0 {
                    if !self.unit_stays(units, start + uncertain.trailing_zeros() as usize) {
                        return Ok(false);
                    }
                    uncertain &= uncertain - 1;
                }
            }
            before = is;
        }
        Ok(true)
    }
}

/// The block at an index, and its start. The last one of a text begins earlier, if the text is long enough, so that it is
/// whole.
#[inline(always)]
fn block_at(units: &[u16], at: usize, Copied(copy): &mut Copied) -> (*const u16, usize) {
    let rest = &units[at..];
    if rest.len() >= BLOCK {
        return (rest.as_ptr(), at);
    }
    if units.len() >= BLOCK {
        let start = units.len() - BLOCK;
        return (units[start..].as_ptr(), start);
    }
    copy[..rest.len()].copy_from_slice(rest);
    (copy.as_ptr(), at)
}

/// The characters of a block.
#[target_feature(enable = "avx2")]
#[inline]
fn both(block: *const u16) -> (__m256i, __m256i) {
    // SAFETY: a block is as long as two vectors.
    unsafe { (_mm256_loadu_si256(block.cast()), _mm256_loadu_si256(block.add(BLOCK / 2).cast())) }
}

/// The characters that are `first` or greater and lie in none of the ranges.
#[target_feature(enable = "avx2")]
#[inline]
fn not_in(units: __m256i, first: __m256i, [one, two, three]: &[[u16; 2]; KEPT]) -> __m256i {
    let in_one = _mm256_or_si256(in_range(units, one), in_range(units, two));
    let are_in = _mm256_or_si256(in_one, in_range(units, three));
    _mm256_andnot_si256(are_in, _mm256_cmpeq_epi16(_mm256_max_epu16(units, first), units))
}

/// A byte for each of these numbers, which have all bits set or none.
#[target_feature(enable = "avx2")]
#[inline]
fn bytes_of(low: __m256i, high: __m256i) -> __m256i {
    // The quarters of both are mixed.
    _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(low, high))
}

/// The characters in two ranges.
#[target_feature(enable = "avx2")]
#[inline]
fn in_ranges(low: __m256i, high: __m256i, [one, other]: &[[u16; 2]; 2]) -> u64 {
    let low = _mm256_or_si256(in_range(low, one), in_range(low, other));
    let high = _mm256_or_si256(in_range(high, one), in_range(high, other));
    highest_bits(bytes_of(low, high))
}

#[target_feature(enable = "avx2")]
#[inline]
fn in_range(units: __m256i, [first, last]: &[u16; 2]) -> __m256i {
    let distance = _mm256_sub_epi16(units, _mm256_set1_epi16(first.cast_signed()));
    let most = _mm256_set1_epi16((last - first).cast_signed());
    _mm256_cmpeq_epi16(_mm256_min_epu16(distance, most), distance)
}

/// Adds the kinds of the characters of a row, by the rows and the places of all, and tells which these are.
#[target_feature(enable = "avx2")]
#[inline]
fn of_row(
    table: &Units,
    row: u16,
    [low, high]: [__m256i; 2],
    places: __m256i,
    kinds: __m256i,
) -> (__m256i, u64) {
    let number = _mm256_set1_epi16(row.cast_signed());
    let same = bytes_of(_mm256_cmpeq_epi16(low, number), _mm256_cmpeq_epi16(high, number));
    let of_row = &table.rows[usize::from(table.numbers[usize::from(row)])];
    (_mm256_blendv_epi8(kinds, looked_up(of_row, places), same), highest_bits(same))
}

/// The kinds of the characters of a row at these places.
#[target_feature(enable = "avx2")]
#[inline]
fn looked_up(Row(row): &Row, places: __m256i) -> __m256i {
    let ([a, b, c, d, e, f, g, h], _) = row.as_chunks::<16>() else { unreachable!() };
    let lower = _mm256_and_si256(places, _mm256_set1_epi8(0xf));
    // The bit that selects is moved to the highest one of each byte.
    let (first, second) = (_mm256_slli_epi16::<3>(places), _mm256_slli_epi16::<2>(places));
    let low = _mm256_blendv_epi8(selected(a, b, lower, first), selected(c, d, lower, first), second);
    let high = _mm256_blendv_epi8(selected(e, f, lower, first), selected(g, h, lower, first), second);
    _mm256_blendv_epi8(low, high, _mm256_slli_epi16::<1>(places))
}

/// Bytes of one of two tables: of the second one where the highest bit of `by` is set.
#[target_feature(enable = "avx2")]
#[inline]
fn selected(one: &[u8; 16], other: &[u8; 16], places: __m256i, by: __m256i) -> __m256i {
    let one = _mm256_shuffle_epi8(sixteen(one), places);
    _mm256_blendv_epi8(one, _mm256_shuffle_epi8(sixteen(other), places), by)
}
