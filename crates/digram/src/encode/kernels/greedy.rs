//! The longest token of bytes at each place of a pretoken, from the left, as in RWKV.

use crate::encode::Unit;
use crate::error::{Error, Result};
use crate::interrupt::{Never, Pacer};
use crate::vocabulary::Vocabulary;

use super::super::build::Ordinary;
use super::pieces::{Piece, Pieces};
use super::{Context, Sink};

/// Finds the longest tokens.
pub(in crate::encode) struct Greedy {
    pieces: Pieces,
}

impl Greedy {
    pub(in crate::encode) fn new(
        unit: &Unit,
        vocabulary: &Vocabulary,
        ordinary: Ordinary<'_>,
    ) -> Result<Greedy> {
        // Each byte has a token, so there is one at each place.
        if !matches!(unit, Unit::Byte { .. }) {
            let reason = "a model of the longest token needs the unit \"byte\".";
            return Err(Error::Vocabulary { reason: reason.into() });
        }
        let tokens = vocabulary.iter().filter(|(id, _)| ordinary(*id));
        let pieces = tokens.map(|(id, bytes)| (bytes, Piece { id, score: 0.0 }));
        Ok(Greedy { pieces: Pieces::new(pieces, &Never)? })
    }

    /// Emits the ids of a pretoken. Takes time linear in it and in the length of the longest token.
    pub(super) fn encode(
        &self,
        pretoken: &[u8],
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let (mut rest, mut pacer) = (pretoken, Pacer::new(context.interrupt));
        while !rest.is_empty() {
            let mut longest = None;
            let steps = self.pieces.each_prefix(rest, |len, piece| longest = Some((len, piece.id)));
            let Some((len, id)) = longest else {
                return Err(Error::Internal { reason: "a byte has no token.".into() });
            };
            sink.reserve(1)?;
            sink.push_id(id);
            rest = &rest[len..];
            pacer.after(steps)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Scratch;
    use crate::interrupt::Never;

    #[test]
    fn the_longest_token_is_taken_at_each_place() {
        let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        tokens.extend([b"ab".to_vec(), b"abcd".to_vec(), b"bc".to_vec(), vec![0xe6, 0x97]]);
        let vocabulary = Vocabulary::new(tokens.iter().map(Some)).unwrap();
        let unit = Unit::Byte { ids: Box::new(std::array::from_fn(|byte| byte as u32)) };
        let greedy = Greedy::new(&unit, &vocabulary, &|_| true).unwrap();
        for (text, expected) in [
            (&b""[..], &[][..]),
            (b"abc", &[256, 99]), // not a, bc
            (b"abcd", &[257]),
            (b"bcd", &[258, 100]),
            (b"\xe6\x97\xa5", &[259, 0xa5]),
        ] {
            let (mut scratch, mut ids) = (Scratch::new(), Vec::new());
            let context = &mut Context { scratch: &mut scratch, interrupt: &Never };
            greedy.encode(text, context, &mut ids).unwrap();
            assert_eq!(ids, expected, "{text:?}");
        }
    }
}
