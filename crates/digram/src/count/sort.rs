//! Sorting tables where they lie, with somebody watching.

use std::cmp::Ordering;

use crate::error::Result;
use crate::interrupt::Interrupt;

/// Items sorted between two checks of the interrupt: about ten milliseconds.
const CHECK_INTERVAL: usize = 1 << 16;

/// Brings what is not free to the front, in order, and returns how many that are.
pub(super) fn sort_taken<S: Copy>(
    slots: &mut [S],
    is_free: impl Fn(&S) -> bool,
    order: &impl Fn(&S, &S) -> Ordering,
    interrupt: &dyn Interrupt,
) -> Result<usize> {
    let mut taken = 0;
    for at in 0..slots.len() {
        if !is_free(&slots[at]) {
            slots[taken] = slots[at];
            taken += 1;
        }
    }
    sort(&mut slots[..taken], order, interrupt)?;
    Ok(taken)
}

/// Brings all in order.
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
