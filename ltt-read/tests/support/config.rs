//! How property tests run.

use proptest::test_runner::Config;

/// So many cases, or what PROPTEST_CASES says; failing ones are printed, not kept
/// in files.
pub(crate) fn cases(cases: u32) -> Config {
    let config = Config { failure_persistence: None, ..Config::default() };
    let is_asked = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if is_asked { config.cases } else { cases };
    Config { cases, max_global_rejects: 4 * cases.max(1024), ..config }
}
