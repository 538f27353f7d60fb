//! Errors for counts that exceed a limit.

use crate::error::{Error, Result};

/// The length of a pretoken as it is stored in counts.
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
    fn a_length_is_never_truncated() {
        assert_eq!(length(u32::MAX as usize), Ok(u32::MAX));
        // With a 32-bit `usize`, no length is too long.
        if let Ok(too_long) = usize::try_from(1u64 << 32) {
            let error = length(too_long).unwrap_err();
            assert!(error.to_string().contains("a pretoken of 4294967296 bytes"), "{error}");
        }
    }
}
