//! Sums of scores, in the precision of a model.

use super::super::char_trie::Precision;

/// With single precision, sums beyond this are set to zero, and later ones are counted from there.
pub(in crate::encode::kernels) const LARGEST_SUM: f32 = 1e5;

/// A sum of scores, which have the same precision.
pub(in crate::encode::kernels) trait Sum: Precision + PartialOrd {
    /// Less than every sum that is not infinite.
    const LEAST: Self;
    /// Not a number.
    const NAN: Self;
    fn of(sum: f64) -> Self;
    fn plus(self, score: Self) -> Self;
    /// Whether later sums are counted from here.
    fn is_too_large(self) -> bool;
    fn minus(self, other: Self) -> Self;
}

impl Sum for f64 {
    const LEAST: f64 = f64::NEG_INFINITY;
    const NAN: f64 = f64::NAN;

    fn of(sum: f64) -> f64 {
        sum
    }

    #[inline(always)]
    fn plus(self, score: f64) -> f64 {
        score + self
    }

    #[inline(always)]
    fn is_too_large(self) -> bool {
        false
    }

    fn minus(self, other: f64) -> f64 {
        self - other
    }
}

impl Sum for f32 {
    const LEAST: f32 = f32::NEG_INFINITY;
    const NAN: f32 = f32::NAN;

    fn of(sum: f64) -> f32 {
        sum as f32
    }

    #[inline(always)]
    fn plus(self, score: f32) -> f32 {
        score + self
    }

    #[inline(always)]
    fn is_too_large(self) -> bool {
        !(-LARGEST_SUM..=LARGEST_SUM).contains(&self)
    }

    fn minus(self, other: f32) -> f32 {
        self - other
    }
}
