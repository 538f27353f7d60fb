//! Splitting of blocks that follow each other: each knows the classes at the ends of its neighbours.
//!
//! If each block began at the last start of the one before it, the blocks were a chain of dependent
//! instructions, for which a processor waits most of the time. Here only some bits are passed on, and the classes
//! of a block are computed while the rules are applied to those before it.

use std::mem::MaybeUninit;

use super::super::boundary_buffer::STRIDE;
use super::FamilyMember;
use super::classes::{BLOCK, BlockClasses};
use super::starts::{After, Before};
use crate::cpu::SimdLevel;

/// The number of bytes after which the starts are returned.
const MAX_BYTES: usize = 4096;

/// Room for the starts: one for each byte and each of the last block, and for those that are written only to fill
/// three strides.
const ROOM: usize = MAX_BYTES + BLOCK + 3 * STRIDE;

/// Memory for starts of pretokens.
#[derive(Default)]
pub(in crate::pretokenize) struct Starts(Vec<MaybeUninit<usize>>);

impl FamilyMember {
    /// The starts of pretokens in some kilobytes of `text` after `start`, which is one. Fewer, or none, if
    /// a block has a character that the masks do not decide, or if the text ends soon.
    #[inline]
    pub(in crate::pretokenize) fn successive_starts<'s>(
        &self,
        text: &[u8],
        start: usize,
        starts: &'s mut Starts,
    ) -> &'s [usize] {
        if text.len() - start < 3 * BLOCK {
            return &[];
        }
        starts.0.resize_with(ROOM, MaybeUninit::uninit);
        let count = match self.has_case() {
            true => self.successive_at::<true>(text, start, &mut starts.0),
            false => self.successive_at::<false>(text, start, &mut starts.0),
        };
        let starts = &raw const starts.0[..count];
        // SAFETY: these have been written.
        unsafe { &*(starts as *const [usize]) }
    }

    fn successive_at<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        starts: &mut [MaybeUninit<usize>],
    ) -> usize {
        match self.simd {
            // SAFETY: the level was chosen because the processor supports it.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.successive_avx512::<CASED>(text, start, starts) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { self.successive_avx2::<CASED>(text, start, starts) },
            SimdLevel::Plain => {
                let classes = |start, block: &[u8; BLOCK], after_letter| {
                    self.classes_by_words::<CASED>(text, start, block, after_letter)
                };
                self.successive_by::<CASED>(text, start, starts, classes, write_starts)
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn successive_avx512<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        starts: &mut [MaybeUninit<usize>],
    ) -> usize {
        let classes = |start, block: &[u8; BLOCK], after_letter| {
            self.classes_avx512::<CASED>(text, start, block, after_letter)
        };
        let write_starts =
            |mask, first, starts: &mut [MaybeUninit<usize>]| write_starts_avx512(mask, first, starts);
        self.successive_by::<CASED>(text, start, starts, classes, write_starts)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn successive_avx2<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        starts: &mut [MaybeUninit<usize>],
    ) -> usize {
        let classes = |start, block: &[u8; BLOCK], after_letter| {
            self.classes_avx2::<CASED>(text, start, block, after_letter)
        };
        self.successive_by::<CASED>(text, start, starts, classes, write_starts)
    }

    #[inline(always)]
    fn successive_by<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        starts: &mut [MaybeUninit<usize>],
        classes: impl Fn(usize, &[u8; BLOCK], u64) -> BlockClasses,
        write_starts: impl Fn(u64, usize, &mut [MaybeUninit<usize>]),
    ) -> usize {
        let (mut count, mut before, mut block_start) = (0, Before::default(), start);
        let Some(block) = text[start..].first_chunk() else { return 0 };
        let mut block = classes(start, block, 0);
        // Without the start of the first pretoken.
        let mut wanted = !1;
        while block_start - start < MAX_BYTES {
            let next_start = block_start + block.len as usize;
            // A character may lie across the end of the next block.
            let Some(next) = text[next_start..].first_chunk() else { break };
            let last_letter = if CASED { block.last_letter() } else { 0 };
            let next = classes(next_start, next, last_letter);
            let Some(after) = After::of(&block, &next) else { break };
            let (found, certain) =
                self.family.starts::<CASED>(&block, &text[block_start..], &mut before, after);
            let found = found & wanted & certain;
            write_starts(found, block_start, &mut starts[count..]);
            count += found.count_ones() as usize;
            if certain != u64::MAX {
                break;
            }
            (block_start, block, wanted) = (next_start, next, u64::MAX);
        }
        count
    }
}

impl After {
    /// What a block needs to know of the next one; `None` if that begins with a character that the masks do not
    /// decide, or with white space within a line that may end after it.
    #[inline(always)]
    fn of(block: &BlockClasses, next: &BlockClasses) -> Option<After> {
        let not_inner = !(next.spaces & !next.newlines);
        let first = not_inner & not_inner.wrapping_neg();
        let is_known = first & next.valid() != 0 || block.last_inner() == 0;
        let after = After {
            letter: next.letters & 1,
            space: next.spaces & 1,
            newline: u64::from(next.newlines & first != 0),
        };
        (is_known && next.len > 0).then_some(after)
    }
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
    let (starts, _) = starts[..count.next_multiple_of(3 * STRIDE)].as_chunks_mut::<{ 3 * STRIDE }>();
    // SAFETY: there are 64 bytes.
    let offsets = unsafe { _mm512_loadu_si512(OFFSETS.as_ptr().cast()) };
    let mut offsets = _mm512_maskz_compress_epi8(mask, offsets);
    let first = _mm512_set1_epi64(first as i64);
    for starts in starts {
        let sixteen = _mm512_castsi512_si128(offsets);
        let more = _mm512_extracti32x4_epi32::<1>(offsets);
        let eights = [sixteen, _mm_srli_si128::<8>(sixteen), more];
        for (starts, offsets) in starts.as_chunks_mut::<STRIDE>().0.iter_mut().zip(eights) {
            let eight = _mm512_add_epi64(first, _mm512_cvtepu8_epi64(offsets));
            // SAFETY: there is memory for eight starts.
            unsafe { _mm512_storeu_si512(starts.as_mut_ptr().cast(), eight) };
        }
        offsets = _mm512_alignr_epi64::<3>(offsets, offsets);
    }
}
