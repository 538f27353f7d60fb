//! Other segmentations of a text than the best one, for models of scores.

use super::Tokenizer;
use super::encoding::push_added;
use crate::added_tokens::{AddedMatch, OnSpecial};
use crate::encode::{Edge, Lattice, one_of};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::memory;
use crate::pretokenize::GoesOn;
use crate::vocabulary::TokenId;

/// The largest number of segmentations that can be requested.
const MOST: usize = 10_000;

impl Tokenizer {
    /// The segmentations of a text with the highest sums of scores, up to `count`, and these sums, which have double
    /// precision. So the first one may differ from [`Tokenizer::encode`] for a model that adds in single precision.
    ///
    /// Takes time and memory linear in the text times `count`.
    pub fn best_segmentations(
        &self,
        text: &[u8],
        count: usize,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<(Vec<TokenId>, f64)>> {
        if !(1..=MOST).contains(&count) {
            let reason = format!("{count} segmentations were requested; the number is from 1 to {MOST}.");
            return Err(Error::Option { reason });
        }
        let (lattice, working) = self.lattice(text, special, interrupt)?;
        let best = lattice.best(count, interrupt)?;
        let mut found = Vec::new();
        memory::try_reserve(&mut found, best.len())?;
        for (path, sum) in best {
            found.push((lattice.ids(&path, &working, self.encoder.unit())?, sum));
        }
        Ok(found)
    }

    /// A random segmentation of a text: the probability of each is proportional to the exponential of its sum of scores
    /// times `sharpness`, which is not negative. With `count` it is one of the `count` best ones.
    pub fn sample_segmentation(
        &self,
        text: &[u8],
        sharpness: f64,
        seed: u64,
        count: Option<usize>,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<TokenId>> {
        if !(0.0..=f64::MAX).contains(&sharpness) {
            let reason = format!("alpha={sharpness} is not a number from 0 on.");
            return Err(Error::Option { reason });
        }
        if let Some(count) = count {
            let mut best = self.best_segmentations(text, count, special, interrupt)?;
            let sums: Vec<f64> = best.iter().map(|(_, sum)| sharpness * sum).collect();
            return Ok(best.swap_remove(one_of(&sums, seed)).0);
        }
        let (lattice, working) = self.lattice(text, special, interrupt)?;
        lattice.ids(&lattice.sample(sharpness, seed, interrupt)?, &working, self.encoder.unit())
    }

    /// The lattice of a text, and the text after normalization.
    fn lattice(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<(Lattice, Vec<u8>)> {
        let working = self.working(text, special, false, interrupt)?;
        let (text, mut lattice, mut offset) = (working.text(), Lattice::default(), 0);
        for AddedMatch { range, token } in working.added_tokens() {
            self.push_ordinary(&text[offset..range.start.max(offset)], &mut lattice, interrupt)?;
            push_added(special, token, range.start, &mut Vec::new())?;
            let len = range.end.saturating_sub(offset.max(range.start));
            let edge = Edge { start: 0, end: len as u32, id: Some(token.id), score: 0.0 };
            lattice.push_pretoken(len, std::iter::once(edge))?;
            offset = range.end;
        }
        self.push_ordinary(&text[offset..], &mut lattice, interrupt)?;
        let mut copy = Vec::new();
        memory::try_reserve(&mut copy, text.len())?;
        copy.extend_from_slice(text);
        Ok((lattice, copy))
    }

    fn push_ordinary(&self, text: &[u8], lattice: &mut Lattice, interrupt: &dyn Interrupt) -> Result<()> {
        self.pretokenizer.for_many(text, 0, GoesOn::No, interrupt, |mut start, ends| {
            ends.iter().try_for_each(|&end| {
                let pretoken = &text[std::mem::replace(&mut start, end)..end];
                self.encoder.push_segmentations(pretoken, lattice, interrupt)
            })
        })?;
        Ok(())
    }
}
