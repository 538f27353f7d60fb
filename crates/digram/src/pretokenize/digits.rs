//! Groups of digits, counted from the right: `1234567` is `1`, `234`, `567`.

use crate::utf8::is_inside;

/// The groups of a run of digits, from left to right; all but the first have three characters.
pub(super) fn threes_from_right(run: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut left = run.iter().filter(|byte| !is_inside(**byte)).count();
    let mut start = 0;
    std::iter::from_fn(move || {
        let size = left - left.saturating_sub(1) / 3 * 3;
        left -= size;
        let mut starts = run[start..].iter().enumerate().filter(|(_, byte)| !is_inside(**byte));
        // The group ends where the character after it begins.
        let end = starts.nth(size).map_or(run.len(), |(at, _)| start + at);
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
            let found: Vec<&[u8]> = threes_from_right(run.as_bytes()).collect();
            let expected: Vec<&[u8]> = groups.iter().map(|group| group.as_bytes()).collect();
            assert_eq!(found, expected, "{run}");
        }
    }
}
