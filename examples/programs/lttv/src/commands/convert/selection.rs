//! The tracefiles and event types that are wanted.

use std::sync::Arc;

use ltt_read::{Event, Trace, TracefileIndex};
use lttv_common::report::Usage;

use super::args::ConvertArgs;

/// The tracefiles and event types of a trace that are wanted.
#[derive(Debug)]
pub(super) struct Wanted {
    /// A table by tracefile.
    takes: Vec<bool>,
    /// A table by event type; `None` if all are wanted.
    pub(super) events: Option<Vec<bool>>,
}

impl Wanted {
    /// Resolves the options of selection for each trace.
    pub(super) fn of(args: &ConvertArgs, traces: &[Arc<Trace>]) -> Result<Vec<Wanted>, Usage> {
        let wanted = traces.iter().map(|trace| Wanted::of_trace(args, trace)).collect();
        refuse_unknown("--events", &args.events, |pattern| {
            let all = traces.iter().flat_map(|trace| &trace.schema().event_types);
            all.into_iter().any(|event| matches(pattern, event.name()))
        })?;
        refuse_unknown("--streams", &args.streams, |pattern| {
            let mut all = traces.iter().flat_map(|trace| trace.tracefiles());
            all.any(|file| matches(pattern, file.channel()) || matches(pattern, file.name()))
        })?;
        Ok(wanted)
    }

    fn of_trace(args: &ConvertArgs, trace: &Arc<Trace>) -> Wanted {
        let any = |patterns: &[String], name: &str| patterns.iter().any(|p| matches(p, name));
        let is_wanted = |file: &ltt_read::Tracefile| {
            let of_cpu = |cpu| args.cpus.iter().any(|range| range.contains(cpu));
            (args.streams.is_empty()
                || any(&args.streams, file.channel())
                || any(&args.streams, file.name()))
                && (args.cpus.is_empty() || file.cpu().is_some_and(of_cpu))
        };
        let types = trace.schema().event_types.iter();
        let events = types.map(|event| any(&args.events, event.name())).collect();
        Wanted {
            takes: trace.tracefiles().iter().map(is_wanted).collect(),
            events: Some(events).filter(|_| !args.events.is_empty()),
        }
    }

    /// Returns the tracefiles that are wanted.
    pub(super) fn tracefiles(&self) -> impl Iterator<Item = TracefileIndex> {
        let numbers = self.takes.iter().enumerate().filter(|(_, takes)| **takes);
        numbers.map(|(number, _)| TracefileIndex(number))
    }

    /// Returns `true` if the tracefile and the type of an event are wanted.
    pub(super) fn takes(&self, event: &Event<'_>) -> bool {
        self.takes[event.tracefile_index().0]
            && self.events.as_ref().is_none_or(|events| events[event.type_id().index()])
    }
}

fn refuse_unknown(
    option: &str,
    patterns: &[String],
    mut is_known: impl FnMut(&str) -> bool,
) -> Result<(), Usage> {
    match patterns.iter().find(|pattern| !is_known(pattern)) {
        Some(pattern) => Err(Usage::new(format_args!("{option}: no trace has {pattern:?}"))),
        None => Ok(()),
    }
}

/// Returns `true` if a pattern, in which `*` stands for any text, matches a whole name.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = pattern.rsplit_once('*').map(|(_, last)| last) else { return rest.is_empty() };
    let inner = parts.collect::<Vec<_>>();
    for part in inner.iter().take(inner.len().saturating_sub(1)) {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        assert!(matches("sched_switch", "sched_switch") && !matches("sched", "sched_switch"));
        assert!(matches("sched_*", "sched_switch") && matches("*", "") && matches("*_*", "a_b"));
        assert!(matches("*switch", "sched_switch") && !matches("*switch", "switches"));
        assert!(
            matches("a*b*c", "aXbYc") && !matches("a*b*c", "aXcYb") && !matches("ab*ba", "aba")
        );
    }
}
