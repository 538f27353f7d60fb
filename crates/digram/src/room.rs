//! Memory that may not be there.
//!
//! Rust ends the process where an allocation fails, which a library must not do. So whatever grows
//! with what a caller gives is asked for here first, and leaves some room: what is allocated
//! without asking is small, and fits into that.

use std::collections::BinaryHeap;

use crate::error::{Error, Result};

/// The room that is left to all that is allocated without asking. An allocator maps so much on its
/// own and gives it back at once; less could change what glibc does with later allocations.
const SLACK: usize = 33 << 20;

/// Less than this is taken from the room that is left.
const LITTLE: usize = 1 << 20;

/// Whether this number of bytes, and a reserve, can be allocated now.
///
/// For work whose memory is known before it begins, and that allocates in many places.
pub fn check(bytes: usize) -> Result<()> {
    let mut probe: Vec<u8> = Vec::new();
    probe.try_reserve_exact(bytes.saturating_add(SLACK)).map_err(|_| Error::Memory { bytes })?;
    // Or the allocation that nobody reads would be left out.
    std::hint::black_box(&mut probe);
    Ok(())
}

/// So many bytes, or as many as there can be at all where addresses are shorter than files.
pub(crate) fn most(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// How many of this number of threads there is memory for.
///
/// A thread takes memory before it does anything, which the system maps for it alone, and the process
/// ends where there is none, whatever is free elsewhere. So this asks for new memory, not for some
/// that was used before, and for all threads at once: each of them, asked for alone, would be promised
/// what the ones before have not taken yet.
pub(crate) fn threads(wanted: usize) -> usize {
    let mut threads = wanted;
    while threads > 0 && !can_map(threads.saturating_mul(OF_THREAD).saturating_add(SLACK)) {
        threads = threads * 3 / 4;
    }
    threads
}

/// What a thread takes: its stack, and the address space that glibc's allocator keeps for it, which
/// no other thread can have.
const OF_THREAD: usize = (2 << 20) + if usize::BITS < 64 { 1 << 20 } else { 64 << 20 };

/// Whether so many bytes of address space are left.
fn can_map(bytes: usize) -> bool {
    #[cfg(unix)]
    {
        use libc::{MAP_ANONYMOUS, MAP_FAILED, MAP_NORESERVE, MAP_PRIVATE, PROT_NONE, mmap, munmap};
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        // SAFETY: a new mapping where the system wants it, which nobody knows and which is given back.
        unsafe {
            let found = mmap(std::ptr::null_mut(), bytes, PROT_NONE, flags, -1, 0);
            found != MAP_FAILED && munmap(found, bytes) == 0
        }
    }
    #[cfg(not(unix))]
    check(bytes).is_ok()
}

/// Reserves capacity for `more` additional items, or fails where there is no memory.
#[inline]
pub fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<()> {
    if items.capacity() - items.len() >= more { Ok(()) } else { grow(items, more) }
}

#[cold]
fn grow<T>(items: &mut Vec<T>, more: usize) -> Result<()> {
    // A list that grows takes as much again.
    let bytes = more.max(items.capacity()).saturating_mul(size_of::<T>());
    items.try_reserve(more).map_err(|_| Error::Memory { bytes })?;
    if items.capacity() * size_of::<T>() >= LITTLE { check(0) } else { Ok(()) }
}

/// Puts an item into a queue that there may be no memory for.
#[inline]
pub fn push<T: Ord>(queue: &mut BinaryHeap<T>, item: T) -> Result<()> {
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
    if queue.capacity() * size_of::<T>() >= LITTLE { check(0) } else { Ok(()) }
}

/// Makes a list of equal items, or fails where there is no memory.
pub fn filled<T: Clone>(item: T, count: usize) -> Result<Vec<T>> {
    let bytes = count.saturating_mul(size_of::<T>());
    if bytes >= LITTLE {
        check(bytes)?;
    }
    Ok(vec![item; count])
}

/// All of these in a list.
pub fn collected<T>(items: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let mut all = Vec::new();
    reserve(&mut all, items.size_hint().0)?;
    for item in items {
        reserve(&mut all, 1)?;
        all.push(item);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_an_error() {
        let most = isize::MAX as usize;
        assert_eq!(check(0), Ok(()));
        assert_eq!(check(most), Err(Error::Memory { bytes: most }));
        assert_eq!(check(usize::MAX), Err(Error::Memory { bytes: usize::MAX }));
        assert_eq!(filled(0u8, most), Err(Error::Memory { bytes: most }));
        assert_eq!(filled(7u16, 3), Ok(vec![7, 7, 7]));
        let mut list = vec![1u32];
        assert_eq!(reserve(&mut list, usize::MAX), Err(Error::Memory { bytes: usize::MAX }));
        assert_eq!(reserve(&mut list, 1 << 20), Ok(()));
        assert!(list == [1] && list.capacity() > 1 << 20);
        assert_eq!(collected(0..3), Ok(vec![0, 1, 2]));
    }
}
