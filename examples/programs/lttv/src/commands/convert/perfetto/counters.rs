//! Counters: a track for each series.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lttv_common::time::Window;
use lttv_context::Traceset;
use lttv_state::analysis;
use lttv_state::counters::{Counter, CounterAnalysis, CounterSettings, FoundCounters};

use super::json::{Json, Track};
use super::tracks::HOST;

/// Reads the counters in a window.
pub(super) fn read(
    traceset: &Traceset,
    window: Window,
    settings: CounterSettings,
    (threads, cancel): (usize, &Arc<AtomicBool>),
) -> FoundCounters {
    let read = analysis::read(traceset).window(window.range()).threads(threads).cancel(cancel);
    read.run(CounterAnalysis::new(settings.with_changes())).output
}

/// Writes the values of each series. Those without a begin hold from the zero of times on.
///
/// # Errors
///
/// If they cannot be written.
pub(super) fn write<W: Write>(
    counters: &[Counter],
    found: &FoundCounters,
    zero: i64,
    json: &mut Json<W>,
) -> io::Result<()> {
    for series in found.series() {
        let counter = counters.get(series.counter());
        let mut name = counter.map_or("", |counter| counter.name()).to_owned();
        for (label, value) in series.keys() {
            name += &format!(" {label}={}", value.as_deref().unwrap_or("?"));
        }
        let unit = counter.map_or("", |counter| counter.unit_text());
        let host = series.trace().0 as i64 * HOST;
        let track = Track { pid: host, tid: host };
        for (time, value) in series.changes() {
            json.counter(&name, track, time.as_ns().max(zero), (unit, value))?;
        }
    }
    Ok(())
}
