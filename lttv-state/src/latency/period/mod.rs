//! Periods that the caller defines by expressions.

mod definition;
mod open;
mod rules;

pub use definition::{Period, PeriodError};
pub(super) use definition::{Periods, describe};
pub(super) use open::{OpenPeriods, Value};
pub(super) use rules::install;
