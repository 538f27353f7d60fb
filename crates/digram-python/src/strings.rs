//! Reading a `str` as Python stores it.
//!
//! The stable ABI gives the UTF-8 form of a `str`, which Python computes on one thread and keeps as long as the
//! `str`. The core converts texts faster, on all threads, and keeps nothing; for that it reads the characters
//! where they are, as CPython's own macros do. Their place is tested once, on known texts, and where it is
//! elsewhere, the UTF-8 form is taken.

use digram::text::Text;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

/// The offset of the number of characters in a `str` object, in bytes, and that of the flags.
const LEN: usize = size_of::<ffi::PyObject>();
const FLAGS: usize = LEN + 2 * size_of::<isize>();

/// Where a `str` object that is not ASCII has what.
#[derive(Clone, Copy)]
struct Layout {
    /// The lowest bit of the flags that is the number of bytes of a character. Three bits above it is the
    /// flag of objects that contain their characters, and then that of ASCII text.
    kind_bit: u32,
    /// The offset of the pointer to the UTF-8 form, which is null until it is computed.
    utf8: usize,
    /// The offset of the characters.
    characters: usize,
}

/// The layouts of CPython 3.11, of 3.12 and 3.13, and of 3.14.
const LAYOUTS: [Layout; 3] = [
    Layout { kind_bit: 2, utf8: 56, characters: 72 },
    Layout { kind_bit: 2, utf8: 48, characters: 56 },
    Layout { kind_bit: 16, utf8: 48, characters: 56 },
];

/// A `str` as it is stored, if it is ASCII or its UTF-8 form was not computed yet; `None` for other objects.
#[inline]
pub(crate) fn stored<'a>(object: &'a Bound<'_, PyAny>) -> Option<Text<'a>> {
    // That of a subclass may have another layout.
    if !object.is_exact_instance_of::<PyString>() {
        return None;
    }
    // SAFETY: the object is a `str`, and the layout was tested.
    known(object.py()).and_then(|layout| unsafe { layout.read(object) })
}

/// The offsets of the characters in `str` objects: in those of ASCII text, and in others.
pub(crate) fn offsets(py: Python<'_>) -> Option<[usize; 2]> {
    known(py).map(|layout| [layout.ascii(), layout.characters])
}

fn known(py: Python<'_>) -> Option<Layout> {
    static KNOWN: PyOnceLock<Option<Layout>> = PyOnceLock::new();
    *KNOWN.get_or_init(py, || known_layout(py).unwrap_or(None))
}

impl Layout {
    /// The offset of the characters of ASCII text.
    #[inline]
    fn ascii(self) -> usize {
        // These objects end where others have the length of the UTF-8 form.
        self.utf8 - size_of::<usize>()
    }

    /// As [`stored`], by this layout.
    ///
    /// # Safety
    ///
    /// The object is a `str`, of no subclass, and the layout is that of `str` objects.
    #[inline]
    unsafe fn read<'a>(self, object: &'a Bound<'_, PyAny>) -> Option<Text<'a>> {
        let object = object.as_ptr().cast::<u8>();
        // SAFETY: as the caller promises; the characters of a `str` never change.
        unsafe {
            let flags = object.add(FLAGS).cast::<u32>().read() >> self.kind_bit;
            let (kind, is_compact, is_ascii) = (flags & 7, flags >> 3 & 1, flags >> 4 & 1);
            let len = object.add(LEN).cast::<usize>().read();
            if is_compact == 1 && is_ascii == 1 {
                return Some(Text::Utf8(std::slice::from_raw_parts(object.add(self.ascii()), len)));
            }
            // An ASCII object ends before the pointer.
            if is_compact == 0 || !object.add(self.utf8).cast::<*const u8>().read().is_null() {
                return None;
            }
            let characters = object.add(self.characters);
            match kind {
                1 => Some(Text::Latin1(std::slice::from_raw_parts(characters, len))),
                2 => Some(Text::Ucs2(std::slice::from_raw_parts(characters.cast(), len))),
                4 => Some(Text::Ucs4(std::slice::from_raw_parts(characters.cast(), len))),
                _ => None,
            }
        }
    }
}

/// The layout of the running Python.
fn known_layout(py: Python<'_>) -> PyResult<Option<Layout>> {
    let name: String = py.import("sys")?.getattr("implementation")?.getattr("name")?.extract()?;
    if name != "cpython" {
        return Ok(None);
    }
    for layout in LAYOUTS {
        if layout.test(py)? {
            return Ok(Some(layout));
        }
    }
    Ok(None)
}

impl Layout {
    /// Whether this is the layout of new `str` objects.
    fn test(self, py: Python<'_>) -> PyResult<bool> {
        for (sample, kind) in [("tést", 1), ("日本語 text", 2), ("\u{1f642} 日本", 4), ("ASCII", 0)] {
            let text = PyString::new(py, sample);
            let size: usize = text.call_method0("__sizeof__")?.extract()?;
            let len = sample.chars().count();
            let expected = match kind {
                0 => self.ascii() + len + 1,
                _ => self.characters + (len + 1) * kind,
            };
            // So that all that is read for the flags of the text is in the object.
            if size != expected {
                return Ok(false);
            }
            // SAFETY: the object has this size, so it has as many characters, and all that is read is in it.
            let is_known = match unsafe { self.read(&text) } {
                None => false,
                Some(Text::Latin1(found)) => kind == 1 && equal(found, sample),
                Some(Text::Ucs2(found)) => kind == 2 && equal(found, sample),
                Some(Text::Ucs4(found)) => kind == 4 && equal(found, sample),
                Some(Text::Utf8(found)) => kind == 0 && found == sample.as_bytes(),
            };
            // Computes the UTF-8 form.
            let utf8 = text.to_str()?;
            // SAFETY: as above.
            if !is_known || utf8 != sample || unsafe { self.read(&text) }.is_some() != (kind == 0) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether characters are those of a text.
fn equal<C: Copy + Into<u32>>(characters: &[C], text: &str) -> bool {
    text.chars().map(u32::from).eq(characters.iter().map(|&character| character.into()))
}
