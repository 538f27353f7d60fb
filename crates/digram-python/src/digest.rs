//! BLAKE3 digests of files and documents, several times as fast as the digests of Python's
//! library, so that they take little time compared to encoding.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;

use crate::convert::{Text, texts};
use crate::objects::Objects;

/// The number of bytes hashed at once: the hash is fast for large inputs.
const BLOCK_SIZE: usize = 1 << 17;

/// A BLAKE3 digest of data that arrives in pieces.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Blake3(Mutex<blake3::Hasher>);

#[pymethods]
impl Blake3 {
    #[new]
    fn new() -> Self {
        Blake3(Mutex::new(blake3::Hasher::new()))
    }

    /// Adds the bytes of an object. Each byte of a writable buffer is read once, and those of a block
    /// while this thread holds the GIL.
    fn update(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut hasher = self.hasher(py);
        let hasher = &mut *hasher;
        if let Ok(bytes) = data.cast::<PyBytes>() {
            let bytes = bytes.as_bytes();
            py.detach(|| _ = hasher.update(bytes));
            return Ok(());
        }
        let data = PyBuffer::<u8>::get(data)?;
        let Some(bytes) = data.as_slice_ptr() else {
            return Err(PyBufferError::new_err("the bytes do not lie one after the other"));
        };
        let mut block = Vec::with_capacity(BLOCK_SIZE);
        for start in (0..bytes.len()).step_by(BLOCK_SIZE) {
            let len = BLOCK_SIZE.min(bytes.len() - start);
            block.clear();
            // SAFETY: `data` keeps the buffer until the end of this call, so there are as many bytes.
            // No reference to them is created, because they may change when the GIL is released.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    bytes.as_ptr().cast::<u8>().add(start),
                    block.as_mut_ptr(),
                    len,
                );
                block.set_len(len);
            }
            py.detach(|| _ = hasher.update(&block));
        }
        Ok(())
    }

    /// Adds texts, each followed by its length in eight bytes, little-endian.
    fn update_documents(&self, py: Python<'_>, documents: Objects<'_>) -> PyResult<()> {
        let texts: Vec<Text<'_>> = texts(&documents, "texts")?;
        let mut hasher = self.hasher(py);
        let hasher = &mut *hasher;
        py.detach(|| {
            let mut buffer = Vec::with_capacity(BLOCK_SIZE + 8);
            for text in texts {
                let bytes = text.bytes();
                if buffer.len() + bytes.len() > BLOCK_SIZE {
                    hasher.update(&buffer);
                    buffer.clear();
                }
                match bytes.len() {
                    0..BLOCK_SIZE => buffer.extend_from_slice(bytes),
                    _ => _ = hasher.update(bytes),
                }
                buffer.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            }
            hasher.update(&buffer);
        });
        Ok(())
    }

    /// The digest of all data so far, in hexadecimal: 64 digits.
    fn hexdigest(&self, py: Python<'_>) -> String {
        self.hasher(py).finalize().to_hex().to_string()
    }
}

impl Blake3 {
    fn hasher(&self, py: Python<'_>) -> MutexGuard<'_, blake3::Hasher> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}
