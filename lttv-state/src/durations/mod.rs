//! Summaries of durations.
//!
//! Each contains the one before it: [`Durations`] are their count, sum and extremes; a [`Spread`] also
//! has the deviation and the times of the extremes, and a `Distribution` (feature `analyses`)
//! percentiles and histograms.

#[cfg(feature = "analyses")]
mod distribution;
mod spread;
mod sums;

#[cfg(feature = "analyses")]
pub use distribution::{Distribution, RELATIVE_ERROR};
pub use spread::{Extreme, Spread};
pub use sums::Durations;
