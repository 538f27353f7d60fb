//! What counts cannot hold.

use crate::error::{Error, Result};

/// The length of a pretoken of so many bytes, as counts hold it.
pub(super) fn length(bytes: usize) -> Result<u32> {
    u32::try_from(bytes).map_err(|_| Error::Limit {
        reason: format!(
            "a pretoken of {bytes} bytes is longer than 4 GiB. Use a pretokenizer that cuts the text."
        ),
    })
}

pub(super) fn too_far() -> Error {
    limit("a first occurrence lies beyond 2^64.")
}

pub(super) fn too_often() -> Error {
    limit("a pretoken was counted more than 2^64 times.")
}

pub(super) fn too_much() -> Error {
    limit("the counts add up to more than 2^64.")
}

pub(super) fn too_many_documents() -> Error {
    limit("the documents add up to more than 2^64.")
}

fn limit(reason: &str) -> Error {
    Error::Limit { reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_never_cut_short() {
        assert_eq!(length(u32::MAX as usize), Ok(u32::MAX));
        // Where a length has 32 bits, none is too long.
        if let Ok(more) = usize::try_from(1u64 << 32) {
            let error = length(more).unwrap_err();
            assert!(error.to_string().contains("a pretoken of 4294967296 bytes"), "{error}");
        }
    }
}
