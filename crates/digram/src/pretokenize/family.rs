//! Boundaries of the published family of patterns, from masks of the classes of 64 bytes.
//!
//! The published patterns differ in few rules: which character may precede a word, how many digits are
//! grouped, whether newlines end a pretoken. In ASCII text each of their rules is some shifts and
//! additions of masks with a bit for each byte, so that the boundaries of a block take about a hundred
//! instructions without a branch on the bytes (see [`starts`]). Blocks that are read one after the other know
//! what lies before and after them (see [`successive`]). The last blocks of a text, and blocks with characters
//! whose classes are not known, are read each from the start of a pretoken (see [`blocks`]).
//!
//! Whether a pattern belongs to the family depends on its behaviour, not its spelling: its automaton is compared
//! with that of a member on all ASCII texts.

mod blocks;
mod classes;
mod others;
mod starts;
mod successive;

use std::collections::HashSet;

#[cfg(target_arch = "x86_64")]
use once_cell::race::OnceBox;

use super::automaton::{Automaton, DEAD};
use super::effort::Effort;
use super::kinds::KindsOfOthers;
use crate::cpu::SimdLevel;
use crate::interrupt::Never;
pub(super) use classes::BLOCK;
use classes::{CASELESS, HARD, LETTER, MARK, OTHER, SPACE, UPPER};
#[cfg(target_arch = "x86_64")]
use others::{Bitmaps, Rows};
pub(super) use successive::Starts;

/// A member of the family that a pattern belongs to.
pub(super) struct FamilyMember {
    family: Family,
    /// The kinds of characters that are not ASCII: [`LETTER`], [`OTHER`], [`SPACE`] or [`HARD`], and where case is
    /// distinguished also [`UPPER`], [`CASELESS`] and [`MARK`].
    kinds: KindsOfOthers,
    simd: SimdLevel,
    /// The tables with which AVX-512 reads characters that are not ASCII. They are made with the pattern, so that the
    /// first text with such characters does not wait for them.
    #[cfg(target_arch = "x86_64")]
    bitmaps: OnceBox<Bitmaps>,
    /// The tables for AVX2, made when a text first has such characters.
    #[cfg(target_arch = "x86_64")]
    rows: OnceBox<Rows>,
}

/// A letter without case, and a mark.
const IDEOGRAPH: char = '語';
const ACCENT: char = '\u{301}';

/// A pattern of the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Family {
    kind: FamilyKind,
    /// The maximum number of digits in a pretoken; 0 for any number.
    digits: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FamilyKind {
    /// A blank may precede letters, digits and other characters.
    Gpt2,
    /// Any character but a newline may precede letters, newlines end white space and follow other
    /// characters, and contractions ignore case.
    Cl100k,
    /// As `Cl100k`, but words also begin where an upper-case letter follows a lower-case one, contractions
    /// belong to the word before them, and slashes follow other characters as newlines do.
    O200k,
}

impl FamilyMember {
    /// The member that splits text like an automaton, if there is one.
    pub(super) fn of(automaton: &Automaton) -> Option<FamilyMember> {
        let family = Family::of(automaton)?;
        // Characters of one class are the same to the automaton.
        let alphabet = automaton.alphabet();
        let kinds =
            [('b', LETTER), ('#', OTHER), ('\t', SPACE), ('B', UPPER), (IDEOGRAPH, CASELESS), (ACCENT, MARK)];
        let kinds = if family.kind == FamilyKind::O200k { &kinds[..] } else { &kinds[..3] };
        let kind = |class: usize| {
            let kind = kinds.iter().find(|(c, _)| usize::from(alphabet.class(*c)) == class);
            kind.map_or(HARD, |&(_, kind)| kind)
        };
        let kinds = KindsOfOthers::new(alphabet, &Vec::from_iter((0..alphabet.len()).map(kind)));
        let member = FamilyMember {
            family,
            kinds,
            simd: SimdLevel::best(),
            #[cfg(target_arch = "x86_64")]
            bitmaps: OnceBox::new(),
            #[cfg(target_arch = "x86_64")]
            rows: OnceBox::new(),
        };
        #[cfg(target_arch = "x86_64")]
        if member.simd == SimdLevel::Avx512 {
            member.bitmaps();
        }
        Some(member)
    }

