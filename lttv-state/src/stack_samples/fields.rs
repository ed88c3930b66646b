//! The fields of events about stacks, threads and mappings.

use std::sync::Arc;

use ltt_read::schema::{EventTypeId, Format, Scope};
use ltt_read::{Event, Field, Trace, Value};

use super::chain::{KERNEL, USER};
use super::samples::WeightUnit;
use crate::call_stacks::IdentityFields;

/// The maximum number of addresses of a chain that are read.
const MAX_WORDS: usize = 1 << 12;

/// The stack in an event.
#[derive(Debug, Clone)]
pub(super) enum Chain {
    /// None.
    None,
    /// Addresses and markers, of perf.
    Marked(Field),
    /// The address that is executed, of samples of perf without stacks.
    Address(Field),
    /// The contexts of LTTng: of the kernel, of the program.
    Contexts([Option<Field>; 2]),
    /// Addresses of the kernel or of a program, which the marker tells, for the event before this one on the same CPU.
    Before { addresses: Field, marker: u64 },
}

/// The fields of an event type that may be sampled.
#[derive(Debug, Clone)]
pub(super) struct SampleFields {
    pub(super) identity: IdentityFields,
    /// The process whose memory the addresses are in, if it is not that of the event.
    pub(super) memory: Option<Field>,
    pub(super) chain: Chain,
    /// `true` if a clock or a counter leads to the events.
    pub(super) is_counter: bool,
    pub(super) period: Option<Field>,
}

/// Returns a field of the contexts of an event type.
fn context(trace: &Trace, id: EventTypeId, name: &str) -> Option<Field> {
    let scopes = [Scope::SpecificContext, Scope::CommonContext];
    scopes.iter().find_map(|scope| trace.field(id, *scope, name))
}

impl SampleFields {
    /// Returns the fields of an event type; `None` for records of the tracer itself.
    pub(super) fn of(trace: &Trace, id: EventTypeId) -> Option<Self> {
        let name = trace.event_type(id).name();
        let context = |name: &str| context(trace, id, name);
        let payload = |name: &str| trace.field(id, Scope::Payload, name);
        let format = trace.schema().format;
        if format == Format::Perf && name.starts_with("perf:") {
            return None;
        }
        let is_tracepoint =
            format != Format::Perf || context("common_pid").is_some() || payload("raw").is_some();
        let contexts = [context("callstack_kernel"), context("callstack_user")];
        let chain = match (format, context("callchain")) {
            (Format::Perf, Some(chain)) => Chain::Marked(chain),
            // Tracepoints are always at the same place.
            (Format::Perf, None) if !is_tracepoint => {
                context("ip").map_or(Chain::None, Chain::Address)
            }
            (Format::Ftrace, _) if name == "ftrace:kernel_stack" => {
                Chain::Before { addresses: payload("caller")?, marker: KERNEL }
            }
            (Format::Ftrace, _) if name == "ftrace:user_stack" => {
                Chain::Before { addresses: payload("caller")?, marker: USER }
            }
            _ if contexts.iter().any(Option::is_some) => Chain::Contexts(contexts),
            _ => Chain::None,
        };
        let memory = match &chain {
            Chain::Before { marker: USER, .. } => payload("tgid"),
            _ => None,
        };
        Some(SampleFields {
            identity: IdentityFields::of(trace, id),
            memory,
            chain,
            is_counter: !is_tracepoint,
            period: context("period"),
        })
    }

    /// Returns the unit of the weight of events.
    pub(super) fn unit(&self, trace: &Trace, id: EventTypeId) -> WeightUnit {
        let name = trace.event_type(id).name();
        let counter = name.split_once(':').map_or(name, |(counter, _)| counter);
        match (self.is_counter, &self.period) {
            (false, _) => WeightUnit::Events,
            (true, None) => WeightUnit::Samples,
            (true, Some(_)) if matches!(counter, "cpu-clock" | "task-clock") => {
                WeightUnit::Nanoseconds
            }
            (true, Some(_)) => WeightUnit::Counter(counter.into()),
        }
    }

