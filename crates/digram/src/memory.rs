//! Fallible memory allocation.
//!
//! Rust aborts the process if an allocation fails, which a library must not do. So all memory whose size
//! depends on the caller's input is reserved here first, with some slack: allocations that are not checked
//! are small and fit into the slack.

use std::collections::BinaryHeap;

use crate::error::{Error, Result};

/// The slack for unchecked allocations. The probe must be above glibc's mmap threshold limit (32 MiB), so
/// that it is mapped and returned at once; a smaller probe could change how glibc serves later allocations.
const SLACK: usize = 33 << 20;

/// Allocations below this size are not checked; the slack covers them.
const MIN_CHECKED: usize = 1 << 20;

/// Checks that `bytes` bytes, plus the slack, can be allocated now.
///
/// For operations that know their memory need in advance and allocate in many places.
pub fn check_available(bytes: usize) -> Result<()> {
    let mut probe: Vec<u8> = Vec::new();
    probe.try_reserve_exact(bytes.saturating_add(SLACK)).map_err(|_| Error::Memory { bytes })?;
    // Otherwise the compiler removes the unused allocation.
    std::hint::black_box(&mut probe);
    Ok(())
}

/// `bytes` as a `usize`, or `usize::MAX` if it does not fit.
pub(crate) fn saturating_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// The number of threads, at most `requested`, that can be started with the address space available.
///
/// Starting a thread maps its stack and an allocator arena, and the process aborts if that fails, no matter
/// how much memory is free inside existing mappings. So this probes for new mappings, and for all threads
/// at once: probing for each thread alone would count the same address space several times.
pub(crate) fn affordable_threads(requested: usize) -> usize {
    let mut threads = requested;
    while threads > 0 && !can_map(threads.saturating_mul(THREAD_ADDRESS_SPACE).saturating_add(SLACK)) {
        threads = threads * 3 / 4;
    }
    threads
}

/// Address space of one thread: its stack, and the arena that glibc's allocator reserves for it.
const THREAD_ADDRESS_SPACE: usize = (2 << 20) + if usize::BITS < 64 { 1 << 20 } else { 64 << 20 };

/// Whether `bytes` bytes of address space can be mapped.
fn can_map(bytes: usize) -> bool {
    #[cfg(unix)]
    {
        use libc::{MAP_ANONYMOUS, MAP_FAILED, MAP_NORESERVE, MAP_PRIVATE, PROT_NONE, mmap, munmap};
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        // SAFETY: the mapping is new, at an address chosen by the system, and is unmapped immediately.
        unsafe {
            let address = mmap(std::ptr::null_mut(), bytes, PROT_NONE, flags, -1, 0);
            address != MAP_FAILED && munmap(address, bytes) == 0
        }
    }
    #[cfg(not(unix))]
    check_available(bytes).is_ok()
}

/// Reserves capacity for `additional` more items, or returns [`Error::Memory`].
#[inline]
pub fn try_reserve<T>(items: &mut Vec<T>, additional: usize) -> Result<()> {
    if items.capacity() - items.len() >= additional { Ok(()) } else { grow(items, additional) }
}

#[cold]
fn grow<T>(items: &mut Vec<T>, additional: usize) -> Result<()> {
    // `Vec` at least doubles when it grows.
    let bytes = additional.max(items.capacity()).saturating_mul(size_of::<T>());
    items.try_reserve(additional).map_err(|_| Error::Memory { bytes })?;
    prefer_large_pages(items);
    if items.capacity() * size_of::<T>() >= MIN_CHECKED { check_available(0) } else { Ok(()) }
}

/// Reserves memory for about `additional` likely items, if they are many and there is memory for
/// them. A list that grows step by step would be moved several times.
pub(crate) fn reserve_hint<T>(items: &mut Vec<T>, additional: usize) {
    let bytes = additional.saturating_mul(size_of::<T>());
    let is_available = || bytes < MIN_CHECKED || check_available(bytes).is_ok();
    if bytes >= MIN_HINT && is_available() && items.try_reserve_exact(additional).is_ok() {
        prefer_large_pages(items);
    }
}

/// Frees the memory beyond the items, unless the list is large and it is less than twice as much as theirs.
///
/// That memory was never written to, so it takes no pages. And an allocator that gets back memory of the size that was
/// requested has it for the next request; glibc's maps new memory for a request of more than it ever got back, whose
/// pages and their zeros were a ninth of the time of encoding English again.
pub(crate) fn free_excess<T>(items: &mut Vec<T>) {
    let capacity = items.capacity();
    if capacity.saturating_mul(size_of::<T>()) < LARGE || capacity / MOST_EXCESS > items.len() {
        items.shrink_to_fit();
    }
}

/// A list with more memory than this many times that of its items has too much.
const MOST_EXCESS: usize = 3;

/// A hint for fewer bytes is ignored.
const MIN_HINT: usize = 64 << 10;

/// Lists below this size have ordinary pages.
const LARGE: usize = 4 << 20;

