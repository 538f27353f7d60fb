//! A number that tells counts from others.

use crate::error::Result;
use crate::watch::Watch;

use super::{Piece, Pieces};

/// Pieces read between two questions to the watch.
const BETWEEN_CHECKS: u64 = 1 << 16;

/// Two odd numbers whose bits look like chance, one for each half.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// A number that counts share with others by chance only: it depends on each piece, its count and
/// its first occurrence, and not on their order, so that it is the same in memory and on disk. It is
/// no proof against somebody who looks for two that are alike. Linear in the pieces.
pub fn digest(counts: &dyn Pieces, watch: &dyn Watch) -> Result<u128> {
    let (mut sum, mut pieces) = (0u128, 0u64);
    counts.for_each(&mut |piece| {
        if pieces.is_multiple_of(BETWEEN_CHECKS) {
            watch.check()?;
        }
        pieces += 1;
        let [low, high] = FACTORS.map(|factor| of_piece(piece, factor));
        sum = sum.wrapping_add(u128::from(high) << 64 | u128::from(low));
        Ok(())
    })?;
    Ok(sum)
}

fn of_piece(piece: Piece<'_>, factor: u64) -> u64 {
    let step = |state: u64, word: u64| {
        let mixed = (state ^ word).wrapping_mul(factor);
        mixed ^ mixed >> 29
    };
    let (words, rest) = piece.bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    let state = words.chain([piece.count, piece.first]).fold(piece.bytes.len() as u64, step);
    // Each bit on all others: what is added up must not cancel out.
    (0..3).fold(state, |state, _| step(state ^ state >> 32, factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::Counts;
    use crate::watch::Unwatched;

    fn of(pieces: &[(&str, u64)]) -> u128 {
        digest(&Counts::from_pieces(pieces.iter().copied()).unwrap(), &Unwatched).unwrap()
    }

    #[test]
    fn any_difference_shows() {
        let some = of(&[("the", 2), ("cat", 1)]);
        assert_eq!(some, of(&[("the", 2), ("cat", 1)]));
        let others: [&[(&str, u64)]; 7] = [
            &[],
            &[("the", 2)],
            &[("the", 1), ("cat", 2)],
            &[("cat", 1), ("the", 2)],
            &[("the", 2), ("cat\0", 1)],
            &[("the", 2), ("cap", 1)],
            &[("the", 2), ("cat", 1), ("a", 1)],
        ];
        assert!(others.iter().all(|other| of(other) != some));
    }
}
