//! The meaning of a command line: the events to print, and their form.

use lttv_common::args::{InputArgs, OutputArgs};
use lttv_common::cache::CacheArgs;
use lttv_common::follow::FollowArgs;
use lttv_common::text_dump::clock_text::{ClockStyle, ClockText};
use lttv_common::text_dump::lttv::LineOptions;
use lttv_common::text_dump::pretty::PrettyOptions;
use lttv_common::text_dump::rows::RowOptions;

/// The events to print, their form, and the destination.
#[derive(Debug, Clone)]
pub struct Job {
    /// The traces, the window and the filters.
    pub input: InputArgs,
    /// The destination.
    pub output: OutputArgs,
    /// The form of the events.
    pub form: Form,
    /// The notation of times.
    pub clock: ClockStyle,
    /// The options of traces that are being recorded.
    pub follow: FollowArgs,
    /// The directory of computed data.
    pub cache: CacheArgs,
}

/// A form of the events.
#[derive(Debug, Clone)]
pub enum Form {
    /// Lines as of LTTV's `textDump`.
    Lttv(LineOptions),
    /// The text of babeltrace2, coloured and escaped as the output needs it.
    Babeltrace(PrettyOptions),
    /// One JSON object per line.
    Json,
    /// Rows with chosen columns.
    Rows(RowOptions),
    /// Only the number of the events.
    Count,
}

impl Job {
    /// Returns a printer of timestamps.
    pub fn clock(&self) -> ClockText {
        ClockText::new(self.clock, self.input.zone())
    }

    /// Returns `true` if only the number of the events is printed.
    pub fn is_count(&self) -> bool {
        matches!(self.form, Form::Count)
    }
}
