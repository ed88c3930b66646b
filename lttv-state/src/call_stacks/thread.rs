//! Threads, and the fields of events that identify them.

use std::collections::HashMap;
use std::sync::Arc;

use ltt_read::schema::{EventTypeId, Scope};
use ltt_read::{Event, Field, Trace};

/// The maximum number of threads of a trace.
const MAX_THREADS: usize = 1 << 18;

/// The identity of a thread of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct ThreadKey {
    /// The id of the process: the context `vpid`, else `pid`, else that of the environment of
    /// a trace of one process. `None` if the trace does not contain it.
    pub process: Option<i64>,
    /// The thread.
    pub thread: ThreadId,
}

/// A thread of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThreadId {
    /// The thread with an id: the context `vtid`, else `tid`, else `common_pid` of ftrace.
    Tid(i64),
    /// All threads of the process, since the events contain no thread.
    Process,
    /// All threads on a CPU, since the events contain neither thread nor process; or its idle task.
    Cpu(u32),
}

/// The fields of an event type that identify the thread.
#[derive(Debug, Clone)]
pub(crate) struct IdentityFields {
    process: Option<Field>,
    thread: Option<Field>,
    name: Option<Field>,
    /// `true` if the thread is known by its id in the kernel.
    is_of_kernel: bool,
}

impl IdentityFields {
    pub(crate) fn of(trace: &Trace, id: EventTypeId) -> Self {
        let context = |name: &str| {
            let scopes = [Scope::SpecificContext, Scope::CommonContext];
            scopes.iter().find_map(|scope| trace.field(id, *scope, name))
        };
        let either = |names: [&str; 2]| names.iter().find_map(|name| context(name));
        IdentityFields {
            process: either(["vpid", "pid"]),
            thread: ["vtid", "tid", "common_pid"].iter().find_map(|name| context(name)),
            name: context("procname"),
            is_of_kernel: context("vtid").is_none(),
        }
    }

    /// Returns the process of an event; `None` if the event does not contain it.
    pub(crate) fn process(&self, event: &Event<'_>) -> Option<i64> {
        self.process.as_ref().and_then(|field| event.integer(field)).map(|pid| pid as i64)
    }

    /// Returns the thread of an event; `None` if the event does not contain it.
    pub(crate) fn thread(&self, event: &Event<'_>) -> Option<i64> {
        self.thread.as_ref().and_then(|field| event.integer(field)).map(|tid| tid as i64)
    }

    /// Returns the name of the process of an event; `None` if the event does not contain it.
    pub(crate) fn name(&self, event: &Event<'_>) -> Option<Arc<str>> {
        Some(event.get(self.name.as_ref()?)?.as_str()?.to_str_lossy().into())
    }

    pub(crate) fn has_process(&self) -> bool {
        self.process.is_some()
    }

    pub(crate) fn has_thread(&self) -> bool {
        self.thread.is_some()
    }
}

/// The process that a whole trace belongs to, from its environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct TraceProcess {
    pub(crate) process: Option<i64>,
    name: Arc<str>,
}

impl TraceProcess {
    pub(crate) fn of(trace: &Trace) -> Self {
        let schema = trace.schema();
        TraceProcess {
            process: schema.env_int("vpid"),
            name: schema.env_str("procname").unwrap_or_default().into(),
        }
    }
}

/// The dense numbers of the threads of a trace.
#[derive(Debug, Clone, Default)]
pub(crate) struct ThreadIndex {
    of_trace: TraceProcess,
    all: Vec<(ThreadKey, Arc<str>)>,
    numbers: HashMap<ThreadKey, u32>,
    /// The last thread of each tracefile, with the values of its fields.
    recent: Vec<Recent>,
}

#[derive(Debug, Clone, Copy)]
struct Recent {
    process: Option<u64>,
    thread: Option<u64>,
    number: u32,
}

impl Recent {
    const NONE: Recent = Recent { process: None, thread: None, number: u32::MAX };
}

impl ThreadIndex {
    /// Creates an index for a number of tracefiles.
    pub(crate) fn new(of_trace: TraceProcess, tracefiles: usize) -> Self {
        let recent = vec![Recent::NONE; tracefiles];
        ThreadIndex { of_trace, all: Vec::new(), numbers: HashMap::new(), recent }
    }

    /// Returns the number of the thread of an event in the tracefile with a number; `None` if
    /// there are too many threads.
    #[inline]
    pub(crate) fn find_or_add_of(
        &mut self,
        event: &Event<'_>,
        fields: &IdentityFields,
        tracefile: usize,
    ) -> Option<usize> {
        let read = |field: &Option<Field>| field.as_ref().and_then(|field| event.integer(field));
        let (process, thread) = (read(&fields.process), read(&fields.thread));
        let recent = self.recent.get(tracefile).copied().unwrap_or(Recent::NONE);
        if (recent.process, recent.thread) == (process, thread) && recent.number != u32::MAX {
            return Some(recent.number as usize);
        }
        self.find_or_add_slowly(event, fields, tracefile, process, thread)
    }

    #[cold]
    fn find_or_add_slowly(
        &mut self,
        event: &Event<'_>,
        fields: &IdentityFields,
        tracefile: usize,
        process: Option<u64>,
        thread: Option<u64>,
    ) -> Option<usize> {
        let of_trace = self.of_trace.process;
        let cpu = || ThreadId::Cpu(event.tracefile().cpu().unwrap_or(tracefile as u32));
        let id = match thread {
            // Each CPU has an idle task of this number.
            Some(0) if fields.is_of_kernel => cpu(),
            Some(tid) => ThreadId::Tid(tid as i64),
            None if process.is_some() || of_trace.is_some() => ThreadId::Process,
            None => cpu(),
        };
        let key = ThreadKey { process: process.map(|pid| pid as i64).or(of_trace), thread: id };
        let name = || fields.name(event).unwrap_or_else(|| self.of_trace.name.clone());
        let number = match self.numbers.get(&key) {
            Some(number) => *number as usize,
            None => {
                let name = name();
                self.add(key, name)?
            }
        };
        if let Some(recent) = self.recent.get_mut(tracefile) {
            *recent = Recent { process, thread, number: number as u32 };
        }
        Some(number)
    }

    fn add(&mut self, key: ThreadKey, name: Arc<str>) -> Option<usize> {
        if self.all.len() >= MAX_THREADS {
            return None;
        }
        let number = self.all.len();
        self.all.push((key, name));
        self.numbers.insert(key, number as u32);
        Some(number)
    }

    /// Returns the number of a thread, which is added if it is new; `None` if there are too many.
    pub(crate) fn find_or_add(&mut self, key: ThreadKey, name: &Arc<str>) -> Option<usize> {
        match self.find(key) {
            Some(number) => Some(number),
            None => self.add(key, name.clone()),
        }
    }

    pub(crate) fn find(&self, key: ThreadKey) -> Option<usize> {
        self.numbers.get(&key).map(|number| *number as usize)
    }

    /// Returns the process that the whole trace belongs to.
    pub(crate) fn process_of_trace(&self) -> Option<i64> {
        self.of_trace.process
    }

    /// Returns the threads and their names, by number.
    pub(crate) fn all(&self) -> &[(ThreadKey, Arc<str>)] {
        &self.all
    }
}
