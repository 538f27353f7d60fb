//! From ids back to bytes and text.

use super::Tokenizer;
use super::batch::ALONE_BYTES;
use crate::error::{Error, Result};
use crate::vocabulary::TokenId;
use crate::watch::{Watch, in_parallel};

/// How decoded bytes that are no UTF-8 become text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnInvalid {
    /// U+FFFD stands for them.
    Replace,
    /// An error.
    Fail,
}

impl Tokenizer {
    /// Appends the bytes of `ids` to `bytes`; on an error `bytes` is as it was.
    pub fn decode(&self, ids: &[TokenId], bytes: &mut Vec<u8>) -> Result<()> {
        let before = bytes.len();
        for (index, &id) in ids.iter().enumerate() {
            match self.all.get(id) {
                Some(token) => bytes.extend_from_slice(token),
                None => {
                    bytes.truncate(before);
                    return Err(Error::TokenId { index, id, vocab_size: self.all.size() as u32 });
                }
            }
        }
        Ok(())
    }

    /// The text of `ids`.
    pub fn decode_text(&self, ids: &[TokenId], on_invalid: OnInvalid) -> Result<String> {
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        self.decode(ids, &mut bytes)?;
        String::from_utf8(bytes).or_else(|error| match on_invalid {
            OnInvalid::Replace => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
            OnInvalid::Fail => Err(Error::DecodedInvalidUtf8 { offset: error.utf8_error().valid_up_to() }),
        })
    }

    /// The texts of several sequences of ids, on up to `threads` threads.
    ///
    /// An error names the sequence by its index.
    pub fn decode_batch<T: AsRef<[TokenId]> + Sync>(
        &self,
        batch: &[T],
        on_invalid: OnInvalid,
        threads: usize,
        watch: &dyn Watch,
    ) -> std::result::Result<Vec<String>, (usize, Error)> {
        let ids: usize = batch.iter().map(|ids| ids.as_ref().len()).sum();
        let threads = if ids < ALONE_BYTES / 4 { 1 } else { threads };
        let size = batch.len().div_ceil(threads * 8).max(1);
        let texts = in_parallel(
            threads,
            batch.len().div_ceil(size),
            watch,
            || (),
            |(), task, _| {
                let range = task * size..batch.len().min((task + 1) * size);
                Ok(range
                    .map(|index| self.decode_text(batch[index].as_ref(), on_invalid).map_err(|e| (index, e)))
                    .collect())
            },
        );
        let texts: Vec<std::result::Result<Vec<String>, (usize, Error)>> =
            texts.map_err(|error| (0, error))?;
        Ok(texts.into_iter().collect::<std::result::Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}
