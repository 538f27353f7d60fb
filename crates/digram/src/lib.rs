//! Byte-pair encoding: split text into pretokens, count them, learn merges, encode and decode.
//!
//! ```
//! use digram::count::Counter;
//! use digram::pretokenize::{Pretokenizer, Stage};
//! use digram::train::{Options, train};
//! use digram::{OnSpecial, Tokenizer, Unwatched};
//!
//! let words = || Pretokenizer::new(&[Stage::Pattern(r"\s*\S+|\s+".into())]);
//! let mut counter = Counter::new(words()?);
//! counter.add(&["low low lower lowest"], 1, &Unwatched)?;
//! let trained = train(&counter.finish(&Unwatched)?, &Options::bytes(260), &[], &mut |_| Ok(()), &Unwatched)?;
//! let tokenizer = Tokenizer::new(trained.into_definition(words()?))?;
//!
//! let mut ids = Vec::new();
//! tokenizer.encode(b"lower", OnSpecial::Text, &Unwatched, &mut ids)?;
//! assert_eq!(ids, [257, 101, 114]);
//! assert_eq!(tokenizer.token(257), Some(&b"low"[..]));
//! # Ok::<(), digram::Error>(())
//! ```
//!
//! The modules build on each other in one line: [`error`], [`watch`], [`vocabulary`], [`merges`],
//! [`events`], [`special`], [`ranks`], [`model`], [`pretokenize`], [`count`], [`encode`], [`tokenizer`], [`train`].
//! The crate prints nothing, keeps nothing global but how many processors there are and how much memory
//! all tokenizers keep, and starts no thread that outlives a call. It opens no file but those of counts, in a folder that the caller names.

mod bits;
pub mod count;
pub mod encode;
pub mod error;
pub mod events;
mod index;
mod lazy;
mod memory;
pub mod merges;
pub mod model;
pub mod pretokenize;
pub mod ranks;
pub mod room;
pub mod special;
pub mod tokenizer;
pub mod train;
mod utf8;
pub mod vocabulary;
pub mod watch;
pub mod words;

pub use error::{Error, Result};
pub use special::OnSpecial;
pub use tokenizer::{Definition, Tokenizer};
pub use watch::Unwatched;
