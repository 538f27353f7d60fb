//! Values that are computed at first use without blocking other threads.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A value that is computed at first use and then shared by all threads.
///
/// If several threads need the value at the same time, each computes it and one result is kept. `OnceLock`
/// would block all threads but one, and in the child of a fork it would block forever, since the thread
/// that computes the value does not exist there.
pub(crate) struct Lazy<T> {
    value: AtomicPtr<T>,
    owns: PhantomData<T>,
}

impl<T: Send + Sync> Lazy<T> {
    pub(crate) const fn new() -> Lazy<T> {
        Lazy { value: AtomicPtr::new(null_mut()), owns: PhantomData }
    }

    /// The value, computed by `make` if there is none yet.
    #[inline]
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        let mut value = self.value.load(Ordering::Acquire);
        if value.is_null() {
            value = self.make(make);
        }
        // SAFETY: the pointer came from a `Box`, and the value neither changes nor moves until `self` is
        // dropped.
        unsafe { &*value }
    }

    /// The value, if it has been computed.
    pub(crate) fn get(&self) -> Option<&T> {
        let value = self.value.load(Ordering::Acquire);
        // SAFETY: as in `get_or_make`, if it is not null.
        unsafe { value.as_ref() }
    }

    #[cold]
    fn make(&self, make: impl FnOnce() -> T) -> *mut T {
        let made = Box::into_raw(Box::new(make()));
        match self.value.compare_exchange(null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => made,
            Err(other) => {
                // SAFETY: the pointer came from the `Box` above, and no other thread has seen it.
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

/// Clones the value too, if it has been computed.
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
            // SAFETY: the pointer came from a `Box`, and no borrow of the value can exist any more.
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
            // No thread continues before all of them have started to compute.
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
