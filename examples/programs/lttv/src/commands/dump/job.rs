//! The meaning of a command line: the events to print, and their form.

use std::sync::Arc;

use ltt_read::Trace;
use lttv_common::args::{InputArgs, OutputArgs};
use lttv_common::cache::CacheArgs;
use lttv_common::follow::FollowArgs;
use lttv_common::report::Usage;
use lttv_common::text::clock_text::{ClockStyle, ClockText};
use lttv_common::text_dump::EventText;
use lttv_common::text_dump::json::Json;
use lttv_common::text_dump::lines::Lines;
use lttv_common::text_dump::lttv::Lttv;
use lttv_common::text_dump::options::LineOptions;
use lttv_common::text_dump::pretty::{Pretty, PrettyOptions};
use lttv_common::text_dump::rows::{RowOptions, Rows};
use lttv_common::time::{Times, clock_of};

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
    /// `true` if times are in seconds where they are no dates.
    pub is_usual_clock: bool,
    /// `true` for times since the first event.
    pub is_relative: bool,
    /// The options of traces that are being recorded.
    pub follow: FollowArgs,
    /// The length of the context of each event in ns, if it is printed.
    pub context: Option<u64>,
    /// The directory of computed data.
    pub cache: CacheArgs,
}

/// A form of the events.
#[derive(Debug, Clone)]
pub enum Form {
    /// Lines for people.
    Lines,
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
    /// Returns a printer of timestamps of traces.
    pub fn clock(&self, traces: &[Arc<Trace>]) -> ClockText {
        let zone = self.input.zone();
        let first = || Times::new(zone.clone(), traces).events().map(|span| span.start);
        match self.is_relative.then(first).flatten() {
            Some(first) => ClockText::since(first),
            None if self.is_usual_clock => ClockText::new(clock_of(self.clock, traces), zone),
            None => ClockText::new(self.clock, zone),
        }
    }

    /// Returns a printer of events; `None` if they are only counted.
    ///
    /// # Errors
    ///
    /// If there is no column of a chosen name.
    pub fn printer(
        &self,
        traces: &[Arc<Trace>],
        names: &[String],
        is_terminal: bool,
    ) -> Result<Option<Box<dyn EventText>>, Usage> {
        let colored = self.output.colored(is_terminal);
        Ok(Some(match &self.form {
            Form::Lines => Box::new(Lines::new(traces, self.clock(traces), colored)),
            Form::Lttv(options) => {
                Box::new(Lttv::with(traces, self.clock(traces), colored, *options))
            }
            Form::Babeltrace(options) => {
                // To files and pipes, the bytes are those of babeltrace2.
                let options = PrettyOptions { colored, escaped: is_terminal, ..*options };
                Box::new(Pretty::new(traces, names, self.clock(traces), &options))
            }
            Form::Json => Box::new(Json::new(traces)),
            Form::Rows(options) => {
                let rows = Rows::new(traces, self.clock(traces), options.clone());
                Box::new(rows.map_err(|error| Usage::new(format_args!("--columns: {error}")))?)
            }
            Form::Count => return Ok(None),
        }))
    }

    /// Returns `true` if only the number of the events is printed.
    pub fn is_count(&self) -> bool {
        matches!(self.form, Form::Count)
    }
}
