//! Splitting in lanes: several parts of a text at once, one block of each in turn.
//!
//! A block begins at the last start that the block before it gave, so the blocks of one part are a chain of
//! dependent instructions, for which a processor waits most of the time. Blocks of different parts are
//! independent, and are computed meanwhile. The parts begin where every text is split: at a character that is
//! not a letter, directly after a letter.

use std::mem::MaybeUninit;

use super::super::boundary_buffer::STRIDE;
use super::FamilyMember;
use super::classes::{BLOCK, BlockClasses};
use crate::cpu::SimdLevel;
use crate::utf8::is_inside;

/// The number of lanes.
const LANES: usize = 2;

/// The usual length of a lane in bytes.
pub(in crate::pretokenize) const LANE: usize = 2048;

/// A part of a text that is split, and its progress.
struct Lane {
    /// The start of the next block.
    block_start: usize,
    /// The last start.
    start: usize,
    /// The start of the next lane, at which this one ends; of the last lane, the first place at which no further
    /// block is read. 0 if blocks do not decide the text.
    end: usize,
    /// Starts after this place are those of the next lane.
    last_start: usize,
    /// The number of starts.
    count: usize,
}

/// Memory for the starts of all lanes.
#[derive(Default)]
pub(in crate::pretokenize) struct LaneStarts(Vec<MaybeUninit<usize>>);

impl FamilyMember {
    /// Splits some kilobytes of `text` from `start` on, and returns the starts of pretokens after `start`, in
    /// order. Fewer, or none, if a lane comes to text that blocks do not decide, or if the text ends soon.
    #[inline]
    pub(in crate::pretokenize) fn starts_in_lanes<'s>(
        &self,
        text: &[u8],
        start: usize,
        starts: &'s mut LaneStarts,
    ) -> &'s [usize] {
        let length = LANES * self.lane + BLOCK;
        if text.len() - start < length {
            return &[];
        }
        starts.0.resize_with(LANES * room(self.lane), MaybeUninit::uninit);
        let count = match self.has_case() {
            true => self.in_lanes_at::<true>(text, start, &mut starts.0),
            false => self.in_lanes_at::<false>(text, start, &mut starts.0),
        };
        let starts = &raw const starts.0[..count];
        // SAFETY: these have been written.
        unsafe { &*(starts as *const [usize]) }
    }

    fn in_lanes_at<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        starts: &mut [MaybeUninit<usize>],
    ) -> usize {
        match self.simd {
            // SAFETY: the level was chosen because the processor supports it.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.in_lanes_avx512::<CASED>(text, start, starts) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { self.in_lanes_avx2::<CASED>(text, start, starts) },
            SimdLevel::Plain => {
                let classes = |start, block: &[u8; BLOCK]| self.classes_by_words::<CASED>(text, start, block);
                self.in_lanes_by::<CASED>(text, start, starts, classes, write_starts)
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn in_lanes_avx512<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        starts: &mut [MaybeUninit<usize>],
    ) -> usize {
        let classes = |start, block: &[u8; BLOCK]| self.classes_avx512::<CASED>(text, start, block);
        let write_starts =
            |mask, first, starts: &mut [MaybeUninit<usize>]| write_starts_avx512(mask, first, starts);
        self.in_lanes_by::<CASED>(text, start, starts, classes, write_starts)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn in_lanes_avx2<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        starts: &mut [MaybeUninit<usize>],
    ) -> usize {
        let classes = |start, block: &[u8; BLOCK]| self.classes_avx2::<CASED>(text, start, block);
        self.in_lanes_by::<CASED>(text, start, starts, classes, write_starts)
    }

    #[inline(always)]
    fn in_lanes_by<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        starts: &mut [MaybeUninit<usize>],
        classes: impl Fn(usize, &[u8; BLOCK]) -> BlockClasses,
        write_starts: impl Fn(u64, usize, &mut [MaybeUninit<usize>]),
    ) -> usize {
        let room = room(self.lane);
        let mut lanes: [Lane; LANES] = std::array::from_fn(|number| {
            let start = start + number * self.lane;
            Lane { block_start: start, start, end: start + self.lane, last_start: usize::MAX, count: 0 }
        });
        for number in 1..LANES {
            let block_start = lanes[number].start - BLOCK;
            let Some(begin) = certain_start(text, block_start, &classes) else { return 0 };
            (lanes[number].block_start, lanes[number].start) = (begin, begin);
            (lanes[number - 1].end, lanes[number - 1].last_start) = (begin, begin);
        }
        let is_open = |lane: &Lane| lane.block_start < lane.end;
        while lanes.iter().all(is_open) {
            for (lane, starts) in lanes.iter_mut().zip(starts.chunks_exact_mut(room)) {
                self.step_lane::<CASED>(lane, text, starts, &classes, &write_starts);
            }
        }
        let mut count = 0;
        for (number, lane) in lanes.iter_mut().enumerate() {
            while is_open(lane) {
                let starts = &mut starts[number * room..][..room];
                self.step_lane::<CASED>(lane, text, starts, &classes, &write_starts);
            }
            starts.copy_within(number * room..number * room + lane.count, count);
            count += lane.count;
            // A lane that did not come to the next one is the last.
            if lane.start != lane.last_start {
                break;
            }
        }
        count
    }

    /// Splits a block of a lane.
    // Not a closure, which would be compiled without the instructions of its caller.
    #[inline(always)]
    fn step_lane<const CASED: bool>(
        &self,
        lane: &mut Lane,
        text: &[u8],
        starts: &mut [MaybeUninit<usize>],
        classes: &impl Fn(usize, &[u8; BLOCK]) -> BlockClasses,
        write_starts: &impl Fn(u64, usize, &mut [MaybeUninit<usize>]),
    ) {
        let block = text[lane.block_start..].first_chunk().expect("lanes end a block before the text");
        let classes = classes(lane.block_start, block);
        let left = (lane.last_start - lane.block_start).min(BLOCK - 1);
        let (block_starts, _) = self.family.starts::<CASED>(classes, block);
        let block_starts = block_starts & u64::MAX >> (BLOCK - 1 - left);
        if block_starts != 0 {
            write_starts(block_starts, lane.block_start, &mut starts[lane.count..]);
            lane.count += block_starts.count_ones() as usize;
            lane.start = lane.block_start + block_starts.ilog2() as usize;
            lane.block_start = lane.start;
        } else if let Some(last_letter) = classes.last_of_letters() {
            // The rest of a run of letters is split like the whole run.
            lane.block_start += last_letter;
        } else {
            lane.end = 0;
        }
    }
}

