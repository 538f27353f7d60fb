//! Parts of tables that are in the order of hashes: equal hashes are in equal parts of all tables.

/// The slots in the `part`th of `parts` equal ranges of hashes, with their hashes. The parts are a
/// power of two, and no more than there are slots.
pub(super) fn in_part<'s, S>(
    slots: &'s [S],
    part: usize,
    parts: usize,
    is_free: impl Fn(&S) -> bool + Copy + 's,
    hash: impl Fn(&S) -> u64 + 's,
) -> impl Iterator<Item = (u64, &'s S)> {
    let size = slots.len() / parts;
    let (start, end) = (part * size, (part + 1) * size);
    // What found its place taken is in the next free one.
    let beyond = slots[end..].iter().chain(&slots[..start]).take_while(move |slot| !is_free(slot));
    let own = slots[start..end].iter().filter(move |slot| !is_free(slot));
    let hashed = own.chain(beyond).map(move |slot| (hash(slot), slot));
    hashed.filter(move |(hash, _)| ((u128::from(*hash) * parts as u128) >> 64) as usize == part)
}
