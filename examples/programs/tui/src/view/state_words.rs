//! The state of a process at the current time, in words.

use ltt_read::Timestamp;
use lttv_common::activity::{Doing, ProcessAt, WakeUp};

use crate::model::state_at::StateAt;
use crate::session::Session;
use crate::text::popup::{Popup, PopupLine};
use crate::time_text::{length, seconds};

/// Returns the state in one line: process, activity, duration and waker first, since a narrow
/// screen cuts the rest off. `None` if no process is selected.
pub(super) fn line(state: &StateAt, session: &Session) -> Option<String> {
    let (_, time) = state.place()?;
    let name = &session.process.as_ref()?.label;
    let found = state.found(&session.scheduler);
    let Some(stretch) = &found.stretch else {
        return found.is_known.then(|| {
            format!("{name}: unknown at this time, before its first event or after its end")
        });
    };
    let process = process(stretch.process());
    let since = stretch.since();
    let mut text = format!("{process}: {}", stretch.words());
    if stretch.doing() == Doing::Unknown {
        return Some(text);
    }
    match stretch.process().cpu {
        Some(cpu) if matches!(stretch.doing(), Doing::Runs(..)) => {
            text += &format!(" on CPU {cpu}")
        }
        _ => {}
    }
    match stretch.until() {
        Some(until) => text += &format!(" for {}", length(between(since, until))),
        None => text += &format!(" for {} so far", length(between(since, time))),
    }
    if let Some(woken) = &found.woken {
        text += &format!(", woken by {}", waker(woken));
    }
    if let Some(woken) = stretch.wake_up() {
        text += &format!(", woken by {}", waker(woken));
    } else if let Some(then) = stretch.then() {
        text += &format!(", then {then}");
    } else if stretch.until().is_some() {
        text += ", then it ends";
    }
    let until = match (stretch.until(), found.is_complete) {
        (Some(until), _) => seconds(until),
        (None, true) => "the end of the trace".to_owned(),
        (None, false) => "…".to_owned(),
    };
    Some(format!("{text} (since {}, until {until})", seconds(since)))
}

/// Returns the state with all its times, for a popup. `None` if no process is selected.
pub(super) fn popup(state: &StateAt, session: &Session) -> Option<Popup> {
    let (_, time) = state.place()?;
    let found = state.found(&session.scheduler);
    let stretch = found.stretch.as_ref()?;
    let of = stretch.process();
    let id = |id: Option<i64>| id.map_or_else(|| "?".to_owned(), |id| id.to_string());
    let mut lines = vec![
        PopupLine::new("command", &*of.name),
        PopupLine::new("TID", id(of.tid.map(i64::from))),
        PopupLine::new("PID", id(of.pid.map(i64::from))),
        PopupLine::new("CPU", id(of.cpu.map(i64::from))),
        PopupLine::new("current time", seconds(time)),
        PopupLine::new("state", stretch.words()),
        PopupLine::new("since", seconds(stretch.since())),
    ];
    let until = match (stretch.until(), found.is_complete) {
        (Some(until), _) => seconds(until),
        (None, true) => "the end of the trace".to_owned(),
        (None, false) => "… (still reading)".to_owned(),
    };
    lines.push(PopupLine::new("until", until));
    let end = stretch.until().or_else(|| found.is_complete.then(|| session.span().end));
    if let Some(end) = end {
        let duration = between(stretch.since(), end);
        lines.push(PopupLine::new("duration", format!("{} ({duration} ns)", length(duration))));
    }
    let woken = found.woken.as_ref().or(stretch.wake_up());
    lines.extend(woken.map(|woken| {
        PopupLine::new("woken by", format!("{} at {}", waker(woken), seconds(woken.time)))
    }));
    lines.extend(stretch.then().map(|then| PopupLine::new("then", then)));
    Some(Popup::new("State of the selected process", lines))
}

/// Describes a process: command, TID, and PID if it is another number.
fn process(of: &ProcessAt) -> String {
    let name = match (of.tid, &*of.name) {
        (_, "") => "?",
        (_, name) => name,
    };
    let tid = of.tid.map_or_else(|| "?".to_owned(), |tid| tid.to_string());
    match of.pid.filter(|pid| Some(*pid) != of.tid) {
        Some(pid) => format!("{name} TID {tid} PID {pid}"),
        None => format!("{name} TID {tid}"),
    }
}

/// Describes the origin of a wake-up.
fn waker(of: &WakeUp) -> String {
    format!("{} on CPU {}", of.by, of.cpu)
}

/// Returns the time between two times, in ns.
fn between(since: Timestamp, until: Timestamp) -> u64 {
    until.as_ns().saturating_sub(since.as_ns()).max(0).unsigned_abs()
}
