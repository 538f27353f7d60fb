//! The steps of a decoding, each of which makes new tokens of a list of tokens, as Hugging Face's decoders do.

use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::normalize::finder;
use crate::pretokenize::{GoesOn, Pretokenizer};

use super::super::word_forms::CLEANED;
use super::DecodingStep;

/// From this size on, memory is checked when it grows.
const MIN_CHECKED: usize = 1 << 20;

/// A list of tokens, end to end in one text.
#[derive(Debug)]
pub(super) struct TokenList {
    text: String,
    ends: Vec<usize>,
    /// The text has at most this many bytes: some replacements in a row could make a text of any length out of one
    /// token.
    limit: usize,
}

impl TokenList {
    /// An empty list, whose text has at most `limit` bytes after any step.
    pub(super) fn new(limit: usize) -> TokenList {
        TokenList { text: String::new(), ends: Vec::new(), limit }
    }

    /// An empty list with room for a text.
    fn with_room(bytes: usize, tokens: usize, limit: usize) -> Result<TokenList> {
        let mut list = TokenList::new(limit);
        list.reserve(bytes)?;
        memory::try_reserve(&mut list.ends, tokens)?;
        Ok(list)
    }

    /// The tokens joined.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.text[std::mem::replace(&mut start, end)..end])
    }

    /// Adds to the token at the end of the list.
    fn write(&mut self, text: &str) -> Result<()> {
        self.reserve(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    /// Ends the token at the end of the list.
    fn end(&mut self) -> Result<()> {
        memory::try_reserve(&mut self.ends, 1)?;
        self.ends.push(self.text.len());
        Ok(())
    }

    /// Adds a token.
    pub(super) fn push(&mut self, token: &str) -> Result<()> {
        self.write(token)?;
        self.end()
    }

    fn reserve(&mut self, bytes: usize) -> Result<()> {
        if self.text.capacity() - self.text.len() >= bytes {
            return Ok(());
        }
        if self.text.len().saturating_add(bytes) > self.limit {
            let reason = format!("a step of the decoding makes a text of more than {} bytes.", self.limit);
            return Err(Error::Limit { reason });
        }
        let wanted = bytes.max(self.text.len());
        self.text.try_reserve(bytes).map_err(|_| Error::Memory { bytes: wanted })?;
        if self.text.capacity() < MIN_CHECKED { Ok(()) } else { memory::check_available(0) }
    }
}

/// A step, ready to be applied.
pub(super) enum Step {
    ByteLevel,
    WordPiece { prefix: String, cleans_up: bool },
    Metaspace { symbol: char, strips_first: bool },
    BpeDecoder { suffix: String },
    ByteFallback,
    Fuse,
    StripEnds { content: char, start: usize, stop: usize },
    Replace { pattern: String, content: String },
    ReplaceMatches { finder: Box<Pretokenizer>, content: String },
    Ctc { pad: String, word_delimiter: String, cleans_up: bool },
    Spaced,
}

impl Step {
    pub(super) fn new(step: DecodingStep) -> Result<Step> {
        Ok(match step {
            DecodingStep::ByteLevel => Step::ByteLevel,
            DecodingStep::WordPiece { prefix, cleans_up } => Step::WordPiece { prefix, cleans_up },
            DecodingStep::Metaspace { symbol, strips_first } => Step::Metaspace { symbol, strips_first },
            DecodingStep::BpeDecoder { suffix } => Step::BpeDecoder { suffix },
            DecodingStep::ByteFallback => Step::ByteFallback,
            DecodingStep::Fuse => Step::Fuse,
            DecodingStep::StripEnds { content, start, stop } => Step::StripEnds { content, start, stop },
            DecodingStep::Replace { pattern, content } => Step::Replace { pattern, content },
            DecodingStep::ReplaceMatches { regex, content } => {
                Step::ReplaceMatches { finder: Box::new(finder(regex)?), content }
            }
            DecodingStep::Ctc { pad, word_delimiter, cleans_up } => {
                Step::Ctc { pad, word_delimiter, cleans_up }
            }
            DecodingStep::Spaced => Step::Spaced,
        })
    }

    /// The name of a step that needs the whole list of tokens; `None` if it makes one token of each, which depends on
    /// that one and on whether it is the first.
    pub(super) fn needs_whole_list(&self) -> Option<&'static str> {
        match self {
            Step::ByteLevel => Some("ByteLevel"),
            Step::BpeDecoder { .. } => Some("BpeDecoder"),
            Step::ByteFallback => Some("ByteFallback"),
            Step::Fuse => Some("Fuse"),
            Step::Ctc { .. } => Some("Ctc"),
            Step::WordPiece { .. }
            | Step::Metaspace { .. }
            | Step::StripEnds { .. }
            | Step::Replace { .. }
            | Step::ReplaceMatches { .. }
            | Step::Spaced => None,
        }
    }

    /// Fails if the step puts U+FFFD for bytes of these tokens, since they are not UTF-8. The place of the error is that
    /// in the text which the step makes.
    pub(super) fn check_invalid(&self, tokens: &TokenList, interrupt: &dyn Interrupt) -> Result<()> {
        let invalid = |offset| Err(Error::DecodedInvalidUtf8 { offset });
        match self {
            Step::ByteLevel => {
                let bytes = bytes_of_letters(tokens, interrupt)?;
                std::str::from_utf8(&bytes).map_or_else(|error| invalid(error.valid_up_to()), |_| Ok(()))
            }
            Step::ByteFallback => {
                let (mut row, mut len, mut pacer) = (Vec::new(), 0, Pacer::new(interrupt));
                for token in tokens.iter() {
                    pacer.after_text(token.len())?;
                    if let Some(byte) = byte_named(token) {
                        memory::try_reserve(&mut row, 1)?;
                        row.push(byte);
                        continue;
                    }
                    if let Err(error) = std::str::from_utf8(&row) {
                        return invalid(len + error.valid_up_to());
                    }
                    len += row.len() + token.len();
                    row.clear();
                }
                std::str::from_utf8(&row).map_or_else(|error| invalid(len + error.valid_up_to()), |_| Ok(()))
            }
            _ => Ok(()),
        }
    }

    /// Whether the step puts U+FFFD for bytes that are not UTF-8.
    pub(super) fn replaces_invalid(&self) -> bool {
        matches!(self, Step::ByteLevel | Step::ByteFallback)
    }

    /// The list after the step. `is_begun` says whether there are tokens before the list.
    pub(super) fn apply(
        &self,
        tokens: &TokenList,
        is_begun: bool,
        interrupt: &dyn Interrupt,
    ) -> Result<TokenList> {
        let mut out = TokenList::with_room(tokens.text.len(), tokens.len(), tokens.limit)?;
        match self {
            Step::ByteLevel => byte_level(tokens, &mut out, interrupt)?,
            Step::ByteFallback => byte_fallback(tokens, &mut out, interrupt)?,
            Step::Fuse => out.push(&tokens.text)?,
            Step::Ctc { pad, word_delimiter, cleans_up } => {
                ctc(tokens, (pad, word_delimiter, *cleans_up), &mut out, interrupt)?;
            }
            _ => {
                let mut pacer = Pacer::new(interrupt);
                for (index, token) in tokens.iter().enumerate() {
                    let start = out.text.len();
                    let is_last = index + 1 == tokens.len();
                    self.write_one(token, !is_begun && index == 0, is_last, &mut out, interrupt)?;
                    out.end()?;
                    pacer.after_text(token.len() + out.text.len() - start)?;
                }
            }
        }
        Ok(out)
    }

    /// Writes what a step makes of one token.
    fn write_one(
        &self,
        token: &str,
        is_first: bool,
        is_last: bool,
        out: &mut TokenList,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        match self {
            Step::WordPiece { prefix, cleans_up } => {
                let (space, word) = match token.strip_prefix(&prefix[..]) {
                    _ if is_first => ("", token),
                    Some(rest) => ("", rest),
                    None => (" ", token),
                };
                if *cleans_up {
                    return out.write(&cleaned(&[space, word].concat(), out.limit, interrupt)?);
                }
                out.write(space)?;
                out.write(word)
            }
            Step::Metaspace { symbol, strips_first } => {
                let content = if is_first && *strips_first { "" } else { " " };
                let mut utf8 = [0; char::MAX.len_utf8()];
                replace(token, symbol.encode_utf8(&mut utf8), content, out, interrupt)
            }
            Step::BpeDecoder { suffix } => {
                replace(token, suffix, if is_last { "" } else { " " }, out, interrupt)
            }
            Step::StripEnds { content, start, stop } => {
                let is_content = |&c: &char| c == *content;
                let before: usize =
                    token.chars().take(*start).take_while(is_content).map(char::len_utf8).sum();
                let rest = &token[before..];
                let behind: usize =
                    rest.chars().rev().take(*stop).take_while(is_content).map(char::len_utf8).sum();
                out.write(&rest[..rest.len() - behind])
            }
            // As the library, which does not search empty tokens for an empty pattern.
            Step::Replace { .. } if token.is_empty() => Ok(()),
            Step::Replace { pattern, content } => replace(token, pattern, content, out, interrupt),
            Step::ReplaceMatches { finder, content } => {
                let bytes = token.as_bytes();
                finder.for_many(bytes, 0, GoesOn::No, interrupt, |mut start, ends| {
                    for &end in ends {
                        let piece = std::mem::replace(&mut start, end)..end;
                        let is_match = finder.is_match(bytes, piece.clone());
                        out.write(if is_match { content } else { &token[piece] })?;
                    }
                    Ok(())
                })?;
                Ok(())
            }
            Step::Spaced => {
                out.write(if is_first { "" } else { " " })?;
                out.write(token)
            }
            _ => unreachable!("the other steps are applied to lists"),
        }
    }
}

