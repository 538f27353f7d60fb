//! Parts of tables in hash order: the same hash is in the same part of each table.

/// The slots in the `part`th of `parts` equal ranges of hashes, with their hashes. `parts` is a
/// power of two and at most the number of slots.
pub(super) fn in_part<'s, S>(
    slots: &'s [S],
    part: usize,
    parts: usize,
    is_free: impl Fn(&S) -> bool + Copy + 's,
    hash: impl Fn(&S) -> u64 + 's,
) -> impl Iterator<Item = (u64, &'s S)> {
    let size = slots.len() / parts;
    let (start, end) = (part * size, (part + 1) * size);
    // Entries whose slot was occupied are in the next free one.
    let displaced = slots[end..].iter().chain(&slots[..start]).take_while(move |slot| !is_free(slot));
    let own = slots[start..end].iter().filter(move |slot| !is_free(slot));
    let hashed = own.chain(displaced).map(move |slot| (hash(slot), slot));
    hashed.filter(move |(hash, _)| ((u128::from(*hash) * parts as u128) >> 64) as usize == part)
}
