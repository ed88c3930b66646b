//! Corrections of clocks: traces of several machines in one order of time.
//!
//! [`Corrections`] are the options that all programs share. [`corrected`](Corrections::corrected)
//! applies them to the traces that a program has opened. The transforms come from one of these:
//!
//! | source | module |
//! |---|---|
//! | the messages between the machines | [`find`] |
//! | a file that `lttv sync --write` has written | [`TransformFile`] |
//! | the user, as offsets | [`ClockOffset`] |

pub mod advice;
mod corrections;
mod error;
mod file;
mod find;
mod names;
mod offset;

pub use corrections::{Corrected, Corrections, HostTime, HostTimes};
pub use error::CorrectionError;
pub use file::{ClockEntry, Quality, TransformFile, TransformFileError};
pub use find::{Found, Messages, drift_ppm, find, find_with, messages};
pub use names::{find_host, label, labels};
pub use offset::{ClockOffset, ClockOffsetError};
