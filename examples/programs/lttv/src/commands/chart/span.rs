//! The time that a chart shows.

use std::error::Error;
use std::sync::Arc;

use ltt_read::{Timestamp, Trace};
use lttv_common::args::InputArgs;
use lttv_common::report::Usage;
use lttv_common::time::{Times, Window};

use super::SecondsArgs;

/// The time that a chart shows, and the origin of its axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// The requested window.
    pub(super) window: Window,
    /// The start: that of the window, but not before the first event.
    pub(super) from: Timestamp,
    /// The end: that of the window, but not after the last event.
    pub(super) to: Timestamp,
    /// The time of the first event of the traces.
    pub(super) first: Timestamp,
}

impl Span {
    /// Determines the time of a chart.
    pub(super) fn of(
        input: &InputArgs,
        seconds: SecondsArgs,
        traces: &[Arc<Trace>],
    ) -> Result<Self, Box<dyn Error>> {
        let times = Times::new(input.zone(), traces);
        let events = times.events().ok_or("no event has a time")?;
        let window = match seconds {
            SecondsArgs { from: None, seconds: None } => input.window(traces)?,
            SecondsArgs { from, seconds } => {
                let ns = |seconds: f64| (seconds * 1e9).clamp(0.0, 1e18) as u64;
                let after = |time: Timestamp, length: f64| {
                    Timestamp::from_ns(time.as_ns().saturating_add_unsigned(ns(length)))
                };
                let begin = from.map(|from| after(events.start, from));
                let end = seconds.map(|length| after(begin.unwrap_or(events.start), length));
                let window = Window { begin, end };
                times.inside(window).map_err(Usage::new)?;
                window
            }
        };
        let part = window.part_of(events).ok_or("no event is in the window")?;
        if part.start == part.end && seconds.seconds.is_some() {
            return Err(Usage::new("--from and --seconds select no part of the trace").into());
        }
        Ok(Span { window, from: part.start, to: part.end, first: events.start })
    }

    /// Returns the length in ns, at least 1.
    pub(super) fn length(&self) -> u64 {
        self.to.since(self.from).max(1)
    }

    /// Returns a time as a part of the length.
    pub(super) fn part(&self, time: Timestamp) -> f64 {
        let time = time.clamp(self.from, self.to);
        time.since(self.from) as f64 / self.length() as f64
    }

    /// Returns a time as seconds after the first event.
    pub(super) fn seconds(&self, time: Timestamp) -> f64 {
        time.as_ns().saturating_sub(self.first.as_ns()) as f64 / 1e9
    }
}
