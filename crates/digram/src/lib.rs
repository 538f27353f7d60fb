//! Byte-pair encoding: split text into pretokens, count them, learn merges, encode and decode.
//!
//! ```
//! use digram::count::Counter;
//! use digram::pretokenize::{Pretokenizer, Stage};
//! use digram::train::{Options, train};
//! use digram::{OnSpecial, Tokenizer, Never};
//!
//! let words = || Pretokenizer::new(&[Stage::Pattern(r"\s*\S+|\s+".into())]);
//! let mut counter = Counter::new(words()?);
//! counter.add(&["low low lower lowest"], 1, &Never)?;
//! let trained = train(&counter.finish(&Never)?, &Options::bytes(260), &[], &mut |_| Ok(()), &Never)?;
//! let tokenizer = Tokenizer::new(trained.into_definition(words()?))?;
//!
//! let mut ids = Vec::new();
//! tokenizer.encode(b"lower", OnSpecial::Text, &Never, &mut ids)?;
//! assert_eq!(ids, [257, 101, 114]);
//! assert_eq!(tokenizer.token(257), Some(&b"low"[..]));
//! # Ok::<(), digram::Error>(())
//! ```
//!
//! Each module imports only modules before it in this list: [`error`], [`memory`], [`heap`], [`interrupt`], [`parallel`],
//! [`vocabulary`], [`merges`], [`events`], [`ranks`], [`model`], [`pretokenize`], [`added_tokens`],
//! [`normalize`], [`count`], [`encode`], [`tokenizer`], [`train`]. The crate prints nothing. Its only global state is the number of
//! processors and the amount of memory that all tokenizers keep for later calls. It starts no thread that
//! outlives a call, and opens no files except those of counts, in a folder that the caller names.

pub mod added_tokens;
mod bits;
pub mod count;
mod cpu;
pub mod encode;
pub mod error;
pub mod events;
pub mod heap;
mod index;
pub mod interrupt;
mod keys;
mod masks;
pub mod memory;
pub mod merges;
pub mod model;
pub mod normalize;
mod pages;
pub mod parallel;
pub mod pretokenize;
pub mod ranks;
pub mod text;
pub mod tokenizer;
pub mod train;
pub mod transcode;
mod trie;
mod utf8;
pub mod vocabulary;
pub mod words;

pub use added_tokens::OnSpecial;
#[doc(hidden)]
pub use cpu::limit_simd;
pub use error::{Error, Result};
pub use interrupt::Never;
pub use tokenizer::{Definition, Tokenizer};
