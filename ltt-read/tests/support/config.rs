//! How property tests run.

use proptest::test_runner::Config;

/// So many cases; failing ones are printed, not kept in files.
pub(crate) fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}
