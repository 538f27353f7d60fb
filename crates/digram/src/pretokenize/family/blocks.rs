//! The classes of blocks and the loop over the blocks of a text, compiled for each instruction set.

use super::FamilyMember;
use super::classes::{AsciiMasks, BLOCK, BlockClasses};
#[cfg(target_arch = "x86_64")]
use super::others::Rows;
use super::others::{MORE, Others};
use super::starts::{After, Before};
use crate::cpu::SimdLevel;
use crate::pretokenize::GoesOn;

/// Up to this many bytes of a block that are not ASCII are few.
#[cfg(target_arch = "x86_64")]
const FEW_BYTES: u32 = 18;

impl FamilyMember {
    /// The characters of a block that are not ASCII.
    #[inline(always)]
    fn others<const CASED: bool>(&self, high: u64, after_letters: u64, text: &[u8], start: usize) -> Others {
        Others::read::<CASED>(high, after_letters, &self.kinds, text, start)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn others_avx512<const CASED: bool>(
        &self,
        high: u64,
        after_letters: u64,
        text: &[u8],
        start: usize,
    ) -> Others {
        let read = self.bitmaps().read::<CASED>(high, after_letters, &self.kinds, text, start);
        read.unwrap_or_else(|| self.others::<CASED>(high, after_letters, text, start))
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn others_avx2<const CASED: bool>(
        &self,
        high: u64,
        after_letters: u64,
        text: &[u8],
        start: usize,
    ) -> Others {
        // Few characters, as the accented ones of French, are read one by one in less time.
        if high.count_ones() <= FEW_BYTES {
            return self.others::<CASED>(high, after_letters, text, start);
        }
        let rows = self.rows.get_or_init(|| Rows::new(&self.kinds));
        let read = rows.read::<CASED>(high, after_letters, &self.kinds, text, start);
        read.unwrap_or_else(|| self.others::<CASED>(high, after_letters, text, start))
    }

    /// The classes of a block. `after_letter` is 1 if the byte before it is one of a letter, and otherwise 0.
    #[inline(always)]
    pub(super) fn classes_by_words<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        block: &[u8; BLOCK],
        after_letter: u64,
    ) -> BlockClasses {
        BlockClasses::from_masks(AsciiMasks::of_words::<CASED>(block), after_letter, |high, after_letters| {
            self.others::<CASED>(high, after_letters, text, start)
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
        after_letter: u64,
    ) -> BlockClasses {
        BlockClasses::from_masks(AsciiMasks::of_avx2::<CASED>(block), after_letter, |high, after_letters| {
            self.others_avx2::<CASED>(high, after_letters, text, start)
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
        after_letter: u64,
    ) -> BlockClasses {
        BlockClasses::from_masks(
            AsciiMasks::of_avx512::<CASED>(block),
            after_letter,
            |high, after_letters| self.others_avx512::<CASED>(high, after_letters, text, start),
        )
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
                    self.classes_by_words::<CASED>(text, start, block, 0)
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
            |text: &[u8], start, block: &[u8; BLOCK]| self.classes_avx512::<CASED>(text, start, block, 0);
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
            |text: &[u8], start, block: &[u8; BLOCK]| self.classes_avx2::<CASED>(text, start, block, 0);
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
            let (starts, _) = self.starts_alone::<CASED>(&classes, block);
            if starts != 0 {
                if !visit(block_start, starts) {
                    return start;
                }
                start = block_start + starts.ilog2() as usize;
                block_start = start;
            } else if let Some(later) = classes.last_of_run() {
                block_start += later;
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
        let (mut starts, are_all) = self.starts_alone::<CASED>(&classes, block);
        if goes_on == GoesOn::No && are_all && classes.len as usize == rest.len() {
            starts |= 1 << rest.len();
        }
        if starts != 0 && visit(block_start, starts) {
            start = block_start + starts.ilog2() as usize;
        }
        start
    }

    /// The starts of pretokens in a block that begins with one, without that one and without those that depend on
    /// the text after the block. Also whether none was.
    #[inline(always)]
    fn starts_alone<const CASED: bool>(&self, classes: &BlockClasses, block: &[u8; BLOCK]) -> (u64, bool) {
        // A contraction at the end of a word may be cut.
        let after = After { letter: u64::from(CASED), ..After::default() };
        let bytes = &block[..classes.len as usize];
        let (starts, mut certain) =
            self.family.starts::<CASED>(classes, bytes, &mut Before::default(), after);
        // The text after white space at the end of the block decides where that is split.
        let valid = classes.valid();
        let last_other = BLOCK as u32 - (valid & !classes.spaces).leading_zeros();
        certain &= if last_other < 63 { (2 << last_other) - 1 } else { u64::MAX };
        (starts & certain & !1, valid & !certain == 0)
    }
}
