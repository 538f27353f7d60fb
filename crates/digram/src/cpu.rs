//! Prefetching, stores past the caches, and detection of the processor's instruction sets.

use std::sync::OnceLock;

/// Prefetches the cache line at an address, which need not be valid.
#[inline(always)]
pub(crate) fn prefetch<T>(value: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint that reads nothing; all x86-64 processors have it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(value.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Copies numbers to memory that is not read soon: on x86-64 with non-temporal stores, so that the processor does not
/// read that memory first, and its caches keep what they have.
///
/// # Safety
///
/// `to` must be aligned and valid for writes of `from.len()` numbers, and must not overlap `from`.
pub(crate) unsafe fn copy_past_caches(from: &[u32], to: *mut u32) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        /// The numbers of a store.
        const WIDTH: usize = 4;
        let before = to.align_offset(WIDTH * size_of::<u32>()).min(from.len());
        let (head, rest) = from.split_at(before);
        let (stores, tail) = rest.as_chunks::<WIDTH>();
        // SAFETY: the three copies write `from.len()` numbers, and `align_offset` aligns the stores. All x86-64
        // processors have these instructions. The fence makes the stores visible to other threads before later ones.
        unsafe {
            to.copy_from_nonoverlapping(head.as_ptr(), head.len());
            let mut place = to.add(before);
            for numbers in stores {
                _mm_stream_si128(place.cast(), _mm_loadu_si128(numbers.as_ptr().cast()));
                place = place.add(WIDTH);
            }
            place.copy_from_nonoverlapping(tail.as_ptr(), tail.len());
            _mm_sfence();
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: as the caller promises.
    unsafe {
        to.copy_from_nonoverlapping(from.as_ptr(), from.len())
    }
}

/// The instruction set that vectorized code uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SimdLevel {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The level of [`SimdLevel::best`], once it was asked for or limited.
static BEST: OnceLock<SimdLevel> = OnceLock::new();

/// Limits the instructions of this process to those of a level, `Avx512`, `Avx2` or `Plain`, for benchmarks of what
/// other processors do. Fails if this processor lacks them, or if the best level is in use already.
#[doc(hidden)]
pub fn limit_simd(name: &str) -> Result<(), String> {
    let level = SimdLevel::available().into_iter().find(|level| format!("{level:?}") == name);
    let level = level.ok_or_else(|| format!("this processor has no level {name}"))?;
    BEST.set(level).map_err(|_| "the level is in use already".into())
}

impl SimdLevel {
    /// The best level that this processor supports.
    pub(crate) fn best() -> SimdLevel {
        #[cfg(test)]
        if let Some(simd) = FORCED.get() {
            return simd;
        }
        *BEST.get_or_init(|| SimdLevel::available()[0])
    }

    /// Runs `call` with [`SimdLevel::best`] fixed to this level on the current thread.
    #[cfg(test)]
    pub(crate) fn force<R>(self, call: impl FnOnce() -> R) -> R {
        let previous = FORCED.replace(Some(self));
        let result = call();
        FORCED.set(previous);
        result
    }

    /// All levels that this processor supports, the best first.
    pub(crate) fn available() -> Vec<SimdLevel> {
        // Exactly the features that `target_feature` attributes name are tested.
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
        {
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("avx512vbmi2")
                && is_x86_feature_detected!("avx512bitalg");
            let best = if has_avx512 { &[SimdLevel::Avx512][..] } else { &[] };
            return [best, &[SimdLevel::Avx2, SimdLevel::Plain]].concat();
        }
        vec![SimdLevel::Plain]
    }
}

#[cfg(test)]
thread_local! {
    /// The level that a test forces on this thread.
    static FORCED: std::cell::Cell<Option<SimdLevel>> = const { std::cell::Cell::new(None) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_copied_to_every_alignment() {
        let numbers: Vec<u32> = (1..=50).collect();
        for start in 0..8 {
            for len in 0..=numbers.len() {
                let mut copied = [0; 60];
                // SAFETY: `copied` has space for 50 numbers from `start` on.
                unsafe { copy_past_caches(&numbers[..len], copied[start..].as_mut_ptr()) };
                let (before, rest) = copied.split_at(start);
                assert_eq!(
                    (&rest[..len], [before, &rest[len..]].concat()),
                    (&numbers[..len], vec![0; 60 - len])
                );
            }
        }
    }

    #[test]
    fn a_level_is_forced_during_a_call() {
        for simd in SimdLevel::available() {
            assert_eq!(
                simd.force(|| (
                    SimdLevel::best(),
                    SimdLevel::Plain.force(SimdLevel::best),
                    SimdLevel::best()
                )),
                (simd, SimdLevel::Plain, simd)
            );
            assert_eq!(SimdLevel::best(), SimdLevel::available()[0]);
        }
        assert_eq!(SimdLevel::available().last(), Some(&SimdLevel::Plain));
    }
}
