//! Looking up a group of pretokens: first all keys are computed and their lines prefetched, and then the
//! lines are read.

use super::super::super::text_slice::TextSlice;
use super::super::group::Group;
use super::super::misses::Misses;
use super::entry::{FEW, Line};
use super::key::Owner;
use super::{GROUP, Table, step};
use crate::cpu::{SimdLevel, prefetch};
use crate::vocabulary::TokenId;

/// The keys of a group, and the lines in which they are looked up.
pub(in crate::encode) struct Keys {
    keys: [u128; GROUP],
    lines: [u32; GROUP],
}

impl Keys {
    pub(in crate::encode) fn new() -> Keys {
        Keys { keys: [0; GROUP], lines: [0; GROUP] }
    }
}

/// A group to look up, and the memory for the result.
pub(in crate::encode::lookup) struct GroupQuery<'a> {
    pub(in crate::encode::lookup) owner: Owner,
    pub(in crate::encode::lookup) group: Group<'a>,
    pub(in crate::encode::lookup) keys: &'a mut Keys,
    /// Receives the pretokens that the table does not contain.
    pub(in crate::encode::lookup) misses: &'a mut Misses,
    /// Receives the ids of the others: memory for [`BEYOND`](super::BEYOND) more ids than the group has
    /// bytes.
    pub(in crate::encode::lookup) ids: *mut TokenId,
}

impl Table {
    /// Writes the ids of a group, in order, and returns their number. Pretokens that the table does not
    /// contain are left out.
    ///
    /// # Safety
    ///
    /// `query.ids` points to memory for as many ids as its documentation states.
    #[inline]
    pub(in crate::encode::lookup) unsafe fn get_group(&self, query: GroupQuery<'_>) -> usize {
        // SAFETY: the level was chosen because the processor supports it; the rest as above.
        unsafe {
            match self.simd {
                #[cfg(target_arch = "x86_64")]
                SimdLevel::Avx512 => self.get_group_avx512(query),
                #[cfg(target_arch = "x86_64")]
                SimdLevel::Avx2 => self.get_group_avx2(query),
                SimdLevel::Plain => self.get_group_by(query, |line, key| {
                    let same = |number: usize| u32::from(line.0[number].key == key);
                    same(0) | same(1) << 1
                }),
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vl,avx512bw,bmi1,bmi2,lzcnt")]
    unsafe fn get_group_avx512(&self, query: GroupQuery<'_>) -> usize {
        use std::arch::x86_64::*;
        let same = |line: &Line, key: u128| {
            // SAFETY: a line is 64 bytes, aligned to as many.
            let words = unsafe { _mm512_load_si512((&raw const *line).cast()) };
            let halves = _mm_set_epi64x((key >> 64) as i64, key as i64);
            let same = u32::from(_mm512_cmpeq_epi64_mask(words, _mm512_broadcast_i32x4(halves)));
            // Both halves of a key, of which the second entry has the fifth and the sixth word.
            let same = same & same >> 1;
            same & 1 | same >> 3 & 2
        };
        // SAFETY: as the caller promises.
        unsafe { self.get_group_by(query, same) }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    unsafe fn get_group_avx2(&self, query: GroupQuery<'_>) -> usize {
        use std::arch::x86_64::*;
        let same = |line: &Line, key: u128| {
            let key = _mm_set_epi64x((key >> 64) as i64, key as i64);
            let is = |number: usize| {
                // SAFETY: an entry is 32 bytes, aligned to as many, and begins with its key.
                let own = unsafe { _mm_load_si128((&raw const line.0[number]).cast()) };
                let other = _mm_xor_si128(own, key);
                _mm_testz_si128(other, other) as u32
            };
            is(0) | is(1) << 1
        };
        // SAFETY: as the caller promises.
        unsafe { self.get_group_by(query, same) }
    }

    /// `same` returns a bit for each entry of a line: whether it has this key.
    #[inline(always)]
    unsafe fn get_group_by(&self, query: GroupQuery<'_>, same: impl Fn(&Line, u128) -> u32) -> usize {
        let GroupQuery { owner, group, keys, misses, ids } = query;
        self.prepare_keys(owner, group, keys);
        // SAFETY: as the caller promises.
        unsafe { self.copy_ids(group, keys, misses, ids, same) }
    }

    /// Computes the keys of a group, and prefetches the lines that they belong to.
    #[inline(always)]
    fn prepare_keys(&self, owner: Owner, group: Group<'_>, keys: &mut Keys) {
        // The compiler derives from this that all numbers are inside the arrays.
        let len = group.ends.len().min(GROUP);
        let mask = self.lines.len() - 1;
        let mut start = group.start;
        for (number, &end) in group.ends[..len].iter().enumerate() {
            let key = self.seeds.key(owner, TextSlice { text: group.text, start, end });
            let line = self.seeds.hash(key) as usize & mask;
            prefetch(&self.lines[line]);
            (keys.keys[number], keys.lines[number]) = (key, line as u32);
            start = end;
        }
    }

    #[inline(always)]
    unsafe fn copy_ids(
        &self,
        group: Group<'_>,
        keys: &Keys,
        misses: &mut Misses,
        ids: *mut TokenId,
        same: impl Fn(&Line, u128) -> u32,
    ) -> usize {
        let len = group.ends.len().min(GROUP);
        let mask = self.lines.len() - 1;
        misses.clear();
        let mut count = 0;
        // With zipped iterators the compiler stores more in each iteration.
        #[allow(clippy::needless_range_loop)]
        for number in 0..len {
            let (key, first) = (keys.keys[number], keys.lines[number] as usize);
            let mut line = &self.lines[first & mask];
            let mut found = same(line, key);
            if found == 0 {
                line = &self.lines[step(first, 1) & mask];
                found = same(line, key);
            }
            // Without a branch on which of the two entries it is, which cannot be predicted.
            let entry = &line.0[(found >> 1) as usize & 1];
            let own = entry.count();
            if found != 0 && own <= FEW as u32 {
                // SAFETY: no pretoken has more ids than bytes, and there is memory for four more.
                unsafe { ids.add(count).cast::<[u32; FEW]>().write_unaligned(entry.ids()) };
                count += own as usize;
                continue;
            }
            let far = if found == 0 { None } else { self.far_ids(entry, group.pretoken(number).bytes()) };
            match far {
                // SAFETY: as above.
                Some(far) => unsafe {
                    std::ptr::copy_nonoverlapping(far.as_ptr(), ids.add(count), far.len());
                    count += far.len();
                },
                None => misses.push(number, count),
            }
        }
        count
    }
}
