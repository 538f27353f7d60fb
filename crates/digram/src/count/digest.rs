//! A number that tells counts from others.

use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};

use super::{Piece, Pieces};

/// Two odd numbers whose bits look like chance, one for each half.
pub(super) const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// A number that counts share with others by chance only: it depends on each piece, its count and
/// its first occurrence, and not on their order, so that it is the same in memory and on disk. It is
/// no proof against somebody who looks for two that are alike. Linear in the pieces.
pub fn digest(counts: &dyn Pieces, interrupt: &dyn Interrupt) -> Result<u128> {
    let (mut sum, mut pacer) = (0u128, Pacer::new(interrupt));
    counts.for_each(&mut |piece| {
        pacer.after(1 + piece.bytes.len())?;
        let [low, high] = FACTORS.map(|factor| of_piece(piece, factor));
        sum = sum.wrapping_add(u128::from(high) << 64 | u128::from(low));
        Ok(())
    })?;
    Ok(sum)
}

fn of_piece(piece: Piece<'_>, factor: u64) -> u64 {
    let step = step_by(factor);
    let state = [piece.count, piece.first].into_iter().fold(mixed(piece.bytes, factor), step);
    // Each bit on all others: what is added up must not cancel out.
    (0..3).fold(state, |state, _| step(state ^ state >> 32, factor))
}

/// A number that changes with any eight bytes that stand together: each step can be undone.
pub(super) fn mixed(bytes: &[u8], factor: u64) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    words.fold(bytes.len() as u64, step_by(factor))
}

fn step_by(factor: u64) -> impl Fn(u64, u64) -> u64 + Copy {
    move |state, word| {
        let mixed = (state ^ word).wrapping_mul(factor);
        mixed ^ mixed >> 29
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::Counts;
    use crate::interrupt::Never;

    fn of(pieces: &[(&str, u64)]) -> u128 {
        digest(&Counts::from_pieces(pieces.iter().copied()).unwrap(), &Never).unwrap()
    }

    #[test]
    fn files_hold_these_numbers() {
        assert_eq!(mixed(b"0123456789", FACTORS[0]), 0x6909_c9fc_4eed_d80e);
        assert_eq!(mixed(b"01234567", FACTORS[1]), 0x5abf_4117_4fc1_1fb5);
        assert_eq!(of(&[("the", 2), ("cat", 1)]), 0x7e02_69bd_d26c_5207_99ef_d1f9_6935_65a5);
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
