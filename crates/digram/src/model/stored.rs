//! A model as bytes, for another process of the same version; this is not a file format. Numbers have seven
//! bits per byte, the lowest first, and a bit that is set if more bytes follow. The bytes contain the
//! number of ids, the number of merges, and the id of the empty token plus one (0 if there is
//! none), the length of each token, the merges (left, right, and the difference to the id
//! of the previous merge), and the bytes of the tokens.

use super::Model;
use crate::error::{Error, Result};
use crate::merges::Merge;
use crate::vocabulary::{MAX_VOCAB_SIZE, Vocabulary};

impl Model {
    /// The tokens and merges as bytes, for [`Model::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let (bytes, ends) = self.vocabulary.ends();
        let merges = self.merges.in_order();
        let mut stored = Vec::with_capacity(bytes.len() + 2 * ends.len() + 7 * merges.len() + 8);
        write(&mut stored, ends.len() as u32);
        write(&mut stored, merges.len() as u32);
        write(&mut stored, self.vocabulary.empty().map_or(0, |id| id + 1));
        let mut previous_end = 0;
        for &end in ends {
            write(&mut stored, end - std::mem::replace(&mut previous_end, end));
        }
        let mut previous_id = 0;
        for merge in merges {
            write(&mut stored, merge.left);
            write(&mut stored, merge.right);
            write(&mut stored, merge.id.wrapping_sub(std::mem::replace(&mut previous_id, merge.id)));
        }
        stored.extend_from_slice(bytes);
        stored
    }

    /// The model that [`Model::to_bytes`] stored. Everything is checked again, so other bytes
    /// either fail or give a consistent model.
    pub fn from_bytes(stored: &[u8]) -> Result<Model> {
        let mut rest = stored;
        let mut read_next = || read(&mut rest).ok_or_else(invalid);
        let (size, merge_count) = (read_next()? as usize, read_next()? as usize);
        if size > MAX_VOCAB_SIZE || merge_count > MAX_VOCAB_SIZE {
            return Err(invalid());
        }
        let empty = read_next()?.checked_sub(1);
        let mut end = 0u32;
        let mut ends = Vec::with_capacity(size);
        for _ in 0..size {
            end = end.checked_add(read_next()?).ok_or_else(invalid)?;
            ends.push(end);
        }
        let mut id = 0u32;
        let mut merges = Vec::with_capacity(merge_count);
        for _ in 0..merge_count {
            let (left, right) = (read_next()?, read_next()?);
            id = id.wrapping_add(read_next()?);
            merges.push(Merge { left, right, id });
        }
        Model::new(Vocabulary::from_ends(rest.to_vec(), ends)?.with_empty(empty)?, merges)
    }
}

fn invalid() -> Error {
    Error::Vocabulary { reason: "these bytes are not stored tokens and merges.".into() }
}

fn write(stored: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        stored.push(number as u8 | 0x80);
        number >>= 7;
    }
    stored.push(number as u8);
}

#[inline]
fn read(rest: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in (0..u32::BITS).step_by(7) {
        let (&byte, remainder) = rest.split_first()?;
        *rest = remainder;
        let bits = u32::from(byte & 0x7f);
        number |= bits << shift;
        if bits << shift >> shift != bits {
            return None;
        }
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_models_are_restored_and_no_damage_panics() {
        let tokens: Vec<Option<Vec<u8>>> = (0..=255)
            .map(|byte| Some(vec![byte]))
            .chain([Some(b"ab".to_vec()), Some(vec![]), Some(b"abab".to_vec()), Some(vec![b'c'; 300])])
            .collect();
        let merges = vec![Merge { left: 97, right: 98, id: 256 }, Merge { left: 256, right: 256, id: 258 }];
        let model = Model::new(Vocabulary::new(tokens).unwrap(), merges).unwrap();
        let stored = model.to_bytes();
        let restored = Model::from_bytes(&stored).unwrap();
        assert_eq!(restored.vocabulary.ends(), model.vocabulary.ends());
        assert_eq!(restored.merges.in_order(), model.merges.in_order());

        let is_unchanged =
            |damaged: &[u8]| Model::from_bytes(damaged).map(|model| model.to_bytes() == damaged);
        let lengths = 4..stored.len() - 300;
        for offset in 0..stored.len() {
            assert!(is_unchanged(&stored[..offset]).is_err());
            for bit in 0..8 {
                let mut damaged = stored.clone();
                damaged[offset] ^= 1 << bit;
                assert_ne!(is_unchanged(&damaged), Ok(false), "byte {offset} of {lengths:?}");
            }
        }
    }
}
