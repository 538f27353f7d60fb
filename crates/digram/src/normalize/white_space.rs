//! The runs of white space of a text: what the regex `\s+` matches, found without an automaton.

use std::ops::Range;

use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::utf8::decode;

/// The number of bytes after which the interrupt is checked.
const PAUSE: usize = 1 << 12;

/// Whether a byte is a character of white space.
#[derive(Clone, Copy)]
enum Is {
    No,
    Yes,
    /// It may begin one.
    Begun,
}

const WHITE: [Is; 256] = {
    let mut white = [Is::No; 256];
    let mut byte = 0;
    while byte < 256 {
        white[byte] = match byte as u8 {
            b'\t'..=b'\r' | b' ' => Is::Yes,
            0xc2 | 0xe1..=0xe3 => Is::Begun,
            _ => Is::No,
        };
        byte += 1;
    }
    white
};

/// Calls `visit` with the runs of white space of a text and those of other characters, in order.
pub(super) fn each_run(
    text: &[u8],
    interrupt: &dyn Interrupt,
    mut visit: impl FnMut(Range<usize>, bool) -> Result<()>,
) -> Result<()> {
    let mut pacer = Pacer::new(interrupt);
    let (mut start, mut is_white, mut at) = (0, false, 0);
    while at < text.len() {
        let until = text.len().min(at + PAUSE);
        let from = at;
        while at < until {
            let (is_next_white, len) = match WHITE[usize::from(text[at])] {
                Is::No => (false, 1),
                Is::Yes => (true, 1),
                Is::Begun => {
                    let (c, len) = decode(&text[at..]);
                    (c.is_some_and(char::is_whitespace), len)
                }
            };
            if is_next_white != is_white {
                if start < at {
                    visit(start..at, is_white)?;
                }
                (start, is_white) = (at, is_next_white);
            }
            at += len;
        }
        pacer.after(at - from)?;
    }
    if start < at { visit(start..at, is_white) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::super::matches::finder;
    use super::*;
    use crate::interrupt::Never;
    use crate::pretokenize::{Pretokenizer, Stage};

    #[test]
    fn runs_of_white_space_are_the_matches_of_their_regex() {
        let splitter = Pretokenizer::new(&[Stage::Pattern(r"\s+".into())]).unwrap();
        let mut texts: Vec<Vec<u8>> = vec![
            b"".into(),
            b" ".into(),
            b"ab".into(),
            b" \xc2\xa0a\xe2\x80\x83 \xe2\x80".into(),
            b"\xc2\xe3\x80\x80\xe1\x9a\x80\xff \xe2 b\xe3\x80 ".into(),
            [&b"a".repeat(PAUSE), "\u{3000}".as_bytes(), &b" ".repeat(2 * PAUSE), b"b"].concat(),
        ];
        for start in (0..0x11_0000).step_by(1 << 12) {
            let all = (start..start + (1 << 12)).filter_map(char::from_u32);
            texts.push(all.clone().flat_map(|c| ['a', c, 'a']).collect::<String>().into());
            texts.push(all.flat_map(|c| [' ', c, ' ']).collect::<String>().into());
        }
        for text in texts {
            let mut runs = Vec::new();
            each_run(&text, &Never, |run, is_white| {
                runs.push((run, is_white));
                Ok(())
            })
            .unwrap();
            let ends: Vec<usize> = runs.iter().map(|(run, _)| run.end).collect();
            assert_eq!(ends, splitter.ends(&text, &Never).unwrap(), "{:?}", String::from_utf8_lossy(&text));
            let finder = finder(r"\s".into()).unwrap();
            for (run, is_white) in runs {
                assert_eq!(is_white, finder.begins_with_match(&text[run]));
            }
        }
    }
}
