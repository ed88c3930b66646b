//! A naive model of requests: the calls that each receives alone.

pub(crate) mod digest;
pub(crate) mod script;
pub(crate) mod sieve;
#[path = "../../../lttv-context/tests/support/mod.rs"]
#[allow(dead_code, reason = "other tests need all of it")]
pub(crate) mod tracesets;
pub(crate) mod world;
