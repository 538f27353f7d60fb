//! Values made at their first use, for which no thread waits.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A value that is made when somebody first needs it, and is there for all threads from then on.
///
/// Several threads that need it at once all make it, and one of the results is kept. With `OnceLock`
/// all but one would wait for that one, and in the child of a fork for ever: the thread that was at
/// it is not there.
pub(crate) struct Lazy<T> {
    value: AtomicPtr<T>,
    owns: PhantomData<T>,
}

impl<T: Send + Sync> Lazy<T> {
    pub(crate) const fn new() -> Lazy<T> {
        Lazy { value: AtomicPtr::new(null_mut()), owns: PhantomData }
    }

    /// The value; what `make` gives if there is none yet.
    #[inline]
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        let mut value = self.value.load(Ordering::Acquire);
        if value.is_null() {
            value = self.make(make);
        }
        // SAFETY: it came out of a box, and stays as it is and where it is until `self` is dropped.
        unsafe { &*value }
    }

    /// The value, if it was made.
    pub(crate) fn get(&self) -> Option<&T> {
        let value = self.value.load(Ordering::Acquire);
        // SAFETY: as in `get_or_make`, where it is not null.
        unsafe { value.as_ref() }
    }

    #[cold]
    fn make(&self, make: impl FnOnce() -> T) -> *mut T {
        let made = Box::into_raw(Box::new(make()));
        match self.value.compare_exchange(null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => made,
            Err(other) => {
                // SAFETY: it came out of a box just now, and nobody has seen it.
                drop(unsafe { Box::from_raw(made) });
                other
            }
        }
    }
}

impl<T: Send + Sync> Default for Lazy<T> {
    fn default() -> Lazy<T> {
        Lazy::new()
    }
}

/// A value that was made is copied with it.
impl<T: Clone + Send + Sync> Clone for Lazy<T> {
    fn clone(&self) -> Lazy<T> {
        let copy = Lazy::new();
        if let Some(value) = self.get() {
            copy.get_or_make(|| value.clone());
        }
        copy
    }
}

impl<T: fmt::Debug + Send + Sync> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lazy").field(&self.get()).finish()
    }
}

impl<T> Drop for Lazy<T> {
    fn drop(&mut self) {
        let value = *self.value.get_mut();
        if !value.is_null() {
            // SAFETY: it came out of a box, and nobody can borrow it any more.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::sync::{Arc, Barrier};

    #[test]
    fn one_value_is_kept_and_no_thread_waits_for_another() {
        const THREADS: usize = 4;
        let lazy = Lazy::<Arc<usize>>::new();
        let (made, all) = (AtomicUsize::new(0), Barrier::new(THREADS));
        let make = || {
            // Nobody comes past this before all are in the midst of making it.
            all.wait();
            Arc::new(made.fetch_add(1, Ordering::Relaxed))
        };
        let kept: Vec<Arc<usize>> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..THREADS).map(|_| scope.spawn(|| lazy.get_or_make(make).clone())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(made.load(Ordering::Relaxed), THREADS);
        assert!(kept.iter().all(|value| Arc::ptr_eq(value, &kept[0])));
        assert!(Arc::ptr_eq(lazy.get_or_make(|| unreachable!()), &kept[0]));
        let copy = lazy.clone();
        assert!(copy.get().is_some_and(|value| Arc::ptr_eq(value, &kept[0])));
        drop((lazy, copy));
        assert_eq!(Arc::strong_count(&kept[0]), THREADS);
        assert!(Lazy::<Arc<usize>>::new().clone().get().is_none());
        drop(Lazy::<Arc<usize>>::new());
    }
}
