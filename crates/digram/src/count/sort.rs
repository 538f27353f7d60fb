//! Sorting tables in place, with checks of the interrupt.

use std::cmp::Ordering;

use crate::error::Result;
use crate::interrupt::Interrupt;

/// The number of items sorted between two checks of the interrupt, which takes about ten milliseconds.
const CHECK_INTERVAL: usize = 1 << 16;

/// Moves the occupied slots to the front, sorted, and returns their number.
pub(super) fn sort_occupied<S: Copy>(
    slots: &mut [S],
    is_free: impl Fn(&S) -> bool,
    order: &impl Fn(&S, &S) -> Ordering,
    interrupt: &dyn Interrupt,
) -> Result<usize> {
    let mut occupied = 0;
    for index in 0..slots.len() {
        if !is_free(&slots[index]) {
            slots[occupied] = slots[index];
            occupied += 1;
        }
    }
    sort(&mut slots[..occupied], order, interrupt)?;
    Ok(occupied)
}

/// Sorts `items` in place.
pub(crate) fn sort<S>(
    items: &mut [S],
    order: &impl Fn(&S, &S) -> Ordering,
    interrupt: &dyn Interrupt,
) -> Result<()> {
    interrupt.check()?;
    if items.len() <= CHECK_INTERVAL {
        items.sort_unstable_by(order);
        return Ok(());
    }
    let middle = items.len() / 2;
    items.select_nth_unstable_by(middle, order);
    let (low, high) = items.split_at_mut(middle);
    sort(low, order, interrupt)?;
    sort(high, order, interrupt)
}
