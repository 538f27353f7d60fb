//! Memory of the heap in large pages, before many objects are made in it.
//!
//! Where memory is used for the first time, each page costs a fault: two fifths of the time of decoding a batch. The
//! heap grows by some pages at a time, which are therefore small ones. Here it grows to the end of a large page, which
//! the system then provides at once.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use linux as system;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use other as system;

/// For fewer bytes of objects, large pages are not worth it.
const MANY: usize = 4 << 20;

/// For fewer bytes, another large page is not worth it.
const FEW: usize = 512 << 10;

/// Allocations of less memory are not mappings of their own.
pub const MAPPED: usize = 128 << 10;

/// The heap while objects are made.
///
/// Nothing depends on it but time: memory is allocated and freed as by any other code.
#[derive(Default)]
pub struct GrowingHeap {
    state: system::State,
    is_begun: bool,
}

impl GrowingHeap {
    /// To be called now and then, when objects of about `expected` bytes will still be made.
    #[inline]
    pub fn before(&mut self, expected: usize) {
        if expected >= if self.is_begun { FEW } else { MANY } {
            self.is_begun = true;
            self.state.grow();
        }
    }
}

/// Has the system provide all pages at once for new memory of `len` bytes which will be written, if it is large.
///
/// The memory must be that of a living allocation.
#[inline]
pub fn provide_pages(start: *mut u8, len: usize) {
    if len >= MAPPED && start.addr() % system::PAGE < 64 {
        system::provide_pages(start, len);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod linux {
    use std::ptr;
    use std::time::{Duration, Instant};

    use libc::{MADV_COLLAPSE, MADV_POPULATE_WRITE, c_void, madvise};

    use crate::memory::LARGE_PAGE;

    /// The size of the smallest pages that there are.
    pub(super) const PAGE: usize = 4096;

    /// The heap grows by blocks that are smaller than those which the allocator maps for themselves.
    const BLOCK: usize = 64 << 10;

    /// The most blocks at a time. The first ones may be in memory inside the heap that objects have left.
    const BLOCKS: usize = 3 * LARGE_PAGE / BLOCK;

    /// The faults of as many small pages take about as long.
    const SLOW: Duration = Duration::from_millis(1);

    #[derive(Default)]
    pub(super) struct State {
        /// The end of the heap after it had grown.
        end: usize,
        /// The block at the end, so that the allocator does not return the memory before it to the system.
        last: Option<Block>,
        is_useless: bool,
    }

    impl State {
        /// Lets the heap grow to the end of a large page, if it has grown since the last call.
        #[inline]
        pub(super) fn grow(&mut self) {
            if !self.is_useless && end_of_heap() != self.end {
                self.is_useless = self.grow_to_large_page().is_none();
            }
        }

        /// `None` if this is of no use: other threads have other heaps, and there are other allocators.
        #[cold]
        fn grow_to_large_page(&mut self) -> Option<()> {
            let before = end_of_heap();
            let large_page = before / LARGE_PAGE * LARGE_PAGE;
            let end = large_page + LARGE_PAGE;
            let mut blocks: Vec<Block> = Vec::with_capacity(BLOCKS);
            while blocks.last().is_none_or(|block| block.0.addr() + BLOCK < end) {
                if blocks.len() == BLOCKS {
                    // There is much free memory inside the heap.
                    self.end = end_of_heap();
                    return Some(());
                }
                let block = Block::new()?;
                // Blocks that were free before come first. The heap does not shrink.
                if block.0.addr() > end_of_heap() || end_of_heap() < before {
                    return None;
                }
                blocks.push(block);
            }
            let started = Instant::now();
            // SAFETY: a large page in place of small ones, which has the same contents. The memory is that of the
            // heap; if not all of it is, the system refuses.
            let is_large =
                unsafe { madvise(ptr::without_provenance_mut(large_page), LARGE_PAGE, MADV_COLLAPSE) };
            // Where memory is in pieces, the system may move others to make room, which takes longer than it saves.
            if is_large != 0 || started.elapsed() > SLOW {
                return None;
            }
            self.last = blocks.pop();
            self.end = end_of_heap();
            Some(())
        }
    }

    /// An allocated block.
    struct Block(*mut c_void);

    impl Block {
        fn new() -> Option<Block> {
            // SAFETY: an allocation of a size that is not 0.
            let block = unsafe { libc::malloc(BLOCK) };
            (!block.is_null()).then_some(Block(block))
        }
    }

    impl Drop for Block {
        fn drop(&mut self) {
            // SAFETY: it was allocated by `malloc`.
            unsafe { libc::free(self.0) };
        }
    }

    /// Where the heap ends.
    #[inline]
    fn end_of_heap() -> usize {
        // SAFETY: a question only.
        unsafe { libc::sbrk(0) }.addr()
    }

    #[cold]
    pub(super) fn provide_pages(start: *mut u8, len: usize) {
        let first = start.map_addr(|address| address.next_multiple_of(PAGE));
        let len = (start.addr() + len).saturating_sub(first.addr()) / PAGE * PAGE;
        // SAFETY: the pages are inside the memory, whose contents stay. A system that cannot do it refuses.
        unsafe { madvise(first.cast(), len, MADV_POPULATE_WRITE) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod other {
    pub(super) const PAGE: usize = 4096;

    #[derive(Default)]
    pub(super) struct State;

    impl State {
        pub(super) fn grow(&mut self) {}
    }

    pub(super) fn provide_pages(_: *mut u8, _: usize) {}
}
