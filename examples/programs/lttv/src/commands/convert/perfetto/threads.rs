//! The threads that the contexts of events name.

use std::collections::BTreeMap;

use ltt_read::schema::{EventTypeId, Scope};
use ltt_read::{Event, Field, Trace};

use super::json::Track;

/// The threads of a trace by the contexts of its events.
pub(super) struct Threads {
    /// By event type.
    fields: Vec<Fields>,
    /// The last name of each thread, by the ids of process and thread.
    names: BTreeMap<(i64, i64), String>,
    /// The name of the process of a trace of one process.
    process_name: Option<String>,
}

/// The fields of an event type with the ids of process and thread, and the name of the thread.
struct Fields {
    process: Option<Field>,
    thread: Option<Field>,
    name: Option<Field>,
}

impl Threads {
    /// Finds the fields. In a kernel trace only the ids of the host count, elsewhere those of the
    /// program's namespace come first.
    pub(super) fn of(trace: &Trace, is_kernel: bool) -> Self {
        let types = (0..trace.schema().event_types.len() as u32).map(EventTypeId);
        let fields = types.map(|id| {
            let context = |name: &str| {
                let scopes = [Scope::SpecificContext, Scope::CommonContext];
                scopes.iter().find_map(|scope| trace.field(id, *scope, name))
            };
            let of_program = |name: &str| context(name).filter(|_| !is_kernel);
            Fields {
                process: of_program("vpid").or_else(|| context("pid")),
                thread: of_program("vtid").or_else(|| context("tid")),
                name: context("procname"),
            }
        });
        let process_name = trace.schema().env_str("procname").map(str::to_owned);
        Threads { fields: fields.collect(), names: BTreeMap::new(), process_name }
    }

    /// Returns the ids of the process and the thread of an event, and notes the name of the thread;
    /// `None` if the event contains no thread.
    pub(super) fn of_event(&mut self, event: &Event<'_>) -> Option<(i64, i64)> {
        let Fields { process, thread, name } = self.fields.get(event.type_id().index())?;
        let id = |field: &Option<Field>| event.integer(field.as_ref()?).map(|id| id as i64);
        let tid = id(thread).or(id(process))?;
        let ids = (id(process).unwrap_or(tid), tid);
        let name = name.as_ref().and_then(|name| event.text(name));
        if let Some(name) = name.map(String::from_utf8_lossy)
            && self.names.get(&ids).is_none_or(|known| *known != name)
        {
            self.names.insert(ids, name.into_owned());
        }
        Some(ids)
    }

    /// Returns the property, the ids and the name of each thread and process whose name is known.
    pub(super) fn names(&self) -> impl Iterator<Item = (&'static str, Track, &str)> {
        let of_threads = self.names.iter().map(|((pid, tid), name)| {
            ("thread_name", Track { pid: *pid, tid: *tid }, name.as_str())
        });
        let processes = self.names.keys().map(|(pid, _)| *pid);
        let mut processes: Vec<i64> = processes.collect();
        processes.dedup();
        let of_processes = processes.into_iter().filter_map(|pid| {
            // The first thread of a process has its name.
            let name = self.names.get(&(pid, pid)).or(self.process_name.as_ref())?;
            Some(("process_name", Track { pid, tid: pid }, name.as_str()))
        });
        of_threads.chain(of_processes)
    }
}
