//! The threads that a recording tells of apart from the events of its CPUs, found when its trace starts.

use std::sync::Arc;

use ltt_read::schema::Format;
use ltt_read::{Trace, TracefileIndex};

use super::known_threads::KnownThreads;
use super::process::TID_END;
use super::rule::{Rule, is_of_perf};
use super::transition::Transition;

/// Finds the threads of a recording.
pub(super) fn known_threads(trace: &Arc<Trace>, rules: &[Option<Arc<Rule>>]) -> KnownThreads {
    match trace.schema().format {
        // Without the text, which may be damaged, the names are unknown.
        Format::Ftrace => {
            let text = trace.thread_names().ok().flatten().unwrap_or_default();
            KnownThreads::in_text(&text)
        }
        _ if is_of_perf(trace) => in_records(trace, rules),
        _ => KnownThreads::default(),
    }
}

/// Reads the records without a time, which are in tracefiles of their own.
fn in_records(trace: &Arc<Trace>, rules: &[Option<Arc<Rule>>]) -> KnownThreads {
    let mut threads = KnownThreads::default();
    for number in 0..trace.tracefiles().len() {
        let mut cursor = trace.cursor(TracefileIndex(number));
        while let Ok(Some(event)) = cursor.next() {
            if event.timestamp().is_some() {
                break;
            }
            let rule = rules.get(event.type_id().index()).and_then(Option::as_deref);
            let Some(rule) = rule.filter(|rule| rule.is_record) else { continue };
            let Some(tid) = rule.tid(&event, 0) else { continue };
            let number = |slot| rule.tid(&event, slot).filter(|id| (0..TID_END).contains(id));
            match rule.transition {
                Transition::Fork => {
                    let Some(thread) = threads.add(tid) else { continue };
                    (thread.pid, thread.parent) = (number(2), number(4));
                }
                Transition::Rename => {
                    let Some(thread) = threads.add(tid) else { continue };
                    thread.pid = number(2).or(thread.pid);
                    if let Some(name) = rule.text(&event, 1) {
                        thread.name = name.into();
                    }
                }
                _ => {}
            }
        }
    }
    threads
}
