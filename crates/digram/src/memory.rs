//! What the processor is told about memory, and asked about itself.

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

/// The instructions to use where some processors have better ones than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Way {
    /// The fastest that this processor has.
    pub(crate) fn best() -> Way {
        #[cfg(test)]
        if let Some(way) = FORCED.get() {
            return way;
        }
        Way::available()[0]
    }

    /// What `make` makes, which uses these instructions and no better ones.
    #[cfg(test)]
    pub(crate) fn force<R>(self, make: impl FnOnce() -> R) -> R {
        let before = FORCED.replace(Some(self));
        let made = make();
        FORCED.set(before);
        made
    }

    /// All that this processor has, the fastest first.
    pub(crate) fn available() -> Vec<Way> {
        // All that have the first have the others; what is asked for is what is used.
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
        {
            let has_more = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
            let best = if has_more { &[Way::Avx512][..] } else { &[] };
            return [best, &[Way::Avx2, Way::Plain]].concat();
        }
        vec![Way::Plain]
    }
}

#[cfg(test)]
thread_local! {
    /// What is the best way for what a test makes on this thread.
    static FORCED: std::cell::Cell<Option<Way>> = const { std::cell::Cell::new(None) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_forced_for_a_while() {
        for way in Way::available() {
            assert_eq!(
                way.force(|| (Way::best(), Way::Plain.force(Way::best), Way::best())),
                (way, Way::Plain, way)
            );
            assert_eq!(Way::best(), Way::available()[0]);
        }
        assert_eq!(Way::available().last(), Some(&Way::Plain));
    }
}
