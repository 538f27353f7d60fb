//! The pages of memory for many objects: provided before they are made, and kept for those of the next call.
//!
//! Where memory is used for the first time, each page costs a fault: two fifths of the time of decoding a batch. A call
//! that provides many pages takes two thirds of the time of their faults, or a sixth if they are large ones; memory that
//! stays in the process takes none.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use linux as system;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use other as system;

/// For fewer bytes of objects, providing pages is not worth it.
const MANY: usize = 2 << 20;

/// Allocations of less memory are not mappings of their own.
pub const MAPPED: usize = 128 << 10;

/// The heap while objects are made.
///
/// Nothing depends on it but time: memory is allocated and freed as by any other code. But if the heap grew for objects
/// of up to [`MOST_KEPT`] bytes, their memory stays in the process when they are freed, for those of the next call.
pub struct GrowingHeap {
    state: system::State,
    pages: PageSize,
    is_begun: bool,
    /// The number of bytes of all objects, as expected at the start.
    bytes: usize,
}

/// The size of the pages in which the heap grows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PageSize {
    /// The smallest ones. A virtual machine mostly has them, while its host may have to provide large ones first, which
    /// takes longer than all their faults: decoding many languages took 43 ms instead of 28.
    Small,
    /// Large ones, for objects of few bytes beside the tables of encoding, which have large pages too.
    Large,
}

/// The memory of more bytes of objects is returned to the system.
const MOST_KEPT: usize = 32 << 20;

impl GrowingHeap {
    /// A heap that grows in pages of this size.
    pub fn of(pages: PageSize) -> GrowingHeap {
        GrowingHeap { state: system::State::default(), pages, is_begun: false, bytes: 0 }
    }

    /// To be called now and then, when objects of about `expected` bytes will still be made.
    #[inline]
    pub fn before(&mut self, expected: usize) {
        if expected >= if self.is_begun { system::step(self.pages) } else { MANY } {
            self.bytes = self.bytes.max(expected);
            self.is_begun = true;
            self.state.grow(self.pages);
        }
    }
}

impl Drop for GrowingHeap {
    fn drop(&mut self) {
        if self.is_begun {
            self.state.end(self.bytes <= MOST_KEPT);
        }
    }
}

