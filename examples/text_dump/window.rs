//! The times between which events are printed.

use std::sync::Arc;

use ltt_read::{Merge, Timestamp, Trace};
use lttv_context::Bounds;
use lttv_examples::report::Usage;
use lttv_examples::text_dump::time_arg::{TimeArg, check_order};

use crate::cli::Cli;

/// The times between which events are printed, both included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) begin: Option<Timestamp>,
    pub(crate) end: Option<Timestamp>,
}

impl Window {
    /// The window as points in time. A time of day is one of the day of the first
    /// event.
    pub(crate) fn new(cli: &Cli, traces: &[Arc<Trace>]) -> Result<Window, Usage> {
        let (begin, end) = cli.bounds();
        let zone = cli.zone();
        let first = if [begin, end].into_iter().flatten().any(TimeArg::needs_date) {
            let mut merge = Merge::new(traces);
            std::iter::from_fn(|| merge.next().map(|e| e.timestamp())).flatten().next()
        } else {
            None
        };
        let resolve = |option, arg: Option<&TimeArg>| {
            let resolved = arg.map(|arg| arg.resolve(&zone, first));
            resolved.transpose().map_err(|error| Usage::new(format_args!("{option}: {error}")))
        };
        let (begin, end) = (resolve("--begin", begin)?, resolve("--end", end)?);
        check_order(begin, end)?;
        Ok(Window { begin, end })
    }

    /// Whether an event of a time is in it. Without a time it is in no window
    /// that has an end.
    #[inline]
    pub(crate) fn contains(self, time: Option<Timestamp>) -> bool {
        match time {
            Some(time) => {
                self.begin.is_none_or(|begin| time >= begin)
                    && self.end.is_none_or(|end| time <= end)
            }
            None => self.is_everything(),
        }
    }

    pub(crate) fn is_everything(self) -> bool {
        self.begin.is_none() && self.end.is_none()
    }

    /// What has to be read: up to its end, which is in it.
    pub(crate) fn bounds(self) -> Bounds {
        match self.end.and_then(|end| end.ns().checked_add(1)) {
            Some(behind) => Bounds::all().until(Timestamp::from_ns(behind)),
            None => Bounds::all(),
        }
    }
}
