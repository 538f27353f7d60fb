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
const SET_ASIDE: Layout = match Layout::from_size_align(8 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => panic!("a layout"),
};

/// Callers of allocations this large handle failure themselves.
const LARGE: usize = 1 << 20;

/// The system's allocator, with a reserve.
struct Reserved;

#[global_allocator]
static ALLOCATOR: Reserved = Reserved;

/// The reserve, if it is allocated.
static RESERVE: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// Allocates the reserve if there is none. Called at the start of all long operations.
#[inline]
pub(crate) fn refill() {
    if RESERVE.load(Ordering::Relaxed).is_null() {
        set_aside();
    }
}

#[cold]
fn set_aside() {
    // SAFETY: the size is not zero.
    let found = unsafe { System.alloc(SET_ASIDE) };
    if found.is_null() {
        return;
    }
    if RESERVE.compare_exchange(null_mut(), found, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        // SAFETY: it was allocated just above, and no other thread has seen it.
        unsafe { System.dealloc(found, SET_ASIDE) };
    }
}

/// Frees the reserve; returns whether there was one.
#[cold]
fn release(size: usize) -> bool {
    if size >= LARGE {
        return false;
    }
    let found = RESERVE.swap(null_mut(), Ordering::AcqRel);
    if found.is_null() {
        return false;
    }
    // SAFETY: it was allocated with this layout, and only this thread got it from the swap.
    unsafe { System.dealloc(found, SET_ASIDE) };
    true
}

// SAFETY: all memory comes from the system's allocator, which keeps the contract, and nothing here unwinds.
unsafe impl GlobalAlloc for Reserved {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let found = unsafe { System.alloc(layout) };
        if !found.is_null() || !release(layout.size()) {
            return found;
        }
        // SAFETY: the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let found = unsafe { System.alloc_zeroed(layout) };
        if !found.is_null() || !release(layout.size()) {
            return found;
        }
        // SAFETY: the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        let found = unsafe { System.realloc(memory, layout, size) };
        if !found.is_null() || !release(size) {
            return found;
        }
        // SAFETY: the same; where it failed, the memory is as it was.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}
