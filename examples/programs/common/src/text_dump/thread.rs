//! The thread of an event: of its own contexts, or else of the state of the machine.

use ltt_read::schema::EnvValue;
use ltt_read::{Event, Field, Value};
use lttv_filter::recorded_word;

use super::StateAt;
use crate::escape;
use crate::text::Text;

/// The places of the thread in the events of a type.
#[derive(Debug)]
pub(super) struct ThreadFields {
    tid: Option<Field>,
    pid: Option<Field>,
    comm: Option<Field>,
    /// The process of the whole trace, where there is one trace for each process.
    pid_of_trace: Option<i64>,
    comm_of_trace: Option<String>,
}

/// The ids of the thread of an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThreadIds {
    pub(super) tid: Option<i64>,
    pub(super) pid: Option<i64>,
}

impl ThreadFields {
    /// Finds the places in the type of an event.
    pub(super) fn of(event: &Event<'_>) -> Self {
        let (trace, id) = (event.trace(), event.type_id());
        let schema = trace.schema();
        ThreadFields {
            tid: recorded_word(trace, id, "tid"),
            pid: recorded_word(trace, id, "pid"),
            comm: recorded_word(trace, id, "comm"),
            pid_of_trace: match schema.env("vpid") {
                Some(EnvValue::Int(pid)) => i64::try_from(*pid).ok(),
                _ => None,
            },
            comm_of_trace: schema.env_str("procname").map(str::to_owned),
        }
    }

    /// Returns the ids of an event's thread, as far as they are known.
    pub(super) fn ids(&self, event: &Event<'_>, state: Option<StateAt<'_>>) -> ThreadIds {
        let number = |field: &Option<Field>| event.get(field.as_ref()?)?.as_i64();
        let process = state.map(|state| state.recorded_by);
        ThreadIds {
            tid: number(&self.tid).or_else(|| process?.tid().map(i64::from)),
            pid: number(&self.pid).or(self.pid_of_trace).or_else(|| process?.pid().map(i64::from)),
        }
    }

    /// Appends the command of an event's thread, without control characters; nothing if it is not
    /// known.
    pub(super) fn command(
        &self,
        event: &Event<'_>,
        state: Option<StateAt<'_>>,
        cpu: Option<u32>,
        out: &mut Text,
    ) {
        let mut append = |name: &str| out.append(escape::name(name).as_bytes());
        let own = self.comm.as_ref().and_then(|field| event.get(field));
        if let Some(Value::Str(text)) = &own {
            return append(&text.to_str_lossy());
        }
        if let Some(name) = &self.comm_of_trace {
            return append(name);
        }
        let Some(StateAt { state, recorded_by, .. }) = state else { return };
        let tid = self.tid.as_ref().and_then(|field| event.get(field)?.as_i64());
        let tid = tid.map_or(recorded_by.tid(), |tid| i32::try_from(tid).ok());
        // The event may tell another thread than the one that runs, as the stack after a switch does.
        let found = match tid {
            Some(tid) if tid > 0 && recorded_by.tid() != Some(tid) => {
                state.find(tid).map(|(_, process)| process)
            }
            Some(0) if recorded_by.tid() != Some(0) => None,
            Some(_) => Some(recorded_by),
            None => None,
        };
        let name = found.map_or("", |process| state.name(process.name()));
        match (name, tid, cpu) {
            // Some tracers never name the idle process.
            ("", Some(0), Some(cpu)) => append(&format!("swapper/{cpu}")),
            (name, ..) => append(name),
        }
    }
}
