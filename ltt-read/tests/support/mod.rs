//! Random traces for property tests: schemas of all kinds of fields, values for
//! them, and how they are read back.

pub(crate) mod case;
pub(crate) mod keys;
pub(crate) mod layout;
pub(crate) mod read_back;
pub(crate) mod shape;
pub(crate) mod values;

/// So many cases; failing ones are printed, not kept in files.
pub(crate) fn cases(cases: u32) -> proptest::test_runner::Config {
    proptest::test_runner::Config { cases, failure_persistence: None, ..Default::default() }
}
