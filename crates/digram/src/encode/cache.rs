//! A small memory of pretokens that had to be merged, one for each thread.
//!
//! It holds a fixed number of entries and the newer replaces the older, so that its memory is
//! bounded and no text can make it slow. It never changes a result: an entry is used only for
//! exactly the bytes it was made from.

use crate::vocabulary::{ShortKey, TokenId};

/// Entries of one cache: together 384 KiB, which lies in the second-level cache.
const ENTRIES: usize = 1 << 13;

/// Results longer than this are not kept; 98 % of those of prose fit.
const MOST_IDS: usize = 6;

#[derive(Clone, Copy)]
struct Entry {
    key: ShortKey,
    len: u32,
    ids: [TokenId; MOST_IDS],
}

/// Short pretokens with the ids they were merged to.
#[derive(Default)]
pub(crate) struct Cache {
    /// Empty until the first entry, so that short calls do not pay for it.
    entries: Vec<Entry>,
}

impl Cache {
    /// The ids of a pretoken that was merged before.
    #[inline]
    pub(super) fn get(&self, key: ShortKey) -> Option<&[TokenId]> {
        let entry = self.entries.get(key.hash() & (ENTRIES - 1))?;
        (entry.key == key).then(|| &entry.ids[..entry.len as usize])
    }

    /// Remembers the ids of a pretoken.
    pub(super) fn put(&mut self, key: ShortKey, ids: &[TokenId]) {
        if ids.len() > MOST_IDS {
            return;
        }
        if self.entries.is_empty() {
            // No text has the key of no text.
            self.entries = vec![Entry { key: ShortKey::NONE, len: 0, ids: [0; MOST_IDS] }; ENTRIES];
        }
        let mut kept = [0; MOST_IDS];
        kept[..ids.len()].copy_from_slice(ids);
        self.entries[key.hash() & (ENTRIES - 1)] = Entry { key, len: ids.len() as u32, ids: kept };
    }
}
