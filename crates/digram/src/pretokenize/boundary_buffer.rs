//! A buffer that passes ends of pretokens to the caller in batches.

use std::mem::MaybeUninit;
use std::ops::ControlFlow;

/// The maximum number of ends that are kept.
const CAPACITY: usize = 128;

/// Ends are written in strides of this many, even if there are fewer.
pub(super) const STRIDE: usize = 8;

/// Ends that have not been passed on yet, and the function that takes them.
// In this order, so that the compiler does not write zeros from one number to the other: through all of `ends`.
#[repr(C)]
pub(super) struct BoundaryBuffer<V> {
    start: usize,
    /// The number of ends, which have been written.
    count: usize,
    /// Not initialized at first, which would take as long as splitting a short text.
    ends: [MaybeUninit<usize>; 2 * CAPACITY + STRIDE],
    visit: V,
}

impl<B, V: FnMut(usize, &[usize]) -> ControlFlow<B>> BoundaryBuffer<V> {
    pub(super) fn new(visit: V) -> BoundaryBuffer<V> {
        BoundaryBuffer { start: 0, count: 0, ends: [MaybeUninit::uninit(); 2 * CAPACITY + STRIDE], visit }
    }

    /// The end of the last pretoken.
    pub(super) fn last(&self) -> usize {
        match self.count {
            0 => self.start,
            // SAFETY: those that were counted have been written.
            count => unsafe { self.ends[count - 1].assume_init() },
        }
    }

    pub(super) fn push(&mut self, end: usize) -> ControlFlow<B> {
        self.make_room(1)?;
        self.ends[self.count].write(end);
        self.count += 1;
        ControlFlow::Continue(())
    }

    /// Adds an end. If it is the last one again, passes on all of them, and an empty batch.
    #[inline]
    pub(super) fn push_or_pause(&mut self, end: usize) -> ControlFlow<B> {
        if end == self.last() { self.pause() } else { self.push(end) }
    }

    /// Adds the ends of a block that begins at `start`, given as a mask.
    #[inline(always)]
    pub(super) fn extend(&mut self, start: usize, mut mask: u64) -> ControlFlow<B> {
        let count = mask.count_ones() as usize;
        self.make_room(count)?;
        let room = &mut self.ends[self.count..][..CAPACITY + STRIDE];
        self.count += count;
        // A loop over single ends would exit at an unpredictable count.
        for ends in room.chunks_exact_mut(STRIDE) {
            for end in ends {
                end.write(start + mask.trailing_zeros() as usize);
                mask &= mask.wrapping_sub(1);
            }
            if mask == 0 {
                break;
            }
        }
        ControlFlow::Continue(())
    }

    /// Passes on all ends, and then these, which follow them.
    #[inline]
    pub(super) fn pass_on_all(&mut self, ends: &[usize]) -> ControlFlow<B> {
        self.finish()?;
        match ends.last() {
            Some(&last) => (self.visit)(std::mem::replace(&mut self.start, last), ends),
            None => ControlFlow::Continue(()),
        }
    }

    /// Passes on all ends if `additional` further ones do not fit.
    #[inline(always)]
    fn make_room(&mut self, additional: usize) -> ControlFlow<B> {
        if self.count + additional <= CAPACITY { ControlFlow::Continue(()) } else { self.finish() }
    }

    /// Passes on all ends.
    pub(super) fn finish(&mut self) -> ControlFlow<B> {
        if self.count == 0 { ControlFlow::Continue(()) } else { self.pass_on() }
    }

    /// Passes on all ends and then an empty batch, so that the receiver can break.
    #[cold]
    pub(super) fn pause(&mut self) -> ControlFlow<B> {
        self.finish()?;
        self.pass_on()
    }

    fn pass_on(&mut self) -> ControlFlow<B> {
        let last = self.last();
        let (start, count) = (std::mem::replace(&mut self.start, last), std::mem::take(&mut self.count));
        let ends = &raw const self.ends[..count];
        // SAFETY: those that were counted have been written.
        (self.visit)(start, unsafe { &*(ends as *const [usize]) })
    }
}
