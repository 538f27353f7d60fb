//! Places of a text at which it can be cut into words before it is normalized, decided by two neighbouring characters.
//!
//! Some stages change a character in a way that its neighbours do not decide alone: it is then not known what is
//! beside the place. Where white space is left out that is not needed, since words never reach over it.

use super::{Compiled, Normalizer, Seam};
use crate::pretokenize::Pretokenizer;

/// The characters on both sides of a place, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sides {
    pub(super) before: Option<char>,
    pub(super) after: Option<char>,
}

impl Sides {
    fn seam(self) -> Option<Seam> {
        Some(Seam { before: self.before?, after: self.after? })
    }
}

impl From<Seam> for Sides {
    fn from(Seam { before, after }: Seam) -> Sides {
        Sides { before: Some(before), after: Some(after) }
    }
}

impl Normalizer {
    /// Whether every text with these two characters next to each other has the pretokens of its part up to the first,
    /// and then those of its part from the second on; false if it is not cut into words.
    pub(crate) fn cuts_words(&self, before: char, after: char, pretokenizer: &Pretokenizer) -> bool {
        let Some(words) = &self.words else { return false };
        let sides = Sides::from(Seam { before, after });
        let Some(sides) = self.stages.iter().try_fold(sides, |sides, stage| stage.sides(sides)) else {
            return false;
        };
        if words.separates(sides.before) || words.separates(sides.after) {
            return true;
        }
        sides.seam().is_some_and(|seam| match self.divides(seam) {
            Some(divides) => divides,
            None => !pretokenizer.is_whole() && seam.is_border(pretokenizer),
        })
    }
}

impl Compiled {
    /// If the new text of any text with these characters around a place is that of its part before the place, and then
    /// that of its part behind it: what is beside the place then.
    fn sides(&self, sides: Sides) -> Option<Sides> {
        let Sides { before, after } = sides;
        match self {
            Compiled::Form(table) => {
                let after = after.filter(|&after| table.begins_apart(after))?;
                let before = before.filter(|&before| table.is_inert(before));
                Some(Sides { before, after: Some(after).filter(|&after| table.is_solid(after)) })
            }
            Compiled::Characters(characters) => Some(Sides {
                before: before.and_then(|before| characters.at_side(before, true)),
                after: after.and_then(|after| characters.at_side(after, false)),
            }),
            Compiled::Precompiled(precompiled) => precompiled.sides(Seam { before: before?, after: after? }),
            _ => self.seam(sides.seam()?).map(Sides::from),
        }
    }
}
