//! The classes of blocks and the loop over the blocks of a text, compiled for each instruction set.

use super::FamilyMember;
use super::classes::{AsciiMasks, BLOCK, BlockClasses};
#[cfg(target_arch = "x86_64")]
use super::others::Bitmaps;
use super::others::Others;
use crate::cpu::SimdLevel;

impl FamilyMember {
    /// The characters of a block that are not ASCII.
    #[inline(always)]
    fn others<const CASED: bool>(&self, high: u64, letters: u64, text: &[u8], start: usize) -> Others {
        Others::read::<CASED>(high, letters, &self.kinds, text, start)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn others_avx512<const CASED: bool>(&self, high: u64, letters: u64, text: &[u8], start: usize) -> Others {
        let bitmaps = self.bitmaps.get_or_init(|| Bitmaps::new(&self.kinds));
        let read = bitmaps.read::<CASED>(high, letters, text, start);
        read.unwrap_or_else(|| self.others::<CASED>(high, letters, text, start))
    }

    /// The classes of a block.
    #[inline(always)]
    pub(super) fn classes_by_words<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        block: &[u8; BLOCK],
    ) -> BlockClasses {
        BlockClasses::from_masks(AsciiMasks::of_words::<CASED>(block), |high, letters| {
            self.others::<CASED>(high, letters, text, start)
        })
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(super) fn classes_avx2<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        block: &[u8; BLOCK],
    ) -> BlockClasses {
        BlockClasses::from_masks(AsciiMasks::of_avx2::<CASED>(block), |high, letters| {
            self.others::<CASED>(high, letters, text, start)
        })
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(super) fn classes_avx512<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        block: &[u8; BLOCK],
    ) -> BlockClasses {
        BlockClasses::from_masks(AsciiMasks::of_avx512::<CASED>(block), |high, letters| {
            self.others_avx512::<CASED>(high, letters, text, start)
        })
    }

    /// Calls `visit` with the start of each block and the starts of pretokens in it, until `visit` returns
    /// false or a block contains no start that is certain. `start` is that of a pretoken. Returns the last
    /// start.
    #[inline(always)]
    pub(in crate::pretokenize) fn each_block(
        &self,
        text: &[u8],
        start: usize,
        visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        if self.has_case() {
            self.each_block_at::<true>(text, start, visit)
        } else {
            self.each_block_at::<false>(text, start, visit)
        }
    }

    #[inline(always)]
    fn each_block_at<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        match self.simd {
            // SAFETY: the level was chosen because the processor supports it.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.each_block_avx512::<CASED>(text, start, visit) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { self.each_block_avx2::<CASED>(text, start, visit) },
            SimdLevel::Plain => {
                let classes = |start, block: &[u8; BLOCK]| self.classes_by_words::<CASED>(text, start, block);
                self.each_block_by::<CASED>(text, start, classes, visit)
            }
        }
    }

    // The loop is compiled for the instruction set too, so that no function is called for a block.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn each_block_avx512<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        let classes = |start, block: &[u8; BLOCK]| self.classes_avx512::<CASED>(text, start, block);
        self.each_block_by::<CASED>(text, start, classes, visit)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn each_block_avx2<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        let classes = |start, block: &[u8; BLOCK]| self.classes_avx2::<CASED>(text, start, block);
        self.each_block_by::<CASED>(text, start, classes, visit)
    }

    #[inline(always)]
    fn each_block_by<const CASED: bool>(
        &self,
        text: &[u8],
        mut start: usize,
        classes: impl Fn(usize, &[u8; BLOCK]) -> BlockClasses,
        mut visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        let mut block_start = start;
        while let Some(block) = text[block_start..].first_chunk() {
            let classes = classes(block_start, block);
            let starts = self.family.starts::<CASED>(classes, block);
            if starts != 0 {
                if !visit(block_start, starts) {
                    break;
                }
                start = block_start + starts.ilog2() as usize;
                block_start = start;
            } else if let Some(last_letter) = classes.last_of_letters() {
                // The rest of a run of letters is split like the whole run.
                block_start += last_letter;
            } else {
                break;
            }
        }
        start
    }
}
