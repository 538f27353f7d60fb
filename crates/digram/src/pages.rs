//! Large arrays in large pages, if the system provides them.
//!
//! Random access to a table of megabytes costs a TLB miss for each read, and a page fault for each page
//! at first. With pages of 2 MiB both are negligible.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::error::Result;
use crate::memory::{self, LARGE_PAGE};

/// Smaller arrays have ordinary memory.
const LARGE: usize = 1 << 20;

/// Types for which all bytes zero is a valid value.
///
/// # Safety
///
/// All bytes of [`ZERO`](Zero::ZERO) are zero.
pub(crate) unsafe trait Zero: Copy {
    const ZERO: Self;
}

/// An array of constant length that is initially zero.
pub(crate) struct Pages<T> {
    items: NonNull<T>,
    len: usize,
    owner: Owner<T>,
}

enum Owner<T> {
    /// The array is the buffer of a `Vec` with this capacity.
    List(PhantomData<Vec<T>>, usize),
    /// The array is in a memory mapping of its own: its start and its length in bytes.
    #[cfg(unix)]
    Mapping(*mut libc::c_void, usize),
}

// SAFETY: it owns its items, as `Vec` does.
unsafe impl<T: Send> Send for Pages<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Pages<T> {}

impl<T: Zero> Pages<T> {
    /// An array of `len` items, all zero, or an error if there is no memory for it.
    pub(crate) fn zeroed(len: usize) -> Result<Pages<T>> {
        let bytes = len.saturating_mul(size_of::<T>());
        if bytes >= LARGE {
            memory::check_available(bytes)?;
        }
        match Pages::large(len) {
            Some(pages) => Ok(pages),
            None => memory::try_filled(T::ZERO, len).map(Pages::of_list),
        }
    }

    /// The same for callers that have made sure that there is memory, with [`memory::check_available`].
    pub(crate) fn zeroed_unchecked(len: usize) -> Pages<T> {
        Pages::large(len).unwrap_or_else(|| Pages::of_list(vec![T::ZERO; len]))
    }

    /// A large array, if the system provides large pages.
    fn large(len: usize) -> Option<Pages<T>> {
        let bytes = len.checked_mul(size_of::<T>()).filter(|&bytes| bytes >= LARGE)?;
        Pages::mapped(len, bytes)
    }

    fn of_list(list: Vec<T>) -> Pages<T> {
        let mut list = std::mem::ManuallyDrop::new(list);
        let items = NonNull::from(&mut **list).cast();
        Pages { items, len: list.len(), owner: Owner::List(PhantomData, list.capacity()) }
    }

    #[cfg(not(unix))]
    fn mapped(_: usize, _: usize) -> Option<Pages<T>> {
        None
    }

    #[cfg(unix)]
    fn mapped(len: usize, bytes: usize) -> Option<Pages<T>> {
        use libc::{MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, PROT_READ, PROT_WRITE, mmap};
        let mapping_len = bytes.checked_add(LARGE_PAGE)?;
        let flags = MAP_PRIVATE | MAP_ANONYMOUS;
        // SAFETY: a new mapping, at an address chosen by the system.
        let start = unsafe { mmap(std::ptr::null_mut(), mapping_len, PROT_READ | PROT_WRITE, flags, -1, 0) };
        if start == MAP_FAILED {
            return None;
        }
        let aligned = start.map_addr(|address| address.next_multiple_of(LARGE_PAGE));
        memory::advise_large_pages(aligned.cast(), bytes);
        let items = NonNull::new(aligned.cast::<T>())?;
        Some(Pages { items, len, owner: Owner::Mapping(start, mapping_len) })
    }
}

// SAFETY: the bytes of `ZERO` are zero.
unsafe impl Zero for u32 {
    const ZERO: u32 = 0;
}

// SAFETY: as above.
unsafe impl Zero for u64 {
    const ZERO: u64 = 0;
}

impl<T: Zero> Clone for Pages<T> {
    fn clone(&self) -> Pages<T> {
        let mut pages = Pages::zeroed_unchecked(self.len);
        pages.copy_from_slice(self);
        pages
    }
}

impl<T> Default for Pages<T> {
    /// An empty array.
    fn default() -> Pages<T> {
        Pages { items: NonNull::dangling(), len: 0, owner: Owner::List(PhantomData, 0) }
    }
}

impl<T> Deref for Pages<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: there are `len` items, and zero, their initial value, is valid.
        unsafe { std::slice::from_raw_parts(self.items.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Pages<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.items.as_ptr(), self.len) }
    }
}

impl<T> Drop for Pages<T> {
    fn drop(&mut self) {
        match self.owner {
            // SAFETY: pointer and capacity are those of the original `Vec`.
            Owner::List(_, capacity) => unsafe {
                drop(Vec::from_raw_parts(self.items.as_ptr(), 0, capacity));
            },
            // SAFETY: only this array uses the mapping.
            #[cfg(unix)]
            Owner::Mapping(start, bytes) => unsafe {
                libc::munmap(start, bytes);
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn arrays_are_initially_zero_and_store_values() {
        for len in [0, 1, 1000, (LARGE / 8) - 1, LARGE / 8, 3 * LARGE_PAGE / 8 + 7] {
            let mut pages = Pages::<u64>::zeroed(len).unwrap();
            assert_eq!((pages.len(), pages.iter().sum::<u64>()), (len, 0));
            pages.iter_mut().enumerate().for_each(|(index, item)| *item = index as u64);
            assert!(pages.iter().enumerate().all(|(index, &item)| item == index as u64));
        }
        let bytes = usize::MAX;
        assert!(matches!(Pages::<u64>::zeroed(bytes), Err(Error::Memory { .. })));
    }
}
