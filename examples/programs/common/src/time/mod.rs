//! Times on command lines, in prompts and in configuration: windows of traces.
//!
//! The notation is that of [`Environment`](lttv_filter::Environment), as in filters.

mod date;
mod help;
mod length;
mod times;

pub use date::{clock_of, date_text, has_dates};
pub use help::HELP;
pub use length::parse_length;
pub use times::{Times, Window, WindowError};