/// Writes `text` with one text in place of another; an empty one is at both sides of each character.
fn replace(text: &str, from: &str, to: &str, out: &mut TokenList, interrupt: &dyn Interrupt) -> Result<()> {
    let mut pacer = Pacer::new(interrupt);
    let mut done = 0;
    for (start, found) in text.match_indices(from) {
        out.write(&text[done..start])?;
        out.write(to)?;
        pacer.after(start - done + to.len() + 1)?;
        done = start + found.len();
    }
    out.write(&text[done..])
}

/// A text without the spaces that `cleanup` leaves out.
fn cleaned(text: &str, limit: usize, interrupt: &dyn Interrupt) -> Result<String> {
    CLEANED.iter().try_fold(text.to_owned(), |text, (from, to)| {
        let mut out = TokenList::with_room(text.len(), 0, limit)?;
        replace(&text, from, to, &mut out, interrupt)?;
        Ok(out.text)
    })
}

/// The bytes of the letters of all tokens, as one token; a token with other characters is its UTF-8.
fn byte_level(tokens: &TokenList, out: &mut TokenList, interrupt: &dyn Interrupt) -> Result<()> {
    out.push(&String::from_utf8_lossy(&bytes_of_letters(tokens, interrupt)?))
}

/// The bytes of the letters of all tokens, end to end.
fn bytes_of_letters(tokens: &TokenList, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    memory::try_reserve(&mut bytes, tokens.text.len())?;
    let mut pacer = Pacer::new(interrupt);
    for token in tokens.iter() {
        append_letters(token, &mut bytes);
        pacer.after_text(token.len())?;
    }
    Ok(bytes)
}

