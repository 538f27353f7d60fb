//! Making a `str` from UTF-8.
//!
//! Python's own function looks at the bytes twice, one character in a step, and may copy them once more. Where
//! the layout of a `str` is known, the characters are written where they stay.

use std::ffi::{c_char, c_void};
use std::mem::{self, MaybeUninit};

use digram::heap;
use digram::transcode::{self, Survey, Unit, Width};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

use crate::strings;

/// CPython's `PyUnicode_New`: a `str` of a length, whose characters are not set yet, and the highest of which is
/// up to a limit.
type New = unsafe extern "C" fn(ffi::Py_ssize_t, u32) -> *mut ffi::PyObject;

/// How a `str` is made.
#[derive(Clone, Copy)]
struct Maker {
    new: New,
    /// The offset of the characters in an ASCII object, and in another one.
    offsets: [usize; 2],
}

/// A `str` of bytes, or `None` if they are not valid UTF-8, or Python's own function has to be called.
#[inline]
pub(crate) fn valid<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Option<Bound<'py, PyString>>> {
    static KNOWN: PyOnceLock<Option<Maker>> = PyOnceLock::new();
    match *KNOWN.get_or_init(py, || Maker::tested(py).unwrap_or(None)) {
        // SAFETY: it was tested.
        Some(maker) => unsafe { maker.make(py, bytes) },
        None => Ok(None),
    }
}

impl Maker {
    /// As [`valid`].
    ///
    /// # Safety
    ///
    /// The function is `PyUnicode_New`, and the offsets are those of this Python.
    unsafe fn make<'py>(self, py: Python<'py>, bytes: &[u8]) -> PyResult<Option<Bound<'py, PyString>>> {
        let Survey { characters, width } = transcode::survey(bytes);
        if characters < 2 {
            // Python keeps one object for each such text.
            return Ok(None);
        }
        // SAFETY: a width that is found in valid text is that of one of its characters, as Python requires.
        // What is not valid, is not returned.
        unsafe {
            match width {
                Width::Ascii => self.fill(py, 0x7f, characters, |units: &mut [MaybeUninit<u8>]| {
                    units.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
                    true
                }),
                Width::One => self.converted::<u8>(py, 0xff, characters, bytes),
                Width::Two => self.converted::<u16>(py, 0xffff, characters, bytes),
                Width::Four => self.converted::<u32>(py, 0x10_ffff, characters, bytes),
            }
        }
    }

    /// A `str` of text whose widest character has the width of `U`.
    ///
    /// # Safety
    ///
    /// As [`Maker::make`]; `highest` belongs to this width.
    unsafe fn converted<'py, U: Unit>(
        self,
        py: Python<'py>,
        highest: u32,
        characters: usize,
        bytes: &[u8],
    ) -> PyResult<Option<Bound<'py, PyString>>> {
        // SAFETY: as the caller promises; all units are written if the conversion says so.
        unsafe {
            self.fill(py, highest, characters, |units: &mut [MaybeUninit<U>]| {
                transcode::convert(bytes, units)
            })
        }
    }

    /// A `str` whose characters `write` writes; `None` if it is false.
    ///
    /// # Safety
    ///
    /// As [`Maker::make`]; a `str` up to `highest` has units of this type, and `write` writes all of them if it
    /// is true.
    #[inline]
    unsafe fn fill<'py, U>(
        self,
        py: Python<'py>,
        highest: u32,
        characters: usize,
        write: impl FnOnce(&mut [MaybeUninit<U>]) -> bool,
    ) -> PyResult<Option<Bound<'py, PyString>>> {
        let offset = self.offsets[usize::from(highest > 0x7f)];
        // SAFETY: the object is new, so nobody else reads it. It has memory for this many characters, from the
        // offset on.
        unsafe {
            let object = (self.new)(characters as ffi::Py_ssize_t, highest);
            let object = Bound::from_owned_ptr_or_err(py, object)?;
            heap::provide_pages(object.as_ptr().cast(), offset + characters * size_of::<U>());
            let first = object.as_ptr().cast::<u8>().add(offset).cast();
            let is_valid = write(std::slice::from_raw_parts_mut(first, characters));
            Ok(is_valid.then(|| object.cast_into_unchecked()))
        }
    }

    /// The maker of the running Python, if it makes what Python makes.
    fn tested(py: Python<'_>) -> PyResult<Option<Maker>> {
        let (Some(offsets), Some(new)) = (strings::offsets(py), new_function()) else { return Ok(None) };
        let maker = Maker { new, offsets };
        for sample in ["ASCII", "tést", "日本語 text", "\u{1f642} 日本"] {
            let expected = PyString::new(py, sample);
            let size = |text: &Bound<'_, PyString>| text.call_method0("__sizeof__")?.extract::<usize>();
            let [ascii, _] = offsets;
            if sample.is_ascii() && size(&expected)? != ascii + sample.len() + 1 {
                return Ok(None);
            }
            // SAFETY: the function has this name, and `str` objects have these offsets: those of others were
            // tested with the layout, and that of ASCII objects leaves just as much memory as they have.
            let Some(text) = (unsafe { maker.make(py, sample.as_bytes())? }) else { return Ok(None) };
            if !text.as_any().eq(&expected)?
                || text.hash()? != expected.hash()?
                || size(&text)? != size(&expected)?
            {
                return Ok(None);
            }
        }
        Ok(Some(maker))
    }
}

/// `PyUnicode_New`, which the stable ABI leaves out, if this process has it.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn new_function() -> Option<New> {
    unsafe extern "C" {
        fn dlsym(handle: *mut c_void, symbol: *const c_char) -> *mut c_void;
    }
    /// All libraries whose symbols are global, as Python's are where extensions are loaded.
    const GLOBAL: isize = if cfg!(target_os = "macos") { -2 } else { 0 };
    // SAFETY: the name ends with 0, and in all versions the function of this name has this type.
    unsafe {
        let function = dlsym(GLOBAL as *mut c_void, c"PyUnicode_New".as_ptr());
        mem::transmute::<*mut c_void, Option<New>>(function)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn new_function() -> Option<New> {
    None
}
