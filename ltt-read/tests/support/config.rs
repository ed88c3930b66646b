//! The configuration of property tests.

use proptest::test_runner::Config;

/// Returns a configuration with `cases` cases, or as many as the variable PROPTEST_CASES
/// says. Failing cases are printed but not stored in files.
pub(crate) fn cases(cases: u32) -> Config {
    let config = Config { failure_persistence: None, ..Config::default() };
    let is_asked = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if is_asked { config.cases } else { cases };
    Config { cases, max_global_rejects: 4 * cases.max(1024), ..config }
}
