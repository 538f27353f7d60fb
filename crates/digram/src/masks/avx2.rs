//! Vectors of 32 bytes.

use std::arch::x86_64::*;

/// The highest bit of each byte.
///
/// The instruction is written out: of its intrinsic, a compiler mixes the bits with other numbers before they are
/// numbers, bit by bit, in 400 instructions.
#[target_feature(enable = "avx2")]
#[inline]
pub(crate) fn highest_bits(bytes: __m256i) -> u64 {
    let bits: u64;
    // SAFETY: it computes a number from a vector.
    unsafe {
        std::arch::asm!(
            "vpmovmskb {bits:e}, {bytes}",
            bits = lateout(reg) bits,
            bytes = in(ymm_reg) bytes,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    bits
}

/// Sixteen bytes, twice: a table that the lower four bits of numbers select from.
#[target_feature(enable = "avx2")]
#[inline]
pub(crate) fn sixteen(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: there are 16 bytes.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}
