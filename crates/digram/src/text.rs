//! Texts in the forms in which Python stores a `str`, and their conversion to UTF-8.
//!
//! Python converts a `str` that is not ASCII on one thread, character by character, and keeps the result as long
//! as the `str`. Here each thread converts the texts that it encodes, eight characters or more at a time, into memory
//! that stays in a near cache and is used again for the next text.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use std::ops::Range;

use crate::cpu::SimdLevel;
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;

/// A text in UTF-8, or with a fixed number of bytes for each character.
#[derive(Debug, Clone, Copy)]
pub enum Text<'a> {
    /// Bytes, which need not be valid UTF-8.
    Utf8(&'a [u8]),
    /// Characters below U+0100.
    Latin1(&'a [u8]),
    /// Characters below U+10000.
    Ucs2(&'a [u16]),
    /// Characters.
    Ucs4(&'a [u32]),
}

impl<'a> Text<'a> {
    /// The number of bytes of a text in UTF-8, and of the characters of another one.
    #[allow(clippy::len_without_is_empty, reason = "lengths are compared with limits")]
    pub fn len(&self) -> usize {
        match self {
            Text::Utf8(bytes) => bytes.len(),
            Text::Latin1(characters) => characters.len(),
            Text::Ucs2(characters) => characters.len(),
            Text::Ucs4(characters) => characters.len(),
        }
    }

    /// The number of bytes in UTF-8; an estimate if the text has another form.
    pub fn len_hint(&self) -> usize {
        self.bytes_hint(self.len())
    }

    /// The largest number of bytes that a text of this form and length has in UTF-8.
    pub(crate) fn most_bytes(&self) -> usize {
        let of_character = match self {
            Text::Utf8(_) => 1,
            Text::Latin1(_) => 2,
            Text::Ucs2(_) => 3,
            Text::Ucs4(_) => 4,
        };
        self.len().saturating_mul(of_character)
    }

    /// The number of bytes in UTF-8 of a part of this [`len`](Text::len), as [`len_hint`](Text::len_hint).
    pub(crate) fn bytes_hint(&self, len: usize) -> usize {
        match self {
            Text::Utf8(_) => len,
            Text::Latin1(_) => len + len / 8,
            Text::Ucs2(_) | Text::Ucs4(_) => len.saturating_mul(2),
        }
    }

    /// A range of the text, in bytes of UTF-8 or in characters.
    pub(crate) fn part(self, range: &Range<usize>) -> Text<'a> {
        let range = range.clone();
        match self {
            Text::Utf8(bytes) => Text::Utf8(&bytes[range]),
            Text::Latin1(characters) => Text::Latin1(&characters[range]),
            Text::Ucs2(characters) => Text::Ucs2(&characters[range]),
            Text::Ucs4(characters) => Text::Ucs4(&characters[range]),
        }
    }

    /// The character at an index of a text that is not in UTF-8; `None` for a surrogate.
    pub(crate) fn character(&self, index: usize) -> Option<char> {
        match self {
            Text::Utf8(_) => None,
            Text::Latin1(characters) => Some(characters[index].into()),
            Text::Ucs2(characters) => char::from_u32(characters[index].into()),
            Text::Ucs4(characters) => char::from_u32(characters[index]),
        }
    }

    /// The number of bytes in UTF-8 of the text before `index`.
    pub(crate) fn bytes_before(&self, index: usize) -> usize {
        match self {
            Text::Utf8(_) => index,
            _ => (0..index).map(|index| self.character(index).map_or(0, char::len_utf8)).sum(),
        }
    }
}

/// A value that is a text.
pub trait AsText {
    /// The text.
    fn as_text(&self) -> Text<'_>;
}

impl AsText for Text<'_> {
    fn as_text(&self) -> Text<'_> {
        *self
    }
}

impl<T: AsRef<[u8]>> AsText for T {
    fn as_text(&self) -> Text<'_> {
        Text::Utf8(self.as_ref())
    }
}

/// The number of characters that are converted between two checks of memory and for interrupts.
const STEP: usize = 1 << 14;

/// The bytes that may be written beyond the last character.
const BEYOND: usize = 64;

/// Memory is kept from one text to the next up to this size.
const KEEP: usize = 1 << 20;

/// Converts texts to UTF-8, one after the other.
pub(crate) struct Utf8Converter {
    simd: SimdLevel,
    bytes: Vec<u8>,
}

impl Default for Utf8Converter {
    fn default() -> Utf8Converter {
        Utf8Converter::new()
    }
}