    /// Adds the addresses of the stack of an event, with markers.
    pub(super) fn read_chain(&self, event: &Event<'_>, words: &mut Vec<u64>) {
        let read = |field: &Field, marker: Option<u64>, words: &mut Vec<u64>| {
            let Some(Value::Array(addresses)) = event.get(field) else { return };
            words.extend(marker.filter(|_| !addresses.is_empty()));
            words.extend(addresses.iter().take(MAX_WORDS).filter_map(|word| word.as_u64()));
        };
        match &self.chain {
            Chain::None => {}
            Chain::Marked(field) => read(field, None, words),
            Chain::Address(field) => words.extend(event.integer(field)),
            Chain::Before { addresses, marker } => {
                let before = words.len();
                read(addresses, Some(*marker), words);
                // The array of a program's stack ends with zeros.
                if self.is_of_program()
                    && let Some(end) = words[before..].iter().position(|word| *word == 0)
                {
                    words.truncate(before + end);
                }
            }
            Chain::Contexts([kernel, user]) => {
                kernel.iter().for_each(|field| read(field, Some(KERNEL), words));
                user.iter().for_each(|field| read(field, Some(USER), words));
            }
        }
    }

    /// Returns `true` if the first address is the place that is executed. Otherwise it is one that a call returns to,
    /// like the others.
    pub(super) fn first_is_exact(&self) -> bool {
        matches!(self.chain, Chain::Marked(_) | Chain::Address(_)) || self.is_of_program()
    }

    /// Returns `true` for the stack of a program that another event follows, perhaps after that of the kernel.
    pub(super) fn is_of_program(&self) -> bool {
        matches!(self.chain, Chain::Before { marker: USER, .. })
    }
}

/// A record of perf about threads and mappings.
#[derive(Debug, Clone)]
pub(super) enum Record {
    Mapping(Box<MappingFields>),
    Symbol(Box<SymbolFields>),
    Comm { pid: Field, misc: Field },
    Fork { pid: Field, ppid: Field },
}

/// The fields of a record about a mapping.
#[derive(Debug, Clone)]
pub(super) struct MappingFields {
    pub(super) pid: Field,
    pub(super) addr: Field,
    pub(super) len: Field,
    pub(super) pgoff: Field,
    pub(super) filename: Field,
    /// The build id and its size.
    pub(super) build_id: Option<[Field; 2]>,
}

/// The fields of a record about a function that the kernel has generated or removed, such as a program of BPF.
#[derive(Debug, Clone)]
pub(super) struct SymbolFields {
    pub(super) addr: Field,
    pub(super) len: Field,
    pub(super) flags: Field,
    pub(super) name: Field,
}

impl Record {
    /// Returns the fields of an event type; `None` if it is another one.
    pub(super) fn of(trace: &Trace, id: EventTypeId) -> Option<Self> {
        if trace.schema().format != Format::Perf {
            return None;
        }
        let field = |name: &str| trace.field(id, Scope::Payload, name);
        let pid = || field("pid");
        Some(match trace.event_type(id).name() {
            "perf:mmap" | "perf:mmap2" => Record::Mapping(Box::new(MappingFields {
                pid: pid()?,
                addr: field("addr")?,
                len: field("len")?,
                pgoff: field("pgoff")?,
                filename: field("filename")?,
                build_id: field("build_id").zip(field("build_id_size")).map(Into::into),
            })),
            "perf:ksymbol" => Record::Symbol(Box::new(SymbolFields {
                addr: field("addr")?,
                len: field("len")?,
                flags: field("flags")?,
                name: field("name")?,
            })),
            "perf:comm" => Record::Comm { pid: pid()?, misc: field("misc")? },
            "perf:fork" => Record::Fork { pid: pid()?, ppid: field("ppid")? },
            _ => return None,
        })
    }
}

/// Returns the id of a thread or a process of perf; `None` for that of none, −1.
pub(super) fn task(event: &Event<'_>, field: &Field) -> Option<i64> {
    let id = event.integer(field)? as u32 as i32;
    (id >= 0).then_some(id.into())
}

/// Returns a text of an event, without what is no text.
pub(super) fn text(event: &Event<'_>, field: &Field) -> Option<Arc<str>> {
    Some(event.get(field)?.as_str()?.to_str_lossy().into())
}

/// Returns the first bytes of a field of bytes.
pub(super) fn first_bytes(event: &Event<'_>, field: &Field, count: usize) -> Arc<[u8]> {
    match event.get(field) {
        Some(Value::Blob(bytes)) => bytes[..bytes.len().min(count)].into(),
        Some(Value::Array(bytes)) => {
            bytes.iter().take(count).filter_map(|byte| Some(byte.as_u64()? as u8)).collect()
        }
        _ => Arc::default(),
    }
}
