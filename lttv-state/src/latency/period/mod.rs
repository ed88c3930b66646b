//! Periods that the caller defines by expressions.

mod definition;
mod open;
mod recorded;
mod rules;

pub use definition::{Period, PeriodError};
pub(super) use definition::{Periods, describe};
pub(super) use open::{OpenPeriods, Value};
pub(super) use recorded::{PendingPeriods, PeriodHooks, RecordedPeriods};
