//! Times on command lines, in prompts and in configuration: one notation for all programs.
//!
//! | notation | meaning |
//! |---|---|
//! | `[-]SEC[.NANO]` | seconds since the origin of the clock |
//! | `YYYY-MM-DD[ hh:mm[:ss[.NANO]]][Z]` | a date and time |
//! | `hh:mm[:ss[.NANO]][Z]` | a time on the day of the first event |
//! | `+20ms`, `+1.5` | a time after the first event; without a unit, in seconds |
//! | `-1s` | a time before the last event; the unit is required |
//!
//! Units are `ns`, `us`, `µs`, `ms`, `s`, `min` and `h`. A `Z` at the end means UTC. Without it
//! dates and times of day are in the time zone of the [`Times`] that resolve them.
//!
//! A range is `FROM..TO` or `FROM,TO`, also in square brackets. Each side of `..` may be empty.

mod arg;
mod date;
mod event_span;
mod length;
mod range;
mod times;

pub use arg::{HELP, TimeArg, TimeArgError, parse_offset};
pub use date::date_text;
pub use event_span::event_span;
pub use length::parse_length;
pub use range::TimeRange;
pub use times::{Times, Window, WindowError};
