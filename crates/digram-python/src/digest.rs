//! BLAKE3, which tells what files and documents hold: several times as fast as what Python's library
//! has, so that it costs little beside encoding.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;

use crate::convert::{Text, texts};

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

    /// Takes the bytes of a buffer that nobody changes meanwhile.
    fn update(&self, py: Python<'_>, data: PyBuffer<u8>) -> PyResult<()> {
        let Some(bytes) = data.as_slice_ptr() else {
            return Err(PyBufferError::new_err("the bytes do not lie one after the other"));
        };
        // Safety: the buffer is held until the end of this call. Who writes to it meanwhile from
        // another thread gets the digest of neither, as with `hashlib`.
        let bytes = unsafe { bytes.as_ref() };
        py.detach(|| _ = self.hasher().update(bytes));
        Ok(())
    }

    /// Takes texts, each followed by its length in eight bytes, the lowest first.
    fn update_documents(&self, py: Python<'_>, documents: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        let texts: Vec<Text<'_>> = texts(&documents, "texts")?;
        py.detach(|| {
            let mut hasher = self.hasher();
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
    fn hexdigest(&self) -> String {
        self.hasher().finalize().to_hex().to_string()
    }
}

impl Blake3 {
    fn hasher(&self) -> MutexGuard<'_, blake3::Hasher> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
