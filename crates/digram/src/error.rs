//! What can go wrong, with the place where it did.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why an operation of this crate failed. Nothing was changed by the failed call.
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
    /// An option has a value that makes no sense.
    Option {
        /// Which option, its value, and what is allowed.
        reason: String,
    },
    /// An id is not in the vocabulary.
    TokenId {
        /// Its place among the ids that were given.
        index: usize,
        /// The id.
        id: u32,
        /// One more than the highest id there is.
        vocab_size: u32,
    },
    /// A character is in no token, and the vocabulary has no fallback for it.
    UnknownCharacter {
        /// The character.
        character: char,
        /// Where it starts in the text, in bytes.
        offset: usize,
    },
    /// A character vocabulary was given bytes that are no UTF-8.
    InvalidUtf8 {
        /// Where the first wrong byte stands, in bytes.
        offset: usize,
    },
    /// The decoded bytes are no UTF-8 and the caller asked for an error.
    DecodedInvalidUtf8 {
        /// Where the first wrong byte stands in the decoded bytes.
        offset: usize,
    },
    /// Text holds a special token where none may stand.
    SpecialToken {
        /// The special token.
        token: String,
        /// Where it starts in the text, in bytes.
        offset: usize,
    },
    /// A stated limit was passed.
    Limit {
        /// Which limit, and what to do.
        reason: String,
    },
    /// There are more distinct pretokens than counts in memory can number. On disk there may be more.
    TooManyPretokens,
    /// What was done before does not belong to this work.
    Checkpoint {
        /// Where they differ.
        reason: String,
    },
    /// The system could not read or write a file.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's number of the error, if it has one.
        errno: Option<i32>,
        /// What the system says.
        reason: String,
    },
    /// A file is not as it was written.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where, in bytes.
        offset: u64,
        /// What is wrong there.
        reason: String,
    },
    /// The system has not as much memory as the work needs.
    Memory {
        /// How many bytes were asked for at once.
        bytes: usize,
    },
    /// The caller asked to stop.
    Interrupted,
    /// A promise of this crate was broken.
    Internal {
        /// Which promise.
        reason: String,
    },
}

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What the system says about a file.
    pub(crate) fn of_file(error: &io::Error, path: &Path) -> Error {
        Error::Io { path: path.into(), errno: error.raw_os_error(), reason: error.kind().to_string() }
    }

    /// The same error in a text that holds, from byte `by` on, the one it was found in.
    pub(crate) fn shifted(mut self, by: usize) -> Error {
        if let Error::UnknownCharacter { offset, .. }
        | Error::InvalidUtf8 { offset }
        | Error::SpecialToken { offset, .. } = &mut self
        {
            *offset += by;
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
                let dots = if shown.len() < pattern.len() { "…" } else { "" };
                write!(f, "pattern {shown:?}{dots}: {reason}")
            }
            Error::Vocabulary { reason }
            | Error::Option { reason }
            | Error::Limit { reason }
            | Error::Checkpoint { reason }
            | Error::Internal { reason } => f.write_str(reason),
            Error::TooManyPretokens => {
                f.write_str("there are more than 2^32 distinct pretokens, which memory cannot hold together.")
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
            Error::InvalidUtf8 { offset } => {
                write!(f, "a character vocabulary needs UTF-8, and byte {offset} is none.")
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
                "{bytes} more bytes of memory cannot be had. Give the process more memory, or do less in one call."
            ),
            Error::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {}
