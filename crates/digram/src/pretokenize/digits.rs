//! Groups of digits, counted from the right: `1234567` is `1`, `234`, `567`.

/// The groups of a run of digits, from left to right; all but the first have three characters.
pub(super) fn threes_from_right(run: &[u8]) -> impl Iterator<Item = &[u8]> {
    let starts: Vec<usize> =
        run.iter().enumerate().filter(|(_, byte)| **byte & 0xc0 != 0x80).map(|(at, _)| at).collect();
    let first = starts.len() % 3;
    let mut cuts: Vec<usize> = starts.iter().copied().skip(first).step_by(3).collect();
    if first > 0 {
        cuts.insert(0, 0);
    }
    cuts.push(run.len());
    (1..cuts.len()).map(move |i| &run[cuts[i - 1]..cuts[i]])
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
