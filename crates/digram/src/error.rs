//! The error type of the crate: what went wrong, and where.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The error of an operation of this crate. A failed call changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A pattern is malformed or outside the supported syntax.
    Pattern {
        /// The pattern as it was given.
        pattern: String,
        /// What is wrong with it, and what to write instead.
        reason: String,
    },
    /// A vocabulary contradicts itself.
    Vocabulary {
        /// What is wrong, with ids and tokens.
        reason: String,
    },
    /// The value of an option is invalid.
    Option {
        /// Which option, its value, and what is allowed.
        reason: String,
    },
    /// An id is not in the vocabulary.
    TokenId {
        /// Its index in the list of ids.
        index: usize,
        /// The id.
        id: u32,
        /// The highest id of the vocabulary plus one.
        vocab_size: u32,
    },
    /// A character is in no token, and the vocabulary has no fallback for it.
    UnknownCharacter {
        /// The character.
        character: char,
        /// Where it starts in the text, in bytes.
        offset: usize,
    },
    /// A word is no token, and the vocabulary has no token for unknown words.
    UnknownWord {
        /// The word, or the beginning of a long one.
        word: String,
        /// Where it starts in the text, in bytes.
        offset: usize,
    },
    /// A character vocabulary got bytes that are not UTF-8.
    InvalidUtf8 {
        /// The offset of the first invalid byte.
        offset: usize,
    },
    /// A text with characters of fixed width contains a surrogate, which is not a character.
    Surrogate {
        /// Its index among the characters.
        index: usize,
    },
    /// The decoded bytes are not UTF-8, and the caller chose to fail in that case.
    DecodedInvalidUtf8 {
        /// The offset of the first invalid byte in the decoded bytes.
        offset: usize,
    },
    /// The text contains a special token, and the caller allows none.
    SpecialToken {
        /// The special token.
        token: String,
        /// Where it starts in the text, in bytes.
        offset: usize,
    },
    /// A documented limit was exceeded.
    Limit {
        /// Which limit, and what to do.
        reason: String,
    },
    /// More than 2^32 distinct pretokens: counts in memory cannot number them. Counts on disk can.
    TooManyPretokens,
    /// A checkpoint does not belong to this run.
    Checkpoint {
        /// The difference.
        reason: String,
    },
    /// The system could not read or write a file.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error number, if there is one.
        errno: Option<i32>,
        /// The operating system's message.
        reason: String,
    },
    /// A file is damaged.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The offset of the damage, in bytes.
        offset: u64,
        /// What is wrong there.
        reason: String,
    },
    /// The operating system refused memory that the operation needs.
    Memory {
        /// The size of the failed allocation, in bytes.
        bytes: usize,
    },
    /// The caller interrupted the operation.
    Interrupted,
    /// An invariant of this crate does not hold: a bug.
    Internal {
        /// Which invariant.
        reason: String,
    },
}

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The error for a failed file operation.
    pub(crate) fn of_file(error: &io::Error, path: &Path) -> Error {
        Error::Io { path: path.into(), errno: error.raw_os_error(), reason: error.kind().to_string() }
    }

    /// Moves the offset of the error by `by` bytes, for a text in which the faulty part starts at byte
    /// `by`.
    pub(crate) fn shifted(self, by: usize) -> Error {
        self.moved(|offset| offset + by)
    }

    /// Whether the error has an offset in the text.
    pub(crate) fn has_offset(&self) -> bool {
        matches!(
            self,
            Error::UnknownCharacter { .. }
                | Error::UnknownWord { .. }
                | Error::InvalidUtf8 { .. }
                | Error::SpecialToken { .. }
        )
    }

    /// Changes the offset of the error, which is in bytes of the text.
    pub(crate) fn moved(mut self, to: impl Fn(usize) -> usize) -> Error {
        if let Error::UnknownCharacter { offset, .. }
        | Error::UnknownWord { offset, .. }
        | Error::InvalidUtf8 { offset }
        | Error::SpecialToken { offset, .. } = &mut self
        {
            *offset = to(*offset);
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Pattern { pattern, reason } => {
                // A pattern can be any length; an error message should not.
                let shown: String = pattern.chars().take(80).collect();
                let ellipsis = if shown.len() < pattern.len() { "…" } else { "" };
                write!(f, "pattern {shown:?}{ellipsis}: {reason}")
            }
            Error::Vocabulary { reason }
            | Error::Option { reason }
            | Error::Limit { reason }
            | Error::Checkpoint { reason }
            | Error::Internal { reason } => f.write_str(reason),
            Error::TooManyPretokens => {
                f.write_str("there are more than 2^32 distinct pretokens, too many for counts in memory.")
            }
            Error::TokenId { index, id, vocab_size } => match vocab_size {
                0 => write!(f, "ids[{index}] = {id}, but this vocabulary is empty."),
                n if id < n => {
                    write!(f, "ids[{index}] = {id} has no token: the id is a hole in this vocabulary.")
                }
                n => write!(f, "ids[{index}] = {id} is not in this vocabulary (0..{}).", n - 1),
            },
            Error::UnknownCharacter { character, offset } => write!(
                f,
                "character {character:?} (U+{:04X}) at byte {offset} is in no token.",
                *character as u32
            ),
            Error::UnknownWord { word, offset } => {
                write!(f, "the word {word:?} at byte {offset} is no token.")
            }
            Error::InvalidUtf8 { offset } => {
                write!(f, "a character vocabulary needs UTF-8, and the text is not UTF-8 at byte {offset}.")
            }
            Error::Surrogate { index } => {
                write!(f, "the text has a surrogate, which is not a character, at index {index}.")
            }
            Error::DecodedInvalidUtf8 { offset } => {
                write!(f, "the tokens' bytes are not UTF-8 at byte {offset} of the decoded text.")
            }
            Error::SpecialToken { token, offset } => {
                write!(f, "the text holds the special token {token:?} at byte {offset}.")
            }
            Error::Io { path, reason, .. } => write!(f, "{}: {reason}.", path.display()),
            Error::Corrupt { path, offset, reason } => {
                write!(f, "{}, byte {offset}: {reason}", path.display())
            }
            Error::Memory { bytes } => write!(
                f,
                "cannot allocate {bytes} more bytes of memory. Give the process more memory, or do less in one call."
            ),
            Error::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {}