impl Utf8Converter {
    pub(crate) fn new() -> Utf8Converter {
        Utf8Converter { simd: SimdLevel::best(), bytes: Vec::new() }
    }

    /// A text in UTF-8, which is valid until the next call; an error if it contains a surrogate, which is not a
    /// character.
    pub(crate) fn utf8<'t>(&'t mut self, text: Text<'t>, interrupt: &dyn Interrupt) -> Result<&'t [u8]> {
        if self.bytes.capacity() > KEEP {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
        match text {
            Text::Utf8(bytes) => return Ok(bytes),
            Text::Latin1(characters) => self.convert(characters, interrupt)?,
            Text::Ucs2(characters) => self.convert(characters, interrupt)?,
            Text::Ucs4(characters) => self.convert(characters, interrupt)?,
        }
        Ok(&self.bytes)
    }

    /// Frees memory of more than `maximum` bytes.
    pub(crate) fn trim(&mut self, maximum: usize) {
        if self.bytes.capacity() > maximum {
            self.bytes = Vec::new();
        }
    }

    fn convert<C: Character>(&mut self, characters: &[C], interrupt: &dyn Interrupt) -> Result<()> {
        let mut pacer = Pacer::new(interrupt);
        for (number, part) in characters.chunks(STEP).enumerate() {
            memory::try_reserve(&mut self.bytes, part.len() * C::MAX_BYTES + BEYOND)?;
            let converted = match self.simd {
                // SAFETY: this level is chosen only where the processor has these instructions, and there is
                // memory for all bytes.
                #[cfg(target_arch = "x86_64")]
                SimdLevel::Avx512 => unsafe { avx512::append(part, &mut self.bytes) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                SimdLevel::Avx2 => unsafe { avx2::append(part, &mut self.bytes) },
                // SAFETY: there is memory for all bytes.
                SimdLevel::Plain => unsafe { append(part, &mut self.bytes) },
            };
            converted.map_err(|index| Error::Surrogate { index: number * STEP + index })?;
            pacer.after(part.len())?;
        }
        Ok(())
    }
}

/// A character of fixed width.
trait Character: Copy + Default {
    /// The maximum number of bytes in UTF-8.
    const MAX_BYTES: usize;

    /// Its code point.
    fn code(self) -> u32;
}

impl Character for u8 {
    const MAX_BYTES: usize = 2;

    #[inline(always)]
    fn code(self) -> u32 {
        self.into()
    }
}

impl Character for u16 {
    const MAX_BYTES: usize = 3;

    #[inline(always)]
    fn code(self) -> u32 {
        self.into()
    }
}

impl Character for u32 {
    const MAX_BYTES: usize = 4;

    #[inline(always)]
    fn code(self) -> u32 {
        self
    }
}

/// Characters as bytes, if all of them are ASCII.
#[inline(always)]
fn ascii<C: Character, const COUNT: usize>(characters: &[C; COUNT]) -> Option<[u8; COUNT]> {
    // Without an exit, so that it is compiled to vectors.
    let all = characters.iter().fold(0, |all, character| all | character.code());
    (all < 0x80).then(|| characters.map(|character| character.code() as u8))
}

/// Appends the UTF-8 form of characters; for a surrogate, its index is the error.
///
/// # Safety
///
/// `bytes` has the capacity for the longest form of all characters, and [`BEYOND`] bytes more.
unsafe fn append<C: Character>(characters: &[C], bytes: &mut Vec<u8>) -> std::result::Result<(), usize> {
    debug_assert!(bytes.capacity() - bytes.len() >= characters.len() * C::MAX_BYTES + BEYOND);
    let (out, mut len) = (bytes.as_mut_ptr(), bytes.len());
    let mut index = 0;
    while index < characters.len() {
        if let Some(ascii) = characters[index..].first_chunk::<16>().and_then(ascii) {
            // SAFETY: there is memory for a byte of each character.
            unsafe { out.add(len).cast::<[u8; 16]>().write(ascii) };
            (index, len) = (index + ascii.len(), len + ascii.len());
            continue;
        }
        for character in characters[index..].iter().take(16) {
            // SAFETY: there is memory for each character, and for more bytes.
            len += unsafe { append_one(character.code(), out.add(len)) }.ok_or(index)?;
            index += 1;
        }
    }
    // SAFETY: these bytes were written.
    unsafe { bytes.set_len(len) };
    Ok(())
}

/// Writes a character in UTF-8 and returns the number of its bytes; `None` if it is none.
///
/// # Safety
///
/// There is memory for four bytes.
#[inline(always)]
unsafe fn append_one(code: u32, out: *mut u8) -> Option<usize> {
    let character = char::from_u32(code)?;
    // The lowest six bits of each byte. Four bytes are always written, which needs no call.
    let [first, second, third, last] = [18, 12, 6, 0].map(|shift| (code >> shift & 0x3f) as u8 | 0x80);
    let bytes = match character.len_utf8() {
        1 => [code as u8, 0, 0, 0],
        2 => [third | 0xc0, last, 0, 0],
        3 => [second | 0xe0, third, last, 0],
        _ => [first | 0xf0, second, third, last],
    };
    // SAFETY: as the caller promises.
    unsafe { out.cast::<[u8; 4]>().write(bytes) };
    Some(character.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;

    /// The text in the forms that it can have.
    fn forms(text: &str) -> (Vec<u8>, Vec<u16>, Vec<u32>) {
        let codes = || text.chars().map(u32::from);
        (
            codes().filter_map(|code| code.try_into().ok()).collect(),
            codes().filter_map(|code| code.try_into().ok()).collect(),
            codes().collect(),
        )
    }

    #[test]
    fn all_characters_are_converted_at_every_place() {
        let mut converters: Vec<Utf8Converter> =
            SimdLevel::available().into_iter().map(|simd| simd.force(Utf8Converter::new)).collect();
        let all = ('\0'..=char::MAX).collect::<String>();
        // One character among ASCII, at each place of blocks that end anywhere.
        let limits = ['\0', '\x7f', '\u{80}', 'ÿ', '\u{100}', '\u{7ff}', '\u{800}', '\u{d7ff}', '\u{e000}'];
        let beyond = ['\u{ffff}', '\u{10000}', char::MAX];
        let short = limits.into_iter().chain(beyond).flat_map(|c| {
            (0..70).flat_map(move |place| {
                (0..35).map(move |rest| format!("{}{c}{}", "a".repeat(place), "é".repeat(rest)))
            })
        });
        let long = [all.clone(), all.repeat(2), "語a".repeat(STEP), "é".repeat(STEP + 1), String::new()];
        for text in short.chain(long) {
            let (latin1, ucs2, ucs4) = forms(&text);
            let (is_latin1, is_ucs2) =
                (text.chars().all(|c| c <= 'ÿ'), text.chars().all(|c| c <= '\u{ffff}'));
            for converter in &mut converters {
                let mut check = |form| {
                    let length = text.len();
                    let utf8 = converter.utf8(form, &Never).unwrap();
                    assert!(utf8 == text.as_bytes(), "{length} bytes {:?}", converter.simd);
                };
                check(Text::Utf8(text.as_bytes()));
                check(Text::Ucs4(&ucs4));
                if is_ucs2 {
                    check(Text::Ucs2(&ucs2));
                }
                if is_latin1 {
                    check(Text::Latin1(&latin1));
                }
            }
        }
    }

    #[test]
    fn surrogates_are_errors_with_their_places() {
        for simd in SimdLevel::available() {
            let mut converter = simd.force(Utf8Converter::new);
            for code in [0xd800, 0xdbff, 0xdc00, 0xdfff] {
                for index in [0, 1, 15, 16, 31, 32, 47, 100, STEP - 1, STEP, 2 * STEP + 5] {
                    for fill in [u16::from(b'a'), 0xe9, 0x8a9e] {
                        let mut ucs2 = vec![fill; index + 1 + index % 3 * 20];
                        ucs2[index] = code;
                        let ucs4: Vec<u32> = ucs2.iter().copied().map(u32::from).collect();
                        let error = Err(Error::Surrogate { index });
                        assert_eq!(converter.utf8(Text::Ucs2(&ucs2), &Never), error, "{simd:?}");
                        assert_eq!(converter.utf8(Text::Ucs4(&ucs4), &Never), error, "{simd:?}");
                    }
                }
            }
            // The next text is converted from its beginning.
            assert_eq!(converter.utf8(Text::Ucs2(&[0xe9]), &Never), Ok("é".as_bytes()));
        }
    }

    #[test]
    fn memory_of_a_long_text_is_freed() {
        let mut converter = Utf8Converter::new();
        converter.utf8(Text::Latin1(&vec![b'a'; 2 * KEEP]), &Never).unwrap();
        converter.utf8(Text::Latin1(b"a"), &Never).unwrap();
        assert!(converter.bytes.capacity() < KEEP);
    }
}
