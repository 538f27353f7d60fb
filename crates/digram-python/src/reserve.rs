//! A reserve of memory for when no other memory is left.
//!
//! Rust aborts the process if an allocation fails. All memory whose size depends on the input is checked
//! before (`digram::memory`), and raises `MemoryError`. The other allocations are small: a thread's table,
//! a message. If the system refuses one of those, it is served from this reserve, so that the operation
//! reaches its next check, which fails, and can still build the error.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The reserve: address space of which no page is ever written to.
const RESERVE_LAYOUT: Layout = match Layout::from_size_align(8 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => panic!("a layout"),
};

/// Callers of allocations this large handle failure themselves.
const LARGE: usize = 1 << 20;

/// The system's allocator, with a reserve.
struct ReserveAllocator;

#[global_allocator]
static ALLOCATOR: ReserveAllocator = ReserveAllocator;

/// The reserve, if it is allocated.
static RESERVE: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// Allocates the reserve if there is none. Called at the start of all long operations.
#[inline]
pub(crate) fn refill() {
    if RESERVE.load(Ordering::Relaxed).is_null() {
        allocate_reserve();
    }
}

#[cold]
fn allocate_reserve() {
    // SAFETY: the size is not zero.
    let memory = unsafe { System.alloc(RESERVE_LAYOUT) };
    if memory.is_null() {
        return;
    }
    if RESERVE.compare_exchange(null_mut(), memory, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        // SAFETY: it was allocated just above, and no other thread has seen it.
        unsafe { System.dealloc(memory, RESERVE_LAYOUT) };
    }
}

/// Frees the reserve; returns whether there was one.
#[cold]
fn release(size: usize) -> bool {
    if size >= LARGE {
        return false;
    }
    let memory = RESERVE.swap(null_mut(), Ordering::AcqRel);
    if memory.is_null() {
        return false;
    }
    // SAFETY: it was allocated with this layout, and only this thread got it from the swap.
    unsafe { System.dealloc(memory, RESERVE_LAYOUT) };
    true
}

// SAFETY: all memory comes from the system's allocator, which keeps the contract, and nothing here unwinds.
unsafe impl GlobalAlloc for ReserveAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees it.
        let allocated = unsafe { System.alloc(layout) };
        if !allocated.is_null() || !release(layout.size()) {
            return allocated;
        }
        // SAFETY: the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let allocated = unsafe { System.alloc_zeroed(layout) };
        if !allocated.is_null() || !release(layout.size()) {
            return allocated;
        }
        // SAFETY: the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        let reallocated = unsafe { System.realloc(memory, layout, size) };
        if !reallocated.is_null() || !release(size) {
            return reallocated;
        }
        // SAFETY: the same; after a failure the memory is unchanged.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}
