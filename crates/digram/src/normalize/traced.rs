//! Text that was rewritten, with the origin of each byte.

use std::ops::Range;

use crate::error::Result;
use crate::memory;
use crate::utf8::decode;

/// A text, and for each of its bytes the range of the given text from which it came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traced {
    pub(crate) bytes: Vec<u8>,
    /// Ranges of whole characters; `None` if they are not recorded.
    pub(crate) origins: Option<Vec<[usize; 2]>>,
    /// Places between bytes, in ascending order, that stay between what these become.
    pub(super) marks: Vec<usize>,
}

impl Traced {
    /// An empty text.
    pub(crate) fn new(is_traced: bool) -> Traced {
        Traced { bytes: Vec::new(), origins: is_traced.then(Vec::new), marks: Vec::new() }
    }

    /// The given text that starts at an offset; each byte comes from its character.
    pub(crate) fn given(text: &[u8], offset: usize, is_traced: bool) -> Result<Traced> {
        let mut traced = Traced::new(is_traced);
        traced.push_given(text, offset)?;
        Ok(traced)
    }

    /// Appends a part of the given text, which starts at an offset.
    pub(crate) fn push_given(&mut self, text: &[u8], offset: usize) -> Result<()> {
        memory::try_reserve(&mut self.bytes, text.len())?;
        self.bytes.extend_from_slice(text);
        let Some(origins) = &mut self.origins else { return Ok(()) };
        memory::try_reserve(origins, text.len())?;
        let mut start = 0;
        while start < text.len() {
            let end = start + decode(&text[start..]).1;
            origins.extend(std::iter::repeat_n([offset + start, offset + end], end - start));
            start = end;
        }
        Ok(())
    }

    /// A part of the text.
    pub(crate) fn part(&self, range: Range<usize>) -> Result<Traced> {
        let mut part = Traced::new(self.origins.is_some());
        part.push_part(self, range)?;
        Ok(part)
    }

    /// Appends another text.
    pub(crate) fn push(&mut self, other: &Traced) -> Result<()> {
        self.push_part(other, 0..other.bytes.len())
    }

    /// Appends a part of another text.
    pub(crate) fn push_part(&mut self, other: &Traced, range: Range<usize>) -> Result<()> {
        memory::try_reserve(&mut self.bytes, range.len())?;
        self.bytes.extend_from_slice(&other.bytes[range.clone()]);
        if let (Some(origins), Some(others)) = (&mut self.origins, &other.origins) {
            memory::try_reserve(origins, range.len())?;
            origins.extend_from_slice(&others[range]);
        }
        Ok(())
    }
}

/// Writes a new form of a text from left to right.
pub(super) struct Rewriter<'a> {
    old: &'a Traced,
    /// The end of the old text that was read.
    position: usize,
    new: Traced,
    /// The number of marks whose new places are known.
    marked: usize,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(old: &'a Traced) -> Result<Rewriter<'a>> {
        let mut new = Traced::new(old.origins.is_some());
        memory::try_reserve(&mut new.bytes, old.bytes.len())?;
        if let Some(origins) = &mut new.origins {
            memory::try_reserve(origins, old.bytes.len())?;
        }
        memory::try_reserve(&mut new.marks, old.marks.len())?;
        Ok(Rewriter { old, position: 0, new, marked: 0 })
    }

    /// The end of the old text that was read.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// The length of the new text once the old one is kept up to an offset.
    #[inline]
    pub(super) fn len_until(&self, end: usize) -> usize {
        self.new.bytes.len() + end - self.position
    }

    /// Gives the marks before an offset of the old text their places, if the text up to there is kept or, with
    /// `is_kept` false, left out. A mark at the offset has its place before what is written for what follows.
    #[inline]
    fn mark_before(&mut self, end: usize, is_kept: bool) {
        while let Some(&mark) = self.old.marks.get(self.marked)
            && mark < end
        {
            let kept = if is_kept { mark - self.position } else { 0 };
            self.new.marks.push(self.new.bytes.len() + kept);
            self.marked += 1;
        }
    }

    /// Keeps the old text up to an offset.
    pub(super) fn keep_until(&mut self, end: usize) -> Result<()> {
        self.mark_before(end, true);
        self.new.push_part(self.old, std::mem::replace(&mut self.position, end)..end)
    }

    /// Leaves out the old text up to an offset.
    pub(super) fn skip_until(&mut self, end: usize) {
        self.mark_before(end, false);
        self.position = end;
    }

    /// Leaves out some characters.
    pub(super) fn skip_characters(&mut self, count: usize) {
        for _ in 0..count {
            let end = self.position + decode(&self.old.bytes[self.position..]).1;
            self.skip_until(end);
        }
    }

    /// Writes a character in place of the next one.
    pub(super) fn replace(&mut self, c: char) -> Result<()> {
        self.mark_before(self.position + 1, false);
        self.write(c, self.position)?;
        self.skip_characters(1);
        Ok(())
    }

    /// Writes a character in place of the next byte.
    pub(super) fn replace_byte(&mut self, c: char) -> Result<()> {
        self.write(c, self.position)?;
        self.position += 1;
        Ok(())
    }

    /// Writes bytes in place of as many, each of which comes from the one at its place. Both are ASCII.
    pub(super) fn replace_bytes(&mut self, new: &[u8]) -> Result<()> {
        let range = self.position..self.position + new.len();
        self.mark_before(range.end, true);
        memory::try_reserve(&mut self.new.bytes, new.len())?;
        self.new.bytes.extend_from_slice(new);
        if let (Some(new), Some(old)) = (&mut self.new.origins, &self.old.origins) {
            memory::try_reserve(new, range.len())?;
            new.extend_from_slice(&old[range.clone()]);
        }
        self.position = range.end;
        Ok(())
    }

    /// Writes a character that comes from what was read last, or at the start of the text from nothing.
    pub(super) fn insert(&mut self, c: char) -> Result<()> {
        self.write(c, self.position.wrapping_sub(1))
    }

    /// Writes a character that comes from the next one.
    pub(super) fn insert_before(&mut self, c: char) -> Result<()> {
        self.mark_before(self.position + 1, false);
        self.write(c, self.position)
    }

    /// Writes a character that comes from what the byte of the old text comes from.
    fn write(&mut self, c: char, byte: usize) -> Result<()> {
        let mut buffer = [0; 4];
        let bytes = c.encode_utf8(&mut buffer).as_bytes();
        memory::try_reserve(&mut self.new.bytes, bytes.len())?;
        self.new.bytes.extend_from_slice(bytes);
        if let (Some(new), Some(old)) = (&mut self.new.origins, &self.old.origins) {
            memory::try_reserve(new, bytes.len())?;
            let origin = old.get(byte).copied().unwrap_or([0, 0]);
            new.extend(std::iter::repeat_n(origin, bytes.len()));
        }
        Ok(())
    }

    /// The new text, with the rest of the old one.
    pub(super) fn finish(mut self) -> Result<Traced> {
        let end = self.old.bytes.len();
        self.keep_until(end)?;
        self.mark_before(end + 1, true);
        Ok(self.new)
    }
}