/// Asks the system for large pages for a large list. With ordinary pages, the faults of the first writes are
/// a sixth of the time that encoding takes.
fn prefer_large_pages<T>(items: &Vec<T>) {
    prefer_large_pages_for(items.as_ptr().cast_mut(), items.capacity());
}

/// Asks the system for large pages for memory of `capacity` items that was not used yet, if it is large.
///
/// The memory must be that of a living allocation.
pub fn prefer_large_pages_for<T>(start: *mut T, capacity: usize) {
    let bytes = capacity.saturating_mul(size_of::<T>());
    if bytes >= LARGE {
        advise_large_pages(start.cast(), bytes);
    }
}

/// The size of a large page.
pub(crate) const LARGE_PAGE: usize = 2 << 20;

/// Asks the system for large pages for memory, where they fit into it.
pub(crate) fn advise_large_pages(start: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        let first_page = start.map_addr(|address| address.next_multiple_of(LARGE_PAGE));
        let length = (start.addr() + bytes).saturating_sub(first_page.addr()) / LARGE_PAGE * LARGE_PAGE;
        if length > 0 {
            // SAFETY: the pages are inside the memory. A system without large pages refuses, which changes
            // nothing.
            unsafe {
                libc::madvise(first_page.cast(), length, libc::MADV_HUGEPAGE);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, bytes);
}

/// Pushes an item onto a queue, or returns [`Error::Memory`].
#[inline]
pub fn try_push<T: Ord>(queue: &mut BinaryHeap<T>, item: T) -> Result<()> {
    if queue.len() == queue.capacity() {
        grow_queue(queue)?;
    }
    queue.push(item);
    Ok(())
}

#[cold]
fn grow_queue<T: Ord>(queue: &mut BinaryHeap<T>) -> Result<()> {
    let bytes = queue.capacity() * size_of::<T>();
    queue.try_reserve(1).map_err(|_| Error::Memory { bytes })?;
    if queue.capacity() * size_of::<T>() >= MIN_CHECKED { check_available(0) } else { Ok(()) }
}

/// A list of `count` copies of `item`, or [`Error::Memory`].
pub fn try_filled<T: Clone>(item: T, count: usize) -> Result<Vec<T>> {
    let bytes = count.saturating_mul(size_of::<T>());
    if bytes >= MIN_CHECKED {
        check_available(bytes)?;
    }
    Ok(vec![item; count])
}

/// Collects an iterator into a list, or returns [`Error::Memory`].
pub fn try_collect<T>(items: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let mut result = Vec::new();
    try_reserve(&mut result, items.size_hint().0)?;
    for item in items {
        try_reserve(&mut result, 1)?;
        result.push(item);
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_allocations_are_errors() {
        let maximum = isize::MAX as usize;
        assert_eq!(check_available(0), Ok(()));
        assert_eq!(check_available(maximum), Err(Error::Memory { bytes: maximum }));
        assert_eq!(check_available(usize::MAX), Err(Error::Memory { bytes: usize::MAX }));
        assert_eq!(try_filled(0u8, maximum), Err(Error::Memory { bytes: maximum }));
        assert_eq!(try_filled(7u16, 3), Ok(vec![7, 7, 7]));
        let mut list = vec![1u32];
        assert_eq!(try_reserve(&mut list, usize::MAX), Err(Error::Memory { bytes: usize::MAX }));
        assert_eq!(try_reserve(&mut list, 1 << 20), Ok(()));
        assert!(list == [1] && list.capacity() > 1 << 20);
        assert_eq!(try_collect(0..3), Ok(vec![0, 1, 2]));
    }

    #[test]
    fn excess_is_freed_unless_a_large_list_has_little() {
        for capacity in [999, LARGE] {
            for len in [0, capacity / 100, capacity / 3 - 1, capacity / 3, capacity / 2, capacity] {
                let mut list = Vec::with_capacity(capacity);
                list.resize(len, 1u8);
                free_excess(&mut list);
                let is_kept = capacity == len || capacity == LARGE && len >= capacity / 3;
                assert_eq!((list.len(), list.capacity() == capacity), (len, is_kept));
            }
        }
    }

    #[test]
    fn a_hint_reserves_large_lists_if_memory_is_available() {
        let hints = [
            (MIN_HINT / 4 - 1, false),
            (MIN_HINT / 4, true),
            (MIN_CHECKED / 4, true),
            (LARGE / 4, true),
            (isize::MAX as usize, false),
        ];
        for (hint, reserved) in hints {
            let mut list = vec![1u32];
            reserve_hint(&mut list, hint);
            assert!(list == [1] && (list.capacity() > hint) == reserved, "{hint}: {}", list.capacity());
        }
        // A list of any length and address keeps its items when its pages change.
        let mut list: Vec<u32> = Vec::new();
        for number in 0..3 * LARGE as u32 {
            try_reserve(&mut list, 1).unwrap();
            list.push(number);
        }
        assert!(list.iter().copied().eq(0..3 * LARGE as u32));
    }
}
