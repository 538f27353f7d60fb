//! Boundaries of the published family of patterns, from masks of the classes of 64 bytes.
//!
//! The published patterns differ in little: which character may precede a word, how many digits stand
//! together, whether newlines end a pretoken. In ASCII text each of their rules is some shifts and
//! additions of masks with a bit for each byte, so that the boundaries of a block take about a hundred
//! instructions and no branch on what the bytes are. What depends on bytes behind the block is left out:
//! the next block begins at the last boundary that is certain, which is the start of a pretoken.
//!
//! A pattern belongs to the family by what it does, not by how it is written: its automaton is compared
//! with that of a member on all ASCII texts.

mod classes;

use std::collections::HashSet;

use super::automaton::{Automaton, DEAD};
use super::blocks::next_of;
use super::effort::Effort;
use super::kinds::KindsOfOthers;
use crate::bits::set_bits;
use crate::cpu::SimdLevel;
use crate::interrupt::Never;
pub(super) use classes::BLOCK;
use classes::{ByteMasks, CASELESS, Classes, HARD, LETTER, MARK, OTHER, UPPER};

/// A member of the family that a pattern belongs to.
pub(super) struct FamilyMember {
    family: Family,
    /// What characters that are not ASCII are to the pattern: [`LETTER`], [`OTHER`] or [`HARD`].
    kinds: KindsOfOthers,
    simd: SimdLevel,
}

/// A letter without case, and a mark.
const IDEOGRAPH: char = '語';
const ACCENT: char = '\u{301}';

/// Which member of the family a pattern is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Family {
    kind: Kind,
    /// The maximum number of digits in a pretoken; 0 for any number.
    digits: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
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
    /// The member that cuts text as an automaton does, if there is one.
    pub(super) fn of(automaton: &Automaton) -> Option<FamilyMember> {
        let family = Family::of(automaton)?;
        // Characters of one class are the same to the automaton.
        let alphabet = automaton.alphabet();
        let kinds = [('b', LETTER), ('#', OTHER), ('B', UPPER), (IDEOGRAPH, CASELESS), (ACCENT, MARK)];
        let kinds = if family.kind == Kind::O200k { &kinds[..] } else { &kinds[..2] };
        let kind = |class: usize| {
            let kind = kinds.iter().find(|(c, _)| usize::from(alphabet.class(*c)) == class);
            kind.map_or(HARD, |&(_, kind)| kind)
        };
        let kinds = KindsOfOthers::new(alphabet, &Vec::from_iter((0..alphabet.len()).map(kind)));
        Some(FamilyMember { family, kinds, simd: SimdLevel::best() })
    }

    /// Calls `visit` with the start of each block and the starts of pretokens in it, until `visit` returns
    /// false or a block contains no start that is certain. `start` is that of a pretoken. Returns the last
    /// start.
    #[inline(always)]
    pub(super) fn each_block(
        &self,
        text: &[u8],
        start: usize,
        visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        if self.family.kind == Kind::O200k {
            self.each_block_at::<true>(text, start, visit)
        } else {
            self.each_block_at::<false>(text, start, visit)
        }
    }

    #[inline(always)]
    fn each_block_at<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        match self.simd {
            // SAFETY: the level was chosen because the processor supports it.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.each_block_avx512::<CASED>(text, start, visit) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { self.each_block_avx2::<CASED>(text, start, visit) },
            SimdLevel::Plain => self.each_block_by::<CASED>(text, start, ByteMasks::of_words::<CASED>, visit),
        }
    }

    // The loop is compiled with the instructions too, so that nothing is called for a block.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
    fn each_block_avx512<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        self.each_block_by::<CASED>(text, start, |block| ByteMasks::of_avx512::<CASED>(block), visit)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn each_block_avx2<const CASED: bool>(
        &self,
        text: &[u8],
        start: usize,
        visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        self.each_block_by::<CASED>(text, start, |block| ByteMasks::of_avx2::<CASED>(block), visit)
    }

    #[inline(always)]
    fn each_block_by<const CASED: bool>(
        &self,
        text: &[u8],
        mut start: usize,
        masks: impl Fn(&[u8; BLOCK]) -> ByteMasks,
        mut visit: impl FnMut(usize, u64) -> bool,
    ) -> usize {
        let mut begin = start;
        while let Some(block) = text[begin..].first_chunk() {
            let classes = Classes::from_masks::<CASED>(masks(block), &self.kinds, text, begin);
            let starts = self.family.starts::<CASED>(classes, block);
            if starts != 0 {
                if !visit(begin, starts) {
                    break;
                }
                start = begin + starts.ilog2() as usize;
                begin = start;
            } else if let Some(last) = classes.last_of_letters() {
                // The rest of a run of letters is cut as the whole.
                begin += last;
            } else {
                break;
            }
        }
        start
    }
}

