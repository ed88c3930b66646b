//! Numeric fields of events over time, such as frequencies of CPUs and sizes of memory.
//!
//! A [`Counter`] says which events have its value, in which field, and what tells its series apart.
//! [`CounterAnalysis`] finds the value of each [`Series`] over time.
//!
//! # Rules
//!
//! * A value holds from its event up to the next one of the series. Before the first event it is unknown.
//! * The fields of [increments](Counter::delta) add up, from 0 before the first event of the trace.
//! * Least, greatest and mean values are over the time of the window in which the value is known, also from an
//!   event before the window.
//! * Integers are exact. A series with a floating-point number consists of such numbers from there on.

mod analysis;
mod definition;
mod figures;
mod hooks;
mod number;
mod series;

pub use analysis::{CounterAnalysis, CounterSettings, FoundCounters, Slice, State};
pub use definition::{Counter, CounterError};
pub use figures::CounterFigures;
pub use number::Number;
pub use series::Series;
