//! The faults that the reads of a dataset met: errors, losses, clocks that go back.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use ltt_read::{Error, Merge, Notice};
use lttv_common::losses::Losses;
use lttv_common::report::{self, Report};
use lttv_common::text::clock_text::{ClockStyle, ClockText};
use lttv_common::text_dump::notice_text::Warnings;
use lttv_common::time::Window;
use lttv_common::trace_names::trace_names;
use lttv_context::{Traceset, TracesetContext};
use lttv_filter::Zone;
use lttv_state::analysis::Analyzed;
use lttv_state::kernel_history::Recorded;
use serde::{Deserialize, Serialize};

/// The name of the program in messages.
const PROGRAM: &str = "lttv-server";
/// The greatest number of errors, and of warnings, that are kept. A read keeps no more.
const MOST: usize = 4096;
/// The greatest length of a text in bytes.
const LONGEST: usize = 1000;

/// The errors and notices of one read. They have to be told to the dataset.
#[derive(Debug, Default)]
#[must_use = "errors that nobody tells let users take a part for all"]
pub struct ReadFaults {
    /// The errors.
    pub errors: Vec<Error>,
    /// The number of further errors.
    pub errors_omitted: u64,
    /// The notices.
    pub notices: Vec<Notice>,
    /// The number of further notices.
    pub notices_omitted: u64,
}

impl ReadFaults {
    /// Takes those of a context.
    pub(super) fn of(context: &mut TracesetContext<'_>) -> Self {
        ReadFaults {
            errors: context.take_errors(),
            errors_omitted: context.merge().errors_omitted(),
            notices: context.take_notices(),
            notices_omitted: context.merge().notices_omitted(),
        }
    }

    /// Takes those of a merge.
    pub(super) fn of_merge(merge: &mut Merge) -> Self {
        ReadFaults {
            errors: merge.take_errors(),
            errors_omitted: merge.errors_omitted(),
            notices: merge.take_notices(),
            notices_omitted: merge.notices_omitted(),
        }
    }

    /// Takes those of a recorded history.
    pub(super) fn of_history(recorded: &mut Recorded) -> Self {
        ReadFaults {
            errors: std::mem::take(&mut recorded.errors),
            errors_omitted: recorded.errors_omitted,
            notices: std::mem::take(&mut recorded.notices),
            notices_omitted: recorded.notices_omitted,
        }
    }

    /// Takes those of an analysis, with the notices that its context had.
    pub(super) fn of_analysis<T>(analyzed: &mut Analyzed<T>, notices: Vec<Notice>) -> Self {
        ReadFaults {
            errors: std::mem::take(&mut analyzed.errors),
            errors_omitted: analyzed.errors_omitted,
            notices,
            notices_omitted: analyzed.notices_omitted,
        }
    }

    /// Tells the errors and notices to a dataset.
    pub(super) fn tell(self, faults: &Faults) {
        faults.add(self);
    }
}

/// The result of a read, with what it has met.
#[derive(Debug)]
#[must_use = "the faults have to be told"]
pub(super) struct Found<T> {
    pub(super) output: T,
    pub(super) faults: ReadFaults,
}

impl<T> Found<T> {
    /// Tells the faults to a dataset, and returns the result.
    pub(super) fn told(self, faults: &Faults) -> T {
        self.faults.tell(faults);
        self.output
    }
}

/// The faults of a dataset: those of all of its reads, each once. Each is written to standard error when it
/// is first met.
#[derive(Debug)]
pub struct Faults {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// The form of notices.
    form: Warnings,
    known: HashSet<String>,
    told: ToldFaults,
}

/// The faults that have been met so far, as texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldFaults {
    /// The errors: what could not be read is missing in all answers.
    pub errors: Vec<String>,
    /// The number of further errors.
    pub errors_omitted: u64,
    /// The warnings, such as those about losses and clocks that go back.
    pub warnings: Vec<String>,
    /// The number of further warnings.
    pub warnings_omitted: u64,
    /// A summary of what the tracer lost.
    pub losses: Option<String>,
}

impl Faults {
    /// Creates the list of a traceset without faults.
    pub(super) fn new(traceset: &Traceset) -> Self {
        let clock = ClockText::new(ClockStyle::Seconds, Zone::local());
        let names = trace_names(traceset.traces().iter().map(|trace| trace.path()));
        let form = Warnings::new(clock, traceset.traces(), &names);
        let (known, told) = (HashSet::new(), ToldFaults::default());
        Faults { inner: Mutex::new(Inner { form, known, told }) }
    }

    fn with<T>(&self, run: impl FnOnce(&mut Inner) -> T) -> T {
        run(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the faults so far.
    pub fn told(&self) -> ToldFaults {
        self.with(|inner| inner.told.clone())
    }

    /// Adds the faults that opening the traces or an earlier read of them has met.
    pub(super) fn add_told(&self, earlier: ToldFaults) {
        self.with(|inner| {
            earlier.errors.into_iter().for_each(|text| inner.add_error(text));
            earlier.warnings.into_iter().for_each(|text| inner.add_warning(text));
            inner.omitted(earlier.errors_omitted, earlier.warnings_omitted);
            if earlier.losses.is_some() {
                inner.set_losses(earlier.losses);
            }
        });
    }

    /// Adds a summary of what the tracer lost, when all events are counted.
    pub(super) fn add_losses(&self, traceset: &Traceset, events: u64) {
        let losses = Losses::of(traceset.traces(), Window::default());
        self.with(|inner| inner.set_losses(losses.summary(Some(events))));
    }

    fn add(&self, read: ReadFaults) {
        self.with(|inner| {
            read.errors
                .iter()
                .for_each(|error| inner.add_error(ltt_read::ErrorChain(error).to_string()));
            for notice in &read.notices {
                let text = inner.form.text(notice);
                inner.add_warning(text);
            }
            inner.omitted(read.errors_omitted, read.notices_omitted);
        });
    }
}

impl Inner {
    fn add_error(&mut self, text: String) {
        let Some(text) = self.unknown(text, self.told.errors.len()) else { return };
        Report::new(PROGRAM).error(&*text);
        self.told.errors.push(text);
    }

    fn add_warning(&mut self, text: String) {
        let Some(text) = self.unknown(text, self.told.warnings.len()) else { return };
        report::line(&text);
        self.told.warnings.push(text);
    }

    /// Returns a text that is new, shortened, unless there are too many already.
    fn unknown(&mut self, mut text: String, count: usize) -> Option<String> {
        text.truncate(text.floor_char_boundary(LONGEST));
        (count < MOST && self.known.insert(text.clone())).then_some(text)
    }

    /// Counts those that a read has omitted. Reads of the same traces omit the same.
    fn omitted(&mut self, errors: u64, warnings: u64) {
        self.told.errors_omitted = self.told.errors_omitted.max(errors);
        self.told.warnings_omitted = self.told.warnings_omitted.max(warnings);
    }

    fn set_losses(&mut self, losses: Option<String>) {
        if self.told.losses != losses
            && let Some(losses) = &losses
        {
            Report::new(PROGRAM).message(losses);
        }
        self.told.losses = losses;
    }
}
