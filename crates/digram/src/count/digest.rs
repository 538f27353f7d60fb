//! A digest of counts.

use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};

use super::{Piece, Pieces};

/// Two odd numbers with random-looking bits, one for each half of the digest.
pub(super) const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// A digest of the pieces, their counts and first occurrences. It does not depend on their order, so
/// that it is the same in memory and on disk. It is not cryptographic: collisions can be constructed.
/// Time is linear in the bytes of the pieces.
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
    let mix = mixing_step(factor);
    let state = [piece.count, piece.first].into_iter().fold(hash(piece.bytes, factor), mix);
    // Each bit must affect all others, or sums of several pieces could cancel out.
    (0..3).fold(state, |state, _| mix(state ^ state >> 32, factor))
}

/// A hash of `bytes`. A change of any aligned eight bytes changes it, because each step is invertible.
pub(super) fn hash(bytes: &[u8], factor: u64) -> u64 {
    let (chunks, remainder) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..remainder.len()].copy_from_slice(remainder);
    let chunks = chunks.iter().chain([&last]).map(|chunk| u64::from_le_bytes(*chunk));
    chunks.fold(bytes.len() as u64, mixing_step(factor))
}

fn mixing_step(factor: u64) -> impl Fn(u64, u64) -> u64 + Copy {
    move |state, word| {
        let product = (state ^ word).wrapping_mul(factor);
        product ^ product >> 29
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
        assert_eq!(hash(b"0123456789", FACTORS[0]), 0x6909_c9fc_4eed_d80e);
        assert_eq!(hash(b"01234567", FACTORS[1]), 0x5abf_4117_4fc1_1fb5);
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
