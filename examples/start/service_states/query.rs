//! Queries on a history of services, printed as tables.

use std::error::Error;
use std::io::Write;
use std::ops::Range;

use lttv_common::escape;
use lttv_common::text_dump::output::Output;
use lttv_state::history::{History, HistoryError, Timestamp};
use lttv_state::tree::Quark;
use lttv_state::value::StateValue;

use crate::time::{Duration, Time};
use crate::wrong;

/// Returns the services that match a pattern, in the order of their paths. An attribute
/// without a state at any time is only a part of paths.
pub(crate) fn services(history: &History, pattern: &str) -> Result<Vec<Quark>, Box<dyn Error>> {
    let tree = history.tree();
    let all = history.start()..history.end();
    let mut found = Vec::new();
    for quark in tree.matching(Quark::ROOT, pattern).map_err(wrong)? {
        if history.first_with(quark, all.clone(), |value| !value.is_null())?.is_some() {
            found.push(quark);
        }
    }
    if found.is_empty() {
        return Err(wrong(format!("no service matches {pattern:?}")));
    }
    found.sort_by_cached_key(|quark| tree.path(*quark));
    Ok(found)
}

/// Returns a state as text.
pub(crate) fn state_text(value: StateValue<'_>) -> String {
    match value {
        StateValue::Null => "-".to_owned(),
        StateValue::Str(text) => escape::name(text).into_owned(),
        value => value.to_string(),
    }
}

/// Prints the states of services at a time.
pub(crate) fn at(
    history: &History,
    time: Timestamp,
    pattern: &str,
    out: &mut Output,
) -> Result<(), Box<dyn Error>> {
    let services = services(history, pattern)?;
    let width = width(history, &services);
    for quark in services {
        let interval = history.at(quark, time).map_err(|error| match error {
            HistoryError::OutOfRange { start, end, .. } => {
                wrong(format!("the history is from {} to {}", Time(start), Time(end)))
            }
            error => error.into(),
        })?;
        let (state, since) = (state_text(interval.value), Time(interval.start));
        let path = name(history, quark);
        writeln!(out, "{path:width$}  {state:<12} since {since}, until {}", Time(interval.end))?;
    }
    Ok(())
}

/// Prints the states of one service.
pub(crate) fn intervals(
    history: &History,
    service: &str,
    range: &Range<Timestamp>,
    out: &mut Output,
) -> Result<(), Box<dyn Error>> {
    let found = history.tree().find(Quark::ROOT, service).map_err(wrong)?;
    let quark = found.ok_or_else(|| wrong(format!("there is no service {service:?}")))?;
    for interval in history.intervals(quark, range.clone())? {
        let interval = interval?;
        let (start, end) = (interval.start.max(range.start), interval.end.min(range.end));
        let (state, time) = (state_text(interval.value), Duration(end.since(start)));
        writeln!(out, "{}  {}  {state:<12} {time:>18}", Time(start), Time(end))?;
    }
    Ok(())
}

/// Prints the total time of each state of services.
pub(crate) fn durations(
    history: &History,
    pattern: &str,
    range: &Range<Timestamp>,
    out: &mut Output,
) -> Result<(), Box<dyn Error>> {
    let services = services(history, pattern)?;
    let width = width(history, &services);
    let total = range.end.since(range.start).max(1) as f64;
    for quark in services {
        let mut states = history.durations(quark, range.clone())?;
        states.sort_by_key(|state| std::cmp::Reverse(state.time));
        for state in states {
            let (path, text) = (name(history, quark), state_text(state.value));
            let (time, times) = (Duration(state.time), state.count);
            let percent = state.time as f64 * 100.0 / total;
            writeln!(out, "{path:width$}  {text:<12} {time:>18} {percent:6.2} %  {times:>4} ×")?;
        }
    }
    Ok(())
}

/// Returns the path of a service, which may contain any characters.
pub(crate) fn name(history: &History, quark: Quark) -> String {
    escape::name(&history.tree().path(quark)).into_owned()
}

/// Returns the width of the longest path.
fn width(history: &History, services: &[Quark]) -> usize {
    services.iter().map(|quark| name(history, *quark).chars().count()).max().unwrap_or(0)
}
