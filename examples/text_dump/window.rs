//! The time window of the events that are printed.

use std::sync::Arc;

use ltt_read::{Merge, Timestamp, Trace};
use lttv_context::Bounds;
use lttv_examples::report::Usage;
use lttv_examples::text_dump::time_arg::{TimeArg, check_order};

use crate::cli::Cli;

/// A time window, both times inclusive; `None` for no limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) begin: Option<Timestamp>,
    pub(crate) end: Option<Timestamp>,
}

impl Window {
    /// Resolves the window of the command line. A time of day is on the day of the first event.
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

    /// Returns `true` if an event of this time is in the window. An event without a time is
    /// only in a window without limits.
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

    /// Returns `true` if the window has no limits.
    pub(crate) fn is_everything(self) -> bool {
        self.begin.is_none() && self.end.is_none()
    }

    /// Returns the bounds of the read: up to the end of the window, inclusive.
    pub(crate) fn bounds(self) -> Bounds {
        match self.end.and_then(|end| end.as_ns().checked_add(1)) {
            Some(after) => Bounds::all().until(Timestamp::from_ns(after)),
            None => Bounds::all(),
        }
    }
}
