//! What the crate gives to others does what its definition says.
//!
//! The tests are one program, because each program is linked with the whole crate.

mod affixes;
mod beginnings;
mod cases;
mod characters;
mod count;
mod encode;
mod fair;
mod interrupt;
mod kinds;
mod long;
mod merged;
mod naive;
mod patience;
mod picky;
mod pretokenize;
mod train;
