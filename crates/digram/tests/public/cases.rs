//! How many cases a property takes.

use proptest::test_runner::Config;

/// So many cases; or as many as `PROPTEST_CASES` says, to look further, or where each takes long.
pub fn cases(count: u32) -> Config {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => Config::default(),
        None => Config::with_cases(count),
    }
}
