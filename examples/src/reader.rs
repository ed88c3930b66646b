//! Stand-in for the reading half of `ltt-read` until it is there: same names,
//! no traces.
#![allow(missing_docs, dead_code, unreachable_pub, missing_debug_implementations)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_read::Visitor;
use ltt_read::schema::{EventType, EventTypeId, Schema, Scope};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(i64);
impl Timestamp {
    pub const fn from_ns(ns: i64) -> Self {
        Timestamp(ns)
    }
    pub const fn ns(self) -> i64 {
        self.0
    }
}

#[derive(Debug)]
pub struct Error(String);
impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for Error {}

pub fn open_all(path: impl AsRef<Path>) -> Result<Vec<Arc<Trace>>, Error> {
    Err(Error(format!("{}: no reader yet", path.as_ref().display())))
}

pub struct Trace {
    schema: Schema,
    path: PathBuf,
    tracefiles: Vec<Tracefile>,
}
impl Trace {
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
    pub fn path(&self) -> &Path {
        &self.path
    }
    pub fn tracefiles(&self) -> &[Tracefile] {
        &self.tracefiles
    }
    pub fn notices(&self) -> &[Notice] {
        &[]
    }
}

pub struct Tracefile {
    name: String,
    cpu: Option<u32>,
}
impl Tracefile {
    pub fn name(&self) -> &str {
        &self.name
    }
    pub fn cpu(&self) -> Option<u32> {
        self.cpu
    }
}

pub struct Merge;
impl Merge {
    pub fn new(_traces: &[Arc<Trace>]) -> Merge {
        Merge
    }
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Event<'_>> {
        None
    }
    pub fn seek(&mut self, _to: Timestamp) {}
    pub fn errors(&self) -> &[Error] {
        &[]
    }
    pub fn drain_notices(&mut self) -> Vec<Notice> {
        Vec::new()
    }
    pub fn progress(&self) -> (u64, u64) {
        (0, 0)
    }
}

pub struct Event<'a> {
    trace: &'a Arc<Trace>,
    type_id: EventTypeId,
    timestamp: Option<Timestamp>,
}
impl<'a> Event<'a> {
    pub fn event_type(&self) -> &'a EventType {
        &self.trace.schema.event_types[self.type_id.index()]
    }
    pub fn type_id(&self) -> EventTypeId {
        self.type_id
    }
    pub fn timestamp(&self) -> Option<Timestamp> {
        self.timestamp
    }
    pub fn cycles(&self) -> Option<u64> {
        None
    }
    pub fn trace(&self) -> &'a Arc<Trace> {
        self.trace
    }
    pub fn trace_index(&self) -> usize {
        0
    }
    pub fn tracefile(&self) -> &'a Tracefile {
        &self.trace.tracefiles[0]
    }
    pub fn has_scope(&self, _scope: Scope) -> bool {
        false
    }
    pub fn visit<V: Visitor>(&self, _scope: Scope, _visitor: &mut V) {}
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub kind: NoticeKind,
    pub file: Arc<Path>,
    pub packet: u64,
    pub offset: u64,
}
impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file.display())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoticeKind {
    DiscardedEvents { count: Option<u64>, begin: Option<Timestamp>, end: Option<Timestamp> },
    LostPackets { count: u64, begin: Option<Timestamp>, end: Option<Timestamp> },
    PacketSkipped,
}
