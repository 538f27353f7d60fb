//! Hints to the processor about memory.

/// Asks for the line of memory that a value is in, without waiting for it.
#[inline(always)]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint that reads nothing; all x86-64 processors have it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const *value).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
