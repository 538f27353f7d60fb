//! Where ids go.

use crate::error::Result;
use crate::room;
use crate::vocabulary::TokenId;

use super::lookup::{Group, Packed};

/// To a list, or to nowhere if they are counted only: all, or each.
pub(crate) trait Sink {
    /// Reserves room for a number of ids, or fails where there is no memory for them. It comes before
    /// all that the other calls put here: those do not ask.
    fn reserve(&mut self, ids: usize) -> Result<()>;
    fn one(&mut self, id: TokenId);
    fn many(&mut self, ids: &[TokenId]);
    /// The first `count` of these.
    fn few(&mut self, ids: [TokenId; Packed::MOST], count: usize);
    /// Those of a group of pretokens.
    fn group(&mut self, group: &Group);
    /// How many there were.
    fn len(&self) -> usize;
}

impl Sink for Vec<TokenId> {
    #[inline]
    fn reserve(&mut self, ids: usize) -> Result<()> {
        room::reserve(self, ids)
    }

    #[inline]
    fn one(&mut self, id: TokenId) {
        self.push(id);
    }

    #[inline]
    fn many(&mut self, ids: &[TokenId]) {
        self.extend_from_slice(ids);
    }

    #[inline]
    fn few(&mut self, ids: [TokenId; Packed::MOST], count: usize) {
        // To copy all and forget the rest takes fewer instructions than to copy as many.
        let end = Vec::len(self) + count;
        self.extend_from_slice(&ids);
        self.truncate(end);
    }

    #[inline]
    fn group(&mut self, group: &Group) {
        group.append_to(self);
    }

    fn len(&self) -> usize {
        Vec::len(self)
    }
}

/// How many ids went to a sink.
#[derive(Default)]
pub(crate) struct Tally(pub(crate) usize);

impl Sink for Tally {
    #[inline]
    fn reserve(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn one(&mut self, _: TokenId) {
        self.0 += 1;
    }

    #[inline]
    fn many(&mut self, ids: &[TokenId]) {
        self.0 += ids.len();
    }

    #[inline]
    fn few(&mut self, _: [TokenId; Packed::MOST], count: usize) {
        self.0 += count;
    }

    #[inline]
    fn group(&mut self, group: &Group) {
        self.0 += group.count();
    }

    fn len(&self) -> usize {
        self.0
    }
}

/// How often each id went to a sink, and how many did.
pub(crate) struct Histogram<'a> {
    /// By id.
    pub(crate) times: &'a mut [u64],
    pub(crate) len: usize,
}

impl Sink for Histogram<'_> {
    #[inline]
    fn reserve(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn one(&mut self, id: TokenId) {
        self.many(&[id]);
    }

    #[inline]
    fn many(&mut self, ids: &[TokenId]) {
        self.len += ids.len();
        ids.iter().for_each(|&id| self.times[id as usize] += 1);
    }

    #[inline]
    fn few(&mut self, ids: [TokenId; Packed::MOST], count: usize) {
        self.many(&ids[..count]);
    }

    #[inline]
    fn group(&mut self, group: &Group) {
        group.each(|ids| self.many(ids));
    }

    fn len(&self) -> usize {
        self.len
    }
}