/// The first place in a block at which every text with these two neighbours is split.
#[inline(always)]
fn certain_start(
    text: &[u8],
    mut block_start: usize,
    classes: impl Fn(usize, &[u8; BLOCK]) -> BlockClasses,
) -> Option<usize> {
    // Not inside a character.
    block_start += text[block_start..].iter().take(3).take_while(|&&byte| is_inside(byte)).count();
    let starts = classes(block_start, text[block_start..].first_chunk()?).after_letters();
    (starts != 0).then(|| block_start + starts.trailing_zeros() as usize)
}

/// The room for the starts of a lane: one for each of its bytes and of its last block, and for those that are
/// written only to fill a stride.
fn room(lane: usize) -> usize {
    lane + 2 * BLOCK + 2 * STRIDE
}

/// Writes the places of the bits of a mask, counted from `first`.
#[inline(always)]
fn write_starts(mut mask: u64, first: usize, starts: &mut [MaybeUninit<usize>]) {
    // A loop over single starts would exit at an unpredictable count.
    for starts in starts.chunks_exact_mut(STRIDE) {
        for start in starts {
            start.write(first + mask.trailing_zeros() as usize);
            mask &= mask.wrapping_sub(1);
        }
        if mask == 0 {
            break;
        }
    }
}

/// As [`write_starts`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
#[inline]
fn write_starts_avx512(mask: u64, first: usize, starts: &mut [MaybeUninit<usize>]) {
    use std::arch::x86_64::*;
    const OFFSETS: [u8; BLOCK] = {
        let mut offsets = [0; BLOCK];
        let mut offset = 0;
        while offset < BLOCK {
            offsets[offset] = offset as u8;
            offset += 1;
        }
        offsets
    };
    let count = mask.count_ones() as usize;
    let (starts, _) = starts[..count.next_multiple_of(2 * STRIDE)].as_chunks_mut::<{ 2 * STRIDE }>();
    // SAFETY: there are 64 bytes.
    let offsets = unsafe { _mm512_loadu_si512(OFFSETS.as_ptr().cast()) };
    let mut offsets = _mm512_maskz_compress_epi8(mask, offsets);
    let first = _mm512_set1_epi64(first as i64);
    for starts in starts {
        let sixteen = _mm512_castsi512_si128(offsets);
        let eights = [sixteen, _mm_srli_si128::<8>(sixteen)];
        for (starts, offsets) in starts.as_chunks_mut::<STRIDE>().0.iter_mut().zip(eights) {
            let eight = _mm512_add_epi64(first, _mm512_cvtepu8_epi64(offsets));
            // SAFETY: there is memory for eight starts.
            unsafe { _mm512_storeu_si512(starts.as_mut_ptr().cast(), eight) };
        }
        offsets = _mm512_shuffle_i64x2::<0b11_11_10_01>(offsets, offsets);
    }
}
