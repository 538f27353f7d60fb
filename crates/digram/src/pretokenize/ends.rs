//! Ends of pretokens on their way to the caller, some at a time.

use std::ops::ControlFlow;

/// The most ends handed on at once: as many as a block may have.
const MANY: usize = 64;

/// Ends are written so many at a time, whether or not there are as many.
const STRIDE: usize = 8;

/// The ends that were not handed on yet, and who takes them.
pub(super) struct Ends<V> {
    start: usize,
    ends: [usize; 2 * MANY + STRIDE],
    count: usize,
    visit: V,
}

impl<B, V: FnMut(usize, &[usize]) -> ControlFlow<B>> Ends<V> {
    pub(super) fn new(visit: V) -> Ends<V> {
        Ends { start: 0, ends: [0; 2 * MANY + STRIDE], count: 0, visit }
    }

    /// Where the last pretoken ends.
    pub(super) fn last(&self) -> usize {
        if self.count == 0 { self.start } else { self.ends[self.count - 1] }
    }

    pub(super) fn push(&mut self, end: usize) -> ControlFlow<B> {
        self.make_room(1)?;
        self.ends[self.count] = end;
        self.count += 1;
        ControlFlow::Continue(())
    }

    /// Adds the places of a block that begins at `start`.
    #[inline(always)]
    pub(super) fn extend(&mut self, start: usize, mut places: u64) -> ControlFlow<B> {
        let count = places.count_ones() as usize;
        self.make_room(count)?;
        let room = &mut self.ends[self.count..][..MANY + STRIDE];
        self.count += count;
        // A loop that ends after each of them would end where the processor does not expect it.
        for ends in room.chunks_exact_mut(STRIDE) {
            for end in ends {
                *end = start + places.trailing_zeros() as usize;
                places &= places.wrapping_sub(1);
            }
            if places == 0 {
                break;
            }
        }
        ControlFlow::Continue(())
    }

    /// Hands on all ends if not so many more can be handed on with them.
    #[inline(always)]
    fn make_room(&mut self, more: usize) -> ControlFlow<B> {
        if self.count + more <= MANY { ControlFlow::Continue(()) } else { self.finish() }
    }

    /// Hands on all ends.
    pub(super) fn finish(&mut self) -> ControlFlow<B> {
        if self.count == 0 { ControlFlow::Continue(()) } else { self.hand_on() }
    }

    /// Hands on all ends and then none, so that who takes them may break.
    #[cold]
    pub(super) fn pause(&mut self) -> ControlFlow<B> {
        self.finish()?;
        self.hand_on()
    }

    fn hand_on(&mut self) -> ControlFlow<B> {
        let last = self.last();
        let (start, count) = (std::mem::replace(&mut self.start, last), std::mem::take(&mut self.count));
        (self.visit)(start, &self.ends[..count])
    }
}