/// Has the system provide all pages at once for new memory of `len` bytes which will be written, if it is large.
///
/// The memory must be that of a living allocation.
#[inline]
pub fn provide_pages(start: *mut u8, len: usize) {
    // The allocator puts its own few bytes before an allocation that has pages of its own.
    if len >= MAPPED && start.addr() % system::PAGE < 64 {
        system::provide_pages(start, len);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod linux {
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, Ordering};

    use libc::{MADV_COLLAPSE, MADV_POPULATE_WRITE, c_int, c_void, madvise};

    use super::PageSize;
    use crate::memory::LARGE_PAGE;

    /// The size of the smallest pages that there are.
    pub(super) const PAGE: usize = 4096;

    /// The number of bytes by which the heap grows at least. With small pages, few enough that they are in the caches when
    /// they are written.
    pub(super) fn step(pages: PageSize) -> usize {
        match pages {
            PageSize::Small => 512 << 10,
            PageSize::Large => LARGE_PAGE,
        }
    }

    /// The heap grows by blocks that are smaller than those which the allocator maps for themselves.
    const BLOCK: usize = 64 << 10;

    /// The block behind the objects that were made last, or null. The allocator returns free memory to the system only
    /// from the end of the heap: without this block, the objects of each call would take new pages, which made decoding
    /// 12 MB of English again and again take twice as long.
    static BEHIND: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

    /// The most steps for which there are blocks. The first ones may be in memory inside the heap that objects have left.
    const STEPS: usize = 8;

    #[derive(Default)]
    pub(super) struct State {
        /// The end of the heap after it had grown.
        end: usize,
        /// The block at the end, so that the allocator does not return the memory before it to the system.
        last: Option<Block>,
        is_useless: bool,
    }

    impl State {
        /// Lets the heap grow, if it has grown since the last call.
        #[inline]
        pub(super) fn grow(&mut self, pages: PageSize) {
            if !self.is_useless && end_of_heap() != self.end {
                self.is_useless = self.grow_by_step(pages).is_none();
            }
        }

        /// To be called when all objects are made; `keeps` says whether their memory stays in the process, and that of
        /// the objects before.
        pub(super) fn end(&mut self, keeps: bool) {
            let farther = |block: &Block| block.0.addr() > BEHIND.load(Ordering::Relaxed).addr();
            let behind = self.last.take().filter(|block| keeps && farther(block));
            // Objects in memory of earlier ones have a block behind them already.
            if behind.is_none() && keeps {
                return;
            }
            let before = BEHIND.swap(behind.map_or(ptr::null_mut(), Block::into_raw), Ordering::Relaxed);
            if !before.is_null() {
                drop(Block(before));
            }
        }

        /// `None` if this is of no use: other threads have other heaps, and there are other allocators.
        #[cold]
        fn grow_by_step(&mut self, pages: PageSize) -> Option<()> {
            let (before, step) = (end_of_heap(), step(pages));
            let most = STEPS * step / BLOCK;
            let mut blocks: Vec<Block> = Vec::with_capacity(most);
            let end = |blocks: &[Block]| blocks.last().map_or(0, |block| block.0.addr() + BLOCK);
            let wanted = match pages {
                PageSize::Small => before + step,
                PageSize::Large => (before + step).next_multiple_of(LARGE_PAGE),
            };
            while end(&blocks) < wanted && blocks.len() < most {
                let block = Block::new()?;
                // The heap does not shrink.
                if block.0.addr() > end_of_heap() || end_of_heap() < before {
                    return None;
                }
                blocks.push(block);
            }
            // Otherwise there is much free memory inside the heap.
            if end(&blocks) > before && !provide(before, end(&blocks), pages) {
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

        fn into_raw(self) -> *mut c_void {
            std::mem::ManuallyDrop::new(self).0
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
        provide(start.addr(), start.addr() + len, PageSize::Small);
    }

    /// Provides the pages between two addresses, if the system can. In 16 MiB, faults for all pages took 8.4 ms, small
    /// pages 5.8, and large ones 1.3.
    fn provide(start: usize, end: usize, pages: PageSize) -> bool {
        // The objects in the large page in which the heap ended are moved, if the rest of it is worth that.
        let first = (start + LARGE_PAGE / 2) / LARGE_PAGE * LARGE_PAGE;
        let last = end / LARGE_PAGE * LARGE_PAGE;
        match pages == PageSize::Large && first < last && advise(first, last, MADV_COLLAPSE) {
            true => populate(start, first) && populate(last, end),
            false => populate(start, end),
        }
    }

    /// Provides the small pages between two addresses that are not there, if the system can.
    fn populate(start: usize, end: usize) -> bool {
        let (start, end) = (start.next_multiple_of(PAGE), end / PAGE * PAGE);
        start >= end || advise(start, end, MADV_POPULATE_WRITE)
    }

    fn advise(start: usize, end: usize, advice: c_int) -> bool {
        // SAFETY: the contents of all pages stay. Where pages are larger, or not all of them are there, or the system
        // does not know the advice, it refuses.
        unsafe { madvise(ptr::without_provenance_mut(start), end - start, advice) == 0 }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod other {
    use super::PageSize;

    pub(super) const PAGE: usize = 4096;

    pub(super) fn step(_: PageSize) -> usize {
        usize::MAX
    }

    #[derive(Default)]
    pub(super) struct State;

    impl State {
        pub(super) fn grow(&mut self, _: PageSize) {}

        pub(super) fn end(&mut self, _: bool) {}
    }

    pub(super) fn provide_pages(_: *mut u8, _: usize) {}
}
