//! The classes of blocks and the loop over the blocks of a text, compiled for each instruction set.

use super::FamilyMember;
use super::classes::{AsciiMasks, BLOCK, BlockClasses};
#[cfg(target_arch = "x86_64")]
use super::others::Bitmaps;
use super::others::{MORE, Others};
use crate::cpu::SimdLevel;
use crate::pretokenize::GoesOn;

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
    /// start. The end of a text that does not go on is a start too.
    #[inline(always)]
    pub(in crate::pretokenize) fn each_block(
        &self,
        text: &[u8],
        start: usize,
        goes_on: GoesOn,
        visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        if self.has_case() {
            self.each_block_at::<true>(text, start, goes_on, visit)
        } else {
            self.each_block_at::<false>(text, start, goes_on, visit)
        }
    }

    #[inline(always)]
    fn each_block_at<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        goes_on: GoesOn,
        visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        match self.simd {
            // SAFETY: the level was chosen because the processor supports it.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.each_block_avx512::<CASED>(text, start, goes_on, visit) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { self.each_block_avx2::<CASED>(text, start, goes_on, visit) },
            SimdLevel::Plain => {
                let classes = |text: &[u8], start, block: &[u8; BLOCK]| {
                    self.classes_by_words::<CASED>(text, start, block)
                };
                self.each_block_by::<CASED>(text, start, goes_on, classes, visit)
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
        goes_on: GoesOn,
        visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        let classes =
            |text: &[u8], start, block: &[u8; BLOCK]| self.classes_avx512::<CASED>(text, start, block);
        self.each_block_by::<CASED>(text, start, goes_on, classes, visit)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn each_block_avx2<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        goes_on: GoesOn,
        visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        let classes =
            |text: &[u8], start, block: &[u8; BLOCK]| self.classes_avx2::<CASED>(text, start, block);
        self.each_block_by::<CASED>(text, start, goes_on, classes, visit)
    }

    #[inline(always)]
    fn each_block_by<const CASED: bool>(
        &self,
        text: &[u8],
        mut start: usize,
        goes_on: GoesOn,
        classes: impl Fn(&[u8], usize, &[u8; BLOCK]) -> BlockClasses,
        mut visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        let mut block_start = start;
        while let Some(block) = text[block_start..].first_chunk() {
            let classes = classes(text, block_start, block);
            let (starts, _) = self.family.starts::<CASED>(classes, block);
            if starts != 0 {
                if !visit(block_start, starts) {
                    return start;
                }
                start = block_start + starts.ilog2() as usize;
                block_start = start;
            } else if let Some(last_letter) = classes.last_of_letters() {
                // The rest of a run of letters is split like the whole run.
                block_start += last_letter;
            } else {
                return start;
            }
        }
        // The rest is shorter than a block. The bytes after it belong to no class.
        let rest = &text[block_start..];
        let mut bytes = [0; BLOCK + MORE];
        bytes[..rest.len()].copy_from_slice(rest);
        let (block, _) = bytes.split_first_chunk().expect("more than a block");
        let mut classes = classes(&bytes, 0, block);
        classes.len = classes.len.min(rest.len() as u32);
        let (mut starts, are_all) = self.family.starts::<CASED>(classes, block);
        if goes_on == GoesOn::No && are_all && classes.len as usize == rest.len() {
            starts |= 1 << rest.len();
        }
        if starts != 0 && visit(block_start, starts) {
            start = block_start + starts.ilog2() as usize;
        }
        start
    }
}