/// Appends the bytes whose letters a token is, or its UTF-8 if it has other characters. There must be room.
pub(super) fn append_letters(token: &str, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    for letter in token.chars() {
        match byte_of_letter(letter) {
            Some(byte) => bytes.push(byte),
            None => {
                bytes.truncate(start);
                bytes.extend_from_slice(token.as_bytes());
                return;
            }
        }
    }
}

/// The byte that GPT-2 writes as a letter: printable characters of Latin-1 stand for themselves, and the other bytes
/// are the letters from U+0100 on, in order.
fn byte_of_letter(letter: char) -> Option<u8> {
    match u32::from(letter) {
        code @ (0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff) => u8::try_from(code).ok(),
        code @ 0x100..=0x120 => u8::try_from(code - 0x100).ok(),
        code @ 0x121..=0x142 => u8::try_from(code - 0x121 + 0x7f).ok(),
        0x143 => Some(0xad),
        _ => None,
    }
}

/// Tokens of bytes, such as `<0x41>`, become the character of all bytes in a row, or U+FFFD for each byte of a row that
/// is not UTF-8.
fn byte_fallback(tokens: &TokenList, out: &mut TokenList, interrupt: &dyn Interrupt) -> Result<()> {
    let mut row: Vec<u8> = Vec::new();
    let mut pacer = Pacer::new(interrupt);
    let finish = |row: &mut Vec<u8>, out: &mut TokenList| {
        match std::str::from_utf8(row) {
            Ok("") => {}
            Ok(text) => out.push(text)?,
            Err(_) => row.iter().try_for_each(|_| out.push("\u{fffd}"))?,
        }
        row.clear();
        Ok(())
    };
    for token in tokens.iter() {
        pacer.after_text(token.len())?;
        match byte_named(token) {
            Some(byte) => {
                memory::try_reserve(&mut row, 1)?;
                row.push(byte);
            }
            None => {
                finish(&mut row, out)?;
                out.push(token)?;
            }
        }
    }
    finish(&mut row, out)
}

/// The byte of a token such as `<0x41>`. As in the library, one digit may be a plus sign before it.
fn byte_named(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() == 2 { u8::from_str_radix(digits, 16).ok() } else { None }
}

/// Each token once where it is repeated, without the pad token, and with spaces for the delimiter of words.
fn ctc(
    tokens: &TokenList,
    (pad, word_delimiter, cleans_up): (&str, &str, bool),
    out: &mut TokenList,
    interrupt: &dyn Interrupt,
) -> Result<()> {
    let mut pacer = Pacer::new(interrupt);
    let mut previous = None;
    for token in tokens.iter() {
        pacer.after_text(token.len())?;
        if previous.replace(token) == Some(token) {
            continue;
        }
        let start = out.text.len();
        if cleans_up {
            let mut one = TokenList::with_room(token.len(), 0, tokens.limit)?;
            replace(token, pad, "", &mut one, interrupt)?;
            replace(&cleaned(&one.text, tokens.limit, interrupt)?, word_delimiter, " ", out, interrupt)?;
        } else {
            replace(token, pad, "", out, interrupt)?;
        }
        if out.text.len() > start {
            out.end()?;
        }
    }
    Ok(())
}
