//! WordPiece: the longest token at each place of a pretoken, from the left.
//!
//! Tokens that begin a word have a space at the front, as pretokens do; the others have none. So the first token of a
//! pretoken is one with a space, and no later one is.

use bstr::ByteSlice;

use crate::encode::{OnUnknown, Unit, WordPieceRules};
use crate::error::{Error, Result};
use crate::interrupt::{Never, Pacer};
use crate::vocabulary::{TokenId, Vocabulary};

use super::super::build::Ordinary;
use super::char_trie::CharTrie;
use super::pieces::Piece;
use super::{Context, Sink};

const SPACE: u8 = b' ';

/// Finds the longest tokens.
pub(in crate::encode) struct WordPiece {
    trie: CharTrie,
    /// The length of the longest token, in bytes.
    longest: usize,
    /// The token without bytes, which files write as the prefix alone.
    empty: Option<TokenId>,
    unknown: TokenId,
    rules: WordPieceRules,
}

impl WordPiece {
    pub(in crate::encode) fn new(
        rules: WordPieceRules,
        unit: &Unit,
        vocabulary: &Vocabulary,
        ordinary: Ordinary<'_>,
    ) -> Result<WordPiece> {
        let Unit::Char { on_unknown: OnUnknown::Token(unknown) } = unit else {
            let reason = "WordPiece needs the unit \"char\" and a special token for unknown words.";
            return Err(Error::Vocabulary { reason: reason.into() });
        };
        // A token begins a word with at least one character.
        let matchable =
            |(id, bytes): &(TokenId, &[u8])| ordinary(*id) && !bytes.is_empty() && *bytes != [SPACE];
        let tokens = || vocabulary.iter().filter(matchable);
        // Scores have no effect, except that a character without one is no token.
        let pieces = tokens().map(|(id, bytes)| (bytes, Piece { id, score: 0.0 }));
        let none = Piece { id: TokenId::MAX, score: f64::NAN };
        Ok(WordPiece {
            trie: CharTrie::new::<f32>(pieces, none, &Never)?,
            longest: tokens().map(|(_, bytes)| bytes.len()).max().unwrap_or(0),
            empty: vocabulary.empty(),
            unknown: *unknown,
            rules,
        })
    }

