//! Times that users write: one notation for expressions, options, prompts and settings.
//!
//! The notations are those of the [`Environment`](crate::Environment).

mod civil;
mod error;
mod length;
mod notation;
mod range;
mod resolve;
mod text;
#[cfg(feature = "traces")]
mod traces;

pub use civil::CivilTime;
pub(crate) use civil::{CivilError, date_time, time_of_day, write_date_time, write_time_of_day};
pub use error::{TimeError, TimeErrorKind};
pub use length::parse_length;
pub use notation::Notation;
pub use range::TimeRangeText;
#[cfg(feature = "traces")]
pub(crate) use resolve::resolve_number;
pub(crate) use resolve::{Covered, resolve_civil, resolve_time_of_day};
#[cfg(feature = "traces")]
pub(crate) use text::Form;
pub use text::TimeText;
#[cfg(feature = "traces")]
pub use traces::TraceTimes;