    #[cfg(target_arch = "x86_64")]
    fn bitmaps(&self) -> &Bitmaps {
        self.bitmaps.get_or_init(|| Bitmaps::new(&self.kinds))
    }

    /// Whether the pattern distinguishes case.
    fn has_case(&self) -> bool {
        self.family.kind == FamilyKind::O200k
    }
}

impl Family {
    /// The member that splits ASCII text like an automaton, if there is one.
    fn of(automaton: &Automaton) -> Option<Family> {
        let candidates = [
            Family { kind: FamilyKind::Cl100k, digits: 3 },
            Family { kind: FamilyKind::O200k, digits: 3 },
            Family { kind: FamilyKind::Gpt2, digits: 0 },
            Family { kind: FamilyKind::Cl100k, digits: 1 },
            Family { kind: FamilyKind::Cl100k, digits: 0 },
            Family { kind: FamilyKind::Cl100k, digits: 2 },
        ];
        candidates.into_iter().find(|family| family.is_like(automaton))
    }

    /// The pattern, restricted to ASCII characters, [`IDEOGRAPH`] and [`ACCENT`].
    fn pattern(self) -> String {
        match self.kind {
            FamilyKind::Gpt2 => {
                r"'(?:[sdmt]|ll|ve|re)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+".into()
            }
            FamilyKind::O200k => {
                let any = format!("{IDEOGRAPH}{ACCENT}");
                let contraction = "(?:'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE]))?";
                let prefix = format!(r"[^\r\nA-Za-z{IDEOGRAPH}0-9]?");
                let (upper, lower) = (format!("[A-Z{any}]"), format!("[a-z{any}]"));
                let others = format!(r" ?[^\sA-Za-z{IDEOGRAPH}0-9]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+");
                format!(
                    "{prefix}{upper}*{lower}+{contraction}|{prefix}{upper}+{lower}*{contraction}|[0-9]{{1,{}}}|{others}",
                    self.digits
                )
            }
            FamilyKind::Cl100k => {
                let digits = if self.digits == 0 { "+".into() } else { format!("{{1,{}}}", self.digits) };
                let contractions = "'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])";
                let others = r" ?[^\sA-Za-z0-9]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
                format!(r"{contractions}|[^\r\nA-Za-z0-9]?[A-Za-z]+|[0-9]{digits}|{others}")
            }
        }
    }