    pub(in crate::encode) fn encode(
        &self,
        pretoken: &[u8],
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        context.with_list(|context, ids| {
            // No word has more characters than bytes. Tokens are UTF-8, so what consists of them is, too.
            let may_be_known = pretoken.len() <= self.rules.max_word_chars || self.is_short(pretoken);
            if !may_be_known || !self.find(pretoken, context, ids)? {
                std::str::from_utf8(pretoken)
                    .map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })?;
                ids.clear();
                ids.push(self.unknown);
            }
            sink.reserve(ids.len())?;
            sink.push_ids(ids);
            Ok(())
        })
    }

    /// Whether a pretoken, without the space before it, has no more characters than a known word.
    #[cold]
    fn is_short(&self, pretoken: &[u8]) -> bool {
        let word = pretoken.strip_prefix(&[SPACE]).unwrap_or(pretoken);
        let most = self.rules.max_word_chars;
        word.chars().take(most.saturating_add(1)).count() <= most
    }

    /// Adds the ids of a pretoken to `ids`; returns false if it is unknown.
    fn find(&self, pretoken: &[u8], context: &Context<'_>, ids: &mut Vec<TokenId>) -> Result<bool> {
        let mut pacer = Pacer::new(context.interrupt);
        let mut position = 0;
        if let Some((id, end)) = self.first_without_space(pretoken) {
            ids.push(id);
            position = end;
        }
        while position < pretoken.len() {
            // A space inside a pretoken begins no word.
            let may_match = position == 0 || pretoken[position] != SPACE;
            let found = self.trie.longest_of::<f32>(&pretoken[position..]).filter(|_| may_match);
            let Some((id, len)) = found else { return Ok(false) };
            crate::memory::try_reserve(ids, 1)?;
            ids.push(id);
            // A longer token may have been tried in vain.
            pacer.after(self.longest.min(pretoken.len() - position))?;
            position += len;
        }
        Ok(true)
    }

    /// The first token of a pretoken that begins with the prefix as files write it, and its end.
    fn first_without_space(&self, pretoken: &[u8]) -> Option<(TokenId, usize)> {
        let start = self.prefix_end(pretoken)?;
        let begins = pretoken.get(start).is_some_and(|&byte| byte != SPACE);
        match self.trie.longest_of::<f32>(&pretoken[start..]).filter(|_| begins) {
            Some((id, len)) => Some((id, start + len)),
            None => self.empty.map(|id| (id, start)),
        }
    }

    /// The end of the space and the prefix, if a text begins with them.
    fn prefix_end(&self, text: &[u8]) -> Option<usize> {
        let prefix = self.rules.prefix.as_bytes();
        let rest = text.strip_prefix(&[SPACE])?;
        (!prefix.is_empty() && rest.starts_with(prefix)).then_some(1 + prefix.len())
    }

    /// The number of bytes of `text` that a token other than the unknown one, its first one, stands for.
    pub(in crate::encode) fn len_in_text(&self, token: &[u8], text: &[u8]) -> usize {
        match token.first() {
            Some(&SPACE) => token.len(),
            _ => token.len() + self.prefix_end(text).unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Scratch;
    use crate::interrupt::Never;

    const UNKNOWN: TokenId = 100;

    fn pieces(tokens: &[&str], max_word_chars: usize) -> WordPiece {
        let vocabulary = Vocabulary::new(tokens.iter().map(Some)).unwrap();
        let rules = WordPieceRules { max_word_chars, prefix: "##".into() };
        let unit = Unit::Char { on_unknown: OnUnknown::Token(UNKNOWN) };
        WordPiece::new(rules, &unit, &vocabulary, &|_| true).unwrap()
    }

    fn ids(pieces: &WordPiece, pretoken: &str) -> Vec<TokenId> {
        let (mut scratch, mut ids) = (Scratch::new(), vec![7]);
        let context = &mut Context { scratch: &mut scratch, interrupt: &Never };
        pieces.encode(pretoken.as_bytes(), context, &mut ids).unwrap();
        ids.split_off(1)
    }

    #[test]
    fn the_longest_token_is_taken_at_each_place() {
        let pieces = pieces(&[" un", " unaff", "aff", "able", "a", "x", " é", "é", " ", "#"], 6);
        for (pretoken, expected) in [
            (" un", &[0][..]),
            (" unaffa", &[1, 4]),     // six characters
            (" unaffaa", &[UNKNOWN]), // seven
            (" unx", &[0, 5]),
            (" unab", &[UNKNOWN]),
            (" x", &[UNKNOWN]), // only inside words
            (" ééé", &[6, 7, 7]),
            (" ", &[UNKNOWN]),
            ("ax", &[4, 5]), // no space, so not the start of a word
            (" un un", &[UNKNOWN]),
            (" ##ax", &[4, 5]), // as files write the tokens
            (" ##", &[UNKNOWN]),
            (" ## x", &[UNKNOWN]),
        ] {
            assert_eq!(ids(&pieces, pretoken), expected, "{pretoken:?}");
        }
        assert_eq!(
            [(&b" un"[..], " un"), (b"a", "ax"), (b"a", " ##ax")]
                .map(|(t, text)| pieces.len_in_text(t, text.as_bytes())),
            [3, 1, 4]
        );
    }

    #[test]
    fn the_prefix_alone_may_be_a_token() {
        let pieces = pieces(&["", "x", " #"], 100);
        for (pretoken, expected) in
            [(" ##", &[0][..]), (" ##x", &[1]), (" ##y", &[UNKNOWN]), (" ##", &[0]), (" #x", &[2, 1])]
        {
            assert_eq!(ids(&pieces, pretoken), expected, "{pretoken:?}");
        }
    }
}
