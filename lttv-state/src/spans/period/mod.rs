//! Periods that the caller defines by expressions.

mod definition;
mod fields;
mod open;
mod recorded;
mod rules;

pub use definition::{Period, PeriodError};
pub(crate) use definition::{Periods, describe};
pub(crate) use fields::{can_pass, field_of, missing_field};
pub(crate) use open::{OpenPeriods, Value};
pub(crate) use recorded::{PendingPeriods, PeriodHooks, RecordedPeriods};
pub(crate) use rules::{Read, Source};