impl Family {
    /// The member that cuts ASCII text as an automaton does, if there is one.
    fn of(automaton: &Automaton) -> Option<Family> {
        let candidates = [
            Family { kind: Kind::Cl100k, digits: 3 },
            Family { kind: Kind::O200k, digits: 3 },
            Family { kind: Kind::Gpt2, digits: 0 },
            Family { kind: Kind::Cl100k, digits: 1 },
            Family { kind: Kind::Cl100k, digits: 0 },
            Family { kind: Kind::Cl100k, digits: 2 },
        ];
        candidates.into_iter().find(|family| family.is_like(automaton))
    }

    /// The pattern, of its ASCII characters and of an [`IDEOGRAPH`] and an [`ACCENT`].
    fn pattern(self) -> String {
        match self.kind {
            Kind::Gpt2 => r"'(?:[sdmt]|ll|ve|re)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+".into(),
            Kind::O200k => {
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
            Kind::Cl100k => {
                let digits = if self.digits == 0 { "+".into() } else { format!("{{1,{}}}", self.digits) };
                let contractions = "'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])";
                let others = r" ?[^\sA-Za-z0-9]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
                format!(r"{contractions}|[^\r\nA-Za-z0-9]?[A-Za-z]+|[0-9]{digits}|{others}")
            }
        }
    }

    /// Whether an automaton takes the same steps as its own on all texts of these characters.
    fn is_like(self, automaton: &Automaton) -> bool {
        let Ok(own) = Automaton::new(&self.pattern(), &mut Effort::new(&Never)) else { return false };
        let more: &[char] = if self.kind == Kind::O200k { &[IDEOGRAPH, ACCENT] } else { &[] };
        let characters: HashSet<[usize; 2]> = ('\0'..'\u{80}')
            .chain(more.iter().copied())
            .map(|c| [&own, automaton].map(|one| usize::from(one.alphabet().class(c))))
            .collect();
        let mut seen = HashSet::from([[own.start(), automaton.start()]]);
        let mut open = Vec::from_iter(seen.iter().copied());
        while let Some([one, other]) = open.pop() {
            if own.matches_at_end(one) != automaton.matches_at_end(other) {
                return false;
            }
            for &[class, others] in &characters {
                let steps = [own.step(one, class), automaton.step(other, others)];
                let [(next, matched), (others_next, others_matched)] = steps;
                if matched != others_matched || (next == DEAD) != (others_next == DEAD) {
                    return false;
                }
                if next != DEAD && seen.insert([next, others_next]) {
                    open.push([next, others_next]);
                }
            }
        }
        true
    }

    /// The starts of pretokens in a block that begins with one, apart from that: a bit for each byte. Those
    /// that depend on what follows the block are left out.
    #[inline(always)]
    fn starts<const CASED: bool>(self, classes: Classes, bytes: &[u8]) -> u64 {
        let Classes { len, begins, letters, upper, caseless, digits, spaces, newlines, blanks, apostrophes } =
            classes;
        let valid = u64::MAX.checked_shr(64 - len).unwrap_or(0);
        let others = valid & !(letters | digits | spaces);
        let after_blank = blanks << 1;
        let other_starts = others & !(others << 1);
        let mut starts = other_starts & !after_blank;
        // One other byte that begins a pretoken.
        let single = starts & !(others >> 1);
        let mut certain = u64::MAX;
        match self.kind {
            Kind::Gpt2 => {
                starts |= (letters & !(letters << 1) | digits & !(digits << 1)) & !after_blank;
                // White space gives its last character to what follows it.
                starts |= spaces & !(spaces << 1) | spaces & !(spaces >> 1);
            }
            Kind::Cl100k | Kind::O200k => {
                let inner = spaces & !newlines;
                // A character that begins a run of others takes the letters that follow it; where another
                // one follows, there is no letter.
                starts |= letters & !(letters << 1 | inner << 1 | next_of(starts, begins));
                starts |= self.digit_starts(digits);
                // Newlines directly after other characters belong to them: a sum carries through each run
                // that begins so.
                let after_others = newlines & !(newlines << 1) & others << 1;
                let attached = newlines & !newlines.wrapping_add(after_others);
                let runs = spaces & !attached;
                starts |= runs & !(runs << 1);
                starts |= inner & !(spaces >> 1);
                // Of a run of white space, what is behind its last newline.
                let mut behind = inner & (newlines & runs) << 1;
                let before_newline = inner & newlines >> 1;
                if before_newline != 0 {
                    let carried = inner.reverse_bits().wrapping_add(before_newline.reverse_bits());
                    behind &= !(inner & !carried.reverse_bits());
                }
                starts |= behind;
                if CASED {
                    let lower = letters & !(upper | caseless);
                    starts |= upper & begins & lower << 1;
                    // Slashes behind newlines are rare.
                    let unclear = classes.unclear() | slashes(bytes, attached);
                    certain = (unclear & unclear.wrapping_neg()).wrapping_sub(1);
                }
            }
        }
        // What follows white space at the end of the block decides where that is cut.
        let last_other = 64 - (valid & !spaces).leading_zeros();
        certain &= if last_other < 63 { (2 << last_other) - 1 } else { u64::MAX };
        let mut contractions = apostrophes & letters >> 1 & single;
        if CASED {
            // After the last byte of the block there may be a letter.
            contractions = apostrophes & letters << 1 & (letters >> 1 | valid & !(valid >> 1));
        }
        // Where the last contraction ends, in which case another one does not belong to the same word.
        let mut end = 0;
        while contractions != 0 {
            let at = contractions.trailing_zeros();
            contractions &= contractions - 1;
            if CASED && at == end {
                continue;
            }
            match self.contraction(&bytes[at as usize + 1..len as usize]) {
                Some(0) => {}
                Some(letters) => {
                    end = at + 1 + letters;
                    // A contraction begins with the apostrophe, or is part of the word before it.
                    let first = if CASED { at } else { at + 1 };
                    let inside = u64::MAX.checked_shl(end).unwrap_or(0) ^ u64::MAX << first;
                    starts &= !inside;
                    // Behind the block nothing is set.
                    starts |= 1u64.checked_shl(end).unwrap_or(0);
                }
                None => {
                    certain &= if CASED { (1 << at) - 1 } else { (2 << at) - 1 };
                    break;
                }
            }
        }
        starts & certain & valid & !1
    }

    /// The starts of groups of digits.
    #[inline(always)]
    fn digit_starts(self, digits: u64) -> u64 {
        let mut starts = digits & !(digits << 1);
        if self.digits > 0 {
            // Where this many digits precede a digit.
            let mut full = digits;
            for _ in 0..self.digits {
                full &= full << 1;
            }
            let mut step = self.digits;
            while full != 0 && step < 64 {
                starts |= (starts << step) & full;
                full &= full << step;
                step *= 2;
            }
        }
        starts
    }

    /// The number of letters of the contraction that these bytes begin with; 0 if there is none, `None` if
    /// it depends on bytes that follow.
    #[inline(always)]
    fn contraction(self, bytes: &[u8]) -> Option<u32> {
        let letter = |byte: u8| if self.kind == Kind::Gpt2 { byte } else { byte | 0x20 };
        match bytes.first().map(|&byte| letter(byte)) {
            Some(b's' | b't' | b'm' | b'd') => Some(1),
            Some(first @ (b'l' | b'v' | b'r')) => {
                let expected = if first == b'l' { b'l' } else { b'e' };
                bytes.get(1).map(|&second| if letter(second) == expected { 2 } else { 0 })
            }
            Some(_) => Some(0),
            None => None,
        }
    }
}

/// The slashes behind newlines that belong to the characters before them.
#[inline(always)]
fn slashes(bytes: &[u8], attached: u64) -> u64 {
    let mut slashes = 0;
    for at in set_bits(attached) {
        slashes |= u64::from(bytes.get(at + 1) == Some(&b'/')) << 1 << at;
    }
    slashes
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::GoesOn;
    use super::super::automaton::Notes;
    use super::*;

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

    #[test]
    fn starts_are_those_of_the_automaton() {
        let members = [
            (Family { kind: Kind::Gpt2, digits: 0 }, GPT2.to_string()),
            (Family { kind: Kind::Cl100k, digits: 3 }, cl100k("{1,3}")),
            (Family { kind: Kind::Cl100k, digits: 2 }, cl100k("{1,2}")),
            (Family { kind: Kind::Cl100k, digits: 1 }, cl100k("")),
            (Family { kind: Kind::Cl100k, digits: 0 }, cl100k("+")),
            (Family { kind: Kind::O200k, digits: 3 }, O200K.to_string()),
        ];
        // The last ones are hard; the bytes are no characters.
        const PIECES: [&[u8]; 48] = [
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
            "𝒳".as_bytes(),
            "🙂".as_bytes(),
            b"\xff",
            b"\xe3\x81",
            b"\xc3",
            "\u{3000}".as_bytes(),
            "\u{a0}".as_bytes(),
            "ſ".as_bytes(),
            "٣".as_bytes(),
            "K".as_bytes(),
            "\u{85}".as_bytes(),
        ];
        let mut random = 1u64;
        let mut next = move |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        for (family, pattern) in members {
            let automaton = Automaton::of(&pattern);
            assert_eq!(Family::of(&automaton), Some(family));
            let forms: Vec<FamilyMember> = SimdLevel::available()
                .into_iter()
                .map(|simd| simd.force(|| FamilyMember::of(&automaton).unwrap()))
                .collect();
            let (mut found, mut bytes) = (0, 0);
            for _ in 0..30_000 {
                let mut text = Vec::new();
                for _ in 0..next(40) {
                    // Many are ASCII, and few are hard.
                    let pieces = [30, 42, 42, 42, 42, 42, 42, PIECES.len()][next(8)];
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
                    let Some(block) = text[start..].first_chunk::<BLOCK>() else { break };
                    for member in &forms {
                        let mut ends = Vec::new();
                        // A run of letters may be longer than a block.
                        member.each_block(&text[start..], 0, |begin, found| {
                            ends.extend(
                                (1..64).filter(|at| found >> at & 1 == 1).map(|at| start + begin + at),
                            );
                            false
                        });
                        let first = expected.partition_point(|&end| end <= start);
                        assert_eq!(
                            ends,
                            expected[first..][..ends.len()],
                            "{family:?} {:?} {start} {:?}",
                            member.simd,
                            String::from_utf8_lossy(block)
                        );
                        found += ends.len();
                        bytes += ends.last().map_or(0, |last| last - start);
                    }
                    start = end;
                }
            }
            assert!(found > 500_000 && bytes > found, "{found} starts in {bytes} bytes");
        }
    }

    #[test]
    fn patterns_that_cut_otherwise_are_no_members() {
        let twin = r"'(?i:s|t|re|ve|m|ll|d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}\p{N}?\p{N}?| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\n\r]+|\s+(?!\S)|\s+";
        let cl100k = cl100k("{1,3}");
        assert_eq!(Family::of(&Automaton::of(twin)), Family::of(&Automaton::of(&cl100k)));
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
