//! Groups of digits, counted from the right: `1234567` is `1`, `234`, `567`.

use crate::utf8::is_inside;

/// The groups of a run of digits, from left to right; all but the first have three characters.
pub(super) fn threes_from_right(run: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut remaining = run.iter().filter(|byte| !is_inside(**byte)).count();
    let mut start = 0;
    std::iter::from_fn(move || {
        let size = remaining - remaining.saturating_sub(1) / 3 * 3;
        remaining -= size;
        let mut starts = run[start..].iter().enumerate().filter(|(_, byte)| !is_inside(**byte));
        // The group ends at the start of the next character.
        let end = starts.nth(size).map_or(run.len(), |(offset, _)| start + offset);
        let group = &run[std::mem::replace(&mut start, end)..end];
        (!group.is_empty()).then_some(group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_counted_from_the_right() {
        for (run, groups) in [
            ("1", vec!["1"]),
            ("123", vec!["123"]),
            ("1234", vec!["1", "234"]),
            ("12345", vec!["12", "345"]),
            ("٣½1234", vec!["٣½1", "234"]),
        ] {
            let result: Vec<&[u8]> = threes_from_right(run.as_bytes()).collect();
            let expected: Vec<&[u8]> = groups.iter().map(|group| group.as_bytes()).collect();
            assert_eq!(result, expected, "{run}");
        }
    }
}
