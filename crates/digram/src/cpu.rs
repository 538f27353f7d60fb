//! Prefetching, and detection of the processor's instruction sets.

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
