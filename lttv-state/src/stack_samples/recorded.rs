//! The parts of the events of a slice that are read, in their order.

use std::ops::Range;
use std::sync::Arc;

use ltt_read::Event;

use super::fields::{MappingFields, Record, SampleFields, SymbolFields, first_bytes, task, text};
use super::spaces::{NewMapping, NewSymbol};

/// The bit of a `perf:comm` record of a thread that executes another program.
const BY_EXEC: u64 = 1 << 13;

/// The flag of a `perf:ksymbol` record of a function that is removed.
const REMOVED: u64 = 1;

/// The maximum length of a build id in bytes.
const MAX_BUILD_ID: usize = 20;

/// An event with its number in the slice.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) number: usize,
    pub(super) kind: ItemKind,
}

/// The content of an event.
#[derive(Debug)]
pub(super) enum ItemKind {
    Sample(Sample),
    Mapping {
        process: Option<i64>,
        mapping: Box<NewMapping>,
    },
    /// The kernel has a new function, or one no more.
    Symbol(Box<NewSymbol>),
    /// A process executes another program.
    Exec {
        process: i64,
    },
    Fork {
        pid: i64,
        parent_pid: i64,
    },
}

/// A stack.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) process: Option<i64>,
    /// The process whose memory the addresses are in.
    pub(super) memory: Option<i64>,
    pub(super) thread: Option<i64>,
    /// The name of the process in the event.
    pub(super) name: Option<Arc<str>>,
    pub(super) period: u64,
    /// The place of the addresses among those of the slice.
    pub(super) chain: Range<usize>,
    pub(super) first_is_exact: bool,
}

/// The parts of the events of a slice that were read.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) items: Vec<Item>,
    pub(super) words: Vec<u64>,
}

impl Recorded {
    /// Adds the stack of an event.
    pub(super) fn push_sample(&mut self, number: usize, fields: &SampleFields, event: &Event<'_>) {
        let begin = self.words.len();
        fields.read_chain(event, &mut self.words);
        let period = fields.period.as_ref().and_then(|field| event.integer(field));
        let process = fields.identity.process(event).filter(|pid| is_id(*pid));
        let memory = fields.memory.as_ref().and_then(|field| task(event, field));
        let kind = ItemKind::Sample(Sample {
            process,
            memory: memory.or(process),
            thread: fields.identity.thread(event).filter(|tid| is_id(*tid)),
            name: fields.identity.name(event),
            period: period.unwrap_or(1),
            chain: begin..self.words.len(),
            first_is_exact: fields.first_is_exact(),
        });
        self.items.push(Item { number, kind });
    }

    /// Adds a record of perf.
    #[cold]
    pub(super) fn push_record(&mut self, number: usize, record: &Record, event: &Event<'_>) {
        if let Some(kind) = read(record, event) {
            self.items.push(Item { number, kind });
        }
    }

    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.words.clear();
    }
}

/// Returns `true` if a number is an id: −1 is none, also as one of 32 bits.
fn is_id(id: i64) -> bool {
    (0..=i64::from(i32::MAX)).contains(&id)
}

fn read(record: &Record, event: &Event<'_>) -> Option<ItemKind> {
    Some(match record {
        Record::Mapping(fields) => {
            let MappingFields { pid, addr, len, pgoff, filename, build_id } = &**fields;
            let build_id = build_id.as_ref().map(|[bytes, size]| {
                let size = event.integer(size).unwrap_or(0) as usize;
                first_bytes(event, bytes, size.min(MAX_BUILD_ID))
            });
            ItemKind::Mapping {
                process: task(event, pid),
                mapping: Box::new(NewMapping {
                    start: event.integer(addr)?,
                    size: event.integer(len)?,
                    file_offset: event.integer(pgoff)?,
                    path: text(event, filename)?,
                    build_id: build_id.unwrap_or_default(),
                }),
            }
        }
        Record::Symbol(fields) => {
            let SymbolFields { addr, len, flags, name } = &**fields;
            ItemKind::Symbol(Box::new(NewSymbol {
                start: event.integer(addr)?,
                size: event.integer(len)?,
                name: text(event, name)?,
                is_removed: event.integer(flags)? & REMOVED != 0,
            }))
        }
        Record::Comm { pid, misc } => {
            let process = task(event, pid)?;
            (event.integer(misc)? & BY_EXEC != 0).then_some(ItemKind::Exec { process })?
        }
        Record::Fork { pid, ppid } => {
            ItemKind::Fork { pid: task(event, pid)?, parent_pid: task(event, ppid)? }
        }
    })
}
