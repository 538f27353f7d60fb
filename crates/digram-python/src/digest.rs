//! BLAKE3, which tells what files and documents hold: several times as fast as what Python's library
//! has, so that it costs little beside encoding.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;

use crate::convert::{Text, texts};
use crate::objects::Objects;

/// Bytes that are hashed at once: the hash is fast where it gets many.
const BLOCK: usize = 1 << 17;

/// A BLAKE3 digest of what comes in pieces.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Blake3(Mutex<blake3::Hasher>);

#[pymethods]
impl Blake3 {
    #[new]
    fn new() -> Self {
        Blake3(Mutex::new(blake3::Hasher::new()))
    }

    /// Takes the bytes of an object. Of what can be written to, each is read once, and those of a block
    /// while this thread has the GIL.
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
        let mut block = Vec::with_capacity(BLOCK);
        for start in (0..bytes.len()).step_by(BLOCK) {
            let len = BLOCK.min(bytes.len() - start);
            block.clear();
            // SAFETY: `data` holds the buffer until the end of this call, so there are as many bytes.
            // No reference to them is made, as they may be written to once the GIL is given up.
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

    /// Takes texts, each followed by its length in eight bytes, the lowest first.
    fn update_documents(&self, py: Python<'_>, documents: Objects<'_>) -> PyResult<()> {
        let texts: Vec<Text<'_>> = texts(&documents, "texts")?;
        let mut hasher = self.hasher(py);
        let hasher = &mut *hasher;
        py.detach(|| {
            let mut held = Vec::with_capacity(BLOCK + 8);
            for text in texts {
                let bytes = text.bytes();
                if held.len() + bytes.len() > BLOCK {
                    hasher.update(&held);
                    held.clear();
                }
                match bytes.len() {
                    0..BLOCK => held.extend_from_slice(bytes),
                    _ => _ = hasher.update(bytes),
                }
                held.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            }
            hasher.update(&held);
        });
        Ok(())
    }

    /// The digest of all so far, in hexadecimal: 64 digits.
    fn hexdigest(&self, py: Python<'_>) -> String {
        self.hasher(py).finalize().to_hex().to_string()
    }
}

impl Blake3 {
    fn hasher(&self, py: Python<'_>) -> MutexGuard<'_, blake3::Hasher> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}
