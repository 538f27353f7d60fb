//! Some memory that is set aside for when there is no other.
//!
//! Rust ends the process where an allocation fails. All that grows with what a caller gives asks
//! before (`digram::memory`), and raises `MemoryError`. What is left is small: the table of a thread, a
//! message. Where the system refuses that, it is taken from here, so that the work comes to its next
//! question, which is answered with no, and has what it takes to say so.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What is set aside: address space, of which no page is ever written to.
const SET_ASIDE: Layout = match Layout::from_size_align(8 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => panic!("a layout"),
};

/// What asks for so much knows what to do without.
const LARGE: usize = 1 << 20;

/// The system's allocator, with a reserve.
struct Reserved;

#[global_allocator]
static ALLOCATOR: Reserved = Reserved;

/// What is set aside, if it is.
static RESERVE: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// Sets memory aside if none is: at the beginning of all long work.
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
        // SAFETY: it was allocated just now, and nobody else has seen it.
        unsafe { System.dealloc(found, SET_ASIDE) };
    }
}

/// Gives the reserve back to the system; whether there was one.
#[cold]
fn release(size: usize) -> bool {
    if size >= LARGE {
        return false;
    }
    let found = RESERVE.swap(null_mut(), Ordering::AcqRel);
    if found.is_null() {
        return false;
    }
    // SAFETY: it was allocated with this layout, and the swap gave it to nobody else.
    unsafe { System.dealloc(found, SET_ASIDE) };
    true
}

// SAFETY: all that is given comes from the system's allocator, which keeps the contract; nothing here
// unwinds.
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