    /// Whether an automaton takes the same steps as that of [`Family::pattern`] on all texts of these characters.
    fn is_like(self, automaton: &Automaton) -> bool {
        let Ok(own) = Automaton::new(&self.pattern(), &mut Effort::new(&Never)) else { return false };
        let non_ascii: &[char] = if self.kind == FamilyKind::O200k { &[IDEOGRAPH, ACCENT] } else { &[] };
        let characters: HashSet<[usize; 2]> = ('\0'..'\u{80}')
            .chain(non_ascii.iter().copied())
            .map(|c| [&own, automaton].map(|automaton| usize::from(automaton.alphabet().class(c))))
            .collect();
        let mut seen = HashSet::from([[own.start(), automaton.start()]]);
        let mut stack = Vec::from_iter(seen.iter().copied());
        while let Some([own_state, state]) = stack.pop() {
            if own.matches_at_end(own_state) != automaton.matches_at_end(state) {
                return false;
            }
            for &[class, other_class] in &characters {
                let steps = [own.step(own_state, class), automaton.step(state, other_class)];
                let [(next, matched), (other_next, other_matched)] = steps;
                if matched != other_matched || (next == DEAD) != (other_next == DEAD) {
                    return false;
                }
                if next != DEAD && seen.insert([next, other_next]) {
                    stack.push([next, other_next]);
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::GoesOn;
    use super::super::automaton::Notes;
    use super::*;
    use crate::utf8::complete;

    const GPT2: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

    const O200K: &str = concat!(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    );

    fn cl100k(digits: &str) -> String {
        format!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    }

    /// Patterns of the family, with the member that each belongs to.
    fn families() -> [(Family, String); 6] {
        [
            (Family { kind: FamilyKind::Gpt2, digits: 0 }, GPT2.to_string()),
            (Family { kind: FamilyKind::Cl100k, digits: 3 }, cl100k("{1,3}")),
            (Family { kind: FamilyKind::Cl100k, digits: 2 }, cl100k("{1,2}")),
            (Family { kind: FamilyKind::Cl100k, digits: 1 }, cl100k("")),
            (Family { kind: FamilyKind::Cl100k, digits: 0 }, cl100k("+")),
            (Family { kind: FamilyKind::O200k, digits: 3 }, O200K.to_string()),
        ]
    }

    /// A pattern for each kind of member.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn patterns() -> [String; 3] {
        [GPT2.to_string(), cl100k("{1,3}"), O200K.to_string()]
    }

    #[test]
    fn starts_are_those_of_the_automaton() {
        // The last ones are hard; the byte strings are invalid UTF-8.
        const PIECES: [&[u8]; 52] = [
            b"A",
            b"/",
            "\u{301}".as_bytes(),
            "É".as_bytes(),
            b"RE",
            b"D",
            b"a",
            b"b",
            b"The",
            b"s",
            b"S",
            b"ll",
            b"L",
            b"re",
            b"e",
            b"v",
            b"'",
            b"'",
            b"''",
            b"!",
            b"...",
            b" ",
            b" ",
            b"  ",
            b"\t",
            b"\n",
            b"\r\n",
            b"1",
            b"23",
            b"4567",
            "é".as_bytes(),
            "ж".as_bytes(),
            "語".as_bytes(),
            "คำ".as_bytes(),
            "—".as_bytes(),
            "。".as_bytes(),
            "“".as_bytes(),
            "\u{3000}".as_bytes(),
            "\u{a0}".as_bytes(),
            "\u{85}".as_bytes(),
            "𝒳".as_bytes(),
            "🙂".as_bytes(),
            b"\xff",
            b"\xc0\x80",
            b"\xe0\x80\x80",
            b"\xed\xa0\x80",
            b"\xf4\x90\x80\x80",
            b"\xe3\x81",
            b"\xc3",
            "ſ".as_bytes(),
            "٣".as_bytes(),
            "K".as_bytes(),
        ];
        let mut random = 1u64;
        let mut next = move |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        for (family, pattern) in families() {
            let automaton = Automaton::of(&pattern);
            assert_eq!(Family::of(&automaton), Some(family));
            let members: Vec<FamilyMember> = SimdLevel::available()
                .into_iter()
                .map(|simd| simd.force(|| FamilyMember::of(&automaton).unwrap()))
                .collect();
            let (mut start_count, mut bytes, mut successive) = (0, 0, 0);
            for round in 0..8_000 {
                let mut text = Vec::new();
                // Some have many blocks.
                for _ in 0..next(if round % 8 == 0 { 400 } else { 40 }) {
                    // Many are ASCII, and few are hard.
                    let pieces = [30, 45, 45, 45, 45, 45, 45, PIECES.len()][next(8)];
                    let longest = [1, 1, 1, 4, 40][next(5)];
                    text.extend(PIECES[next(pieces)].repeat(1 + next(longest)));
                }
                let text = &text[..];
                let mut expected = Vec::new();
                let step = |end| {
                    expected.push(end);
                    ControlFlow::<()>::Continue(())
                };
                _ = automaton.split_from(text, 0, text.len(), GoesOn::No, &mut Notes::default(), step);
                let mut start = 0;
                for end in expected.clone() {
                    let rest = &text[start..];
                    for member in &members {
                        let mut ends = Vec::new();
                        // A run of letters may be longer than a block.
                        member.each_block(rest, 0, GoesOn::No, |begin, starts| {
                            ends.extend(
                                (1..64)
                                    .filter(|offset| starts >> offset & 1 == 1)
                                    .map(|offset| start + begin + offset),
                            );
                            false
                        });
                        let first = expected.partition_point(|&end| end <= start);
                        assert_eq!(
                            ends,
                            expected[first..][..ends.len()],
                            "{family:?} {:?} {start} {:?}",
                            member.simd,
                            String::from_utf8_lossy(&rest[..rest.len().min(BLOCK)])
                        );
                        // A text that goes on has these starts too, whatever follows.
                        let cut = start + complete(&rest[..next(rest.len().min(2 * BLOCK) + 1)]);
                        member.each_block(&text[..cut], start, GoesOn::Maybe, |begin, starts| {
                            for offset in (1..64).filter(|offset| starts >> offset & 1 == 1) {
                                let end = begin + offset;
                                assert!(end < cut, "{end} {cut} {:?}", member.simd);
                                assert!(
                                    expected.binary_search(&end).is_ok(),
                                    "{family:?} {:?} {end} {cut} {:?}",
                                    member.simd,
                                    String::from_utf8_lossy(rest)
                                );
                            }
                            true
                        });
                        start_count += ends.len();
                        bytes += ends.last().map_or(0, |last| last - start);
                    }
                    start = end;
                }
                successive += check_successive(&members, text, &expected, &mut next);
            }
            assert!(successive > 50_000, "{successive} starts in successive blocks");
            assert!(start_count > 130_000 && bytes > start_count, "{start_count} starts in {bytes} bytes");
        }
    }

    /// Checks the starts in successive blocks from some places of a text on, and returns their number.
    fn check_successive(
        members: &[FamilyMember],
        text: &[u8],
        expected: &[usize],
        next: &mut impl FnMut(usize) -> usize,
    ) -> usize {
        let (mut count, mut memory) = (0, Starts::default());
        for _ in 0..4 {
            let from = next(expected.len() + 1);
            let start = if from == 0 { 0 } else { expected[from - 1] };
            for member in members {
                let starts = member.successive_starts(text, start, &mut memory);
                let expected = expected.get(from..from + starts.len());
                let shown = String::from_utf8_lossy(&text[start..]);
                assert_eq!(Some(starts), expected, "{:?} {start} {shown:?}", member.simd);
                count += starts.len();
            }
        }
        count
    }

    #[test]
    fn patterns_that_split_differently_are_not_members() {
        let equivalent = r"'(?i:s|t|re|ve|m|ll|d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}\p{N}?\p{N}?| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\n\r]+|\s+(?!\S)|\s+";
        let cl100k = cl100k("{1,3}");
        assert_eq!(Family::of(&Automaton::of(equivalent)), Family::of(&Automaton::of(&cl100k)));
        for (from, to) in [
            ("[sdmt]", "[sdm]"),
            ("(?i:", "(?:"),
            ("{1,3}", "{1,4}"),
            (r"[^\r\n\p{L}", r"[^\n\p{L}"),
            (r"+[\r\n]*", r"+[\n]*"),
            (r"\s*[\r\n]+", r"\s*[\n]+"),
            (r"|\s+(?!\S)", ""),
            (r"| ?[^\s", r"|\s?[^\s"),
        ] {
            let other = cl100k.replacen(from, to, 1);
            assert_ne!(other, cl100k);
            assert_eq!(Family::of(&Automaton::of(&other)), None, "{other}");
        }
    }
}
