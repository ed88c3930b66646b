//! The transition rules of one trace: rows of the table, resolved for its event types.

use std::sync::Arc;

use ltt_read::schema::{EventType, EventTypeId, Format, Scope};
use ltt_read::{Event, Field, Trace, Value};
use lttv_filter::recorded_word;

#[cfg(feature = "analyses")]
use super::fields::{EventFields, Fields};
use super::names::NameId;
use super::needs::without_system;
#[cfg(feature = "analyses")]
use super::resources::DeviceNumber;
use super::switched_out::StateEncoding;
use super::syscalls::{FileAction, file_action};
use super::transition::{CONTEXT_SLOTS, MAX_SLOTS, ROWS, Row, Tracer, Transition, row_named};

/// The rule for an event type of a trace: its transition and the handles of the fields that
/// the transition needs.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(super) event_type: EventTypeId,
    pub(crate) transition: Transition,
    /// The handles of the fields, by slot: as many as the transition has, or all slots if contexts
    /// tell which process runs.
    fields: Box<[Option<Field>]>,
    /// `true` if contexts of the events tell which process runs, which no switch does.
    pub(super) tells_process: bool,
    /// `true` for the events that perf makes of its own records. Those without a time tell what was so before the first
    /// event.
    pub(super) is_record: bool,
    /// `true` for the first wake-ups of threads, if the trace may have any.
    pub(super) ends_forks: bool,
    /// The name of the system call or vector that the event's name contains, if it does.
    pub(crate) captured: Option<Box<str>>,
    /// The id of `captured` in the names of the trace.
    pub(super) name: NameId,
    /// The names of softirqs by number, where the event type labels them.
    pub(super) labels: Vec<Option<Box<str>>>,
    pub(crate) encoding: StateEncoding,
    pub(super) tracer: Tracer,
    pub(super) cpu: CpuField,
}

/// The location of an event's CPU number. Handles of fields are large, and there is one for each event type.
#[derive(Debug, Clone)]
pub(super) enum CpuField {
    /// In the tracefile's name: neither the event nor its packet contains it.
    Tracefile,
    /// In a field of the packet context.
    Packet(Arc<Field>),
    /// In a field of the event.
    Event(Arc<Field>),
}

/// The number of softirqs whose labels are looked up.
const SOFTIRQS: i128 = 32;

impl Rule {
    /// Returns the rule for an event type; `None` if its events do not change the state.
    pub(crate) fn of(trace: &Trace, id: EventTypeId) -> Option<Rule> {
        let schema = trace.schema();
        if schema.env_str("domain").is_some_and(|domain| domain != "kernel") {
            return None;
        }
        let event_type = trace.event_type(id);
        let (row, captured) = row_of(trace, event_type)?;
        let slots = row.transition.slots().iter().enumerate();
        let fields: Option<Box<[_]>> = slots
            .map(|(at, (_, is_needed))| {
                let mut names = row.fields.get(at).copied().unwrap_or("-").split('|');
                let field = names.find_map(|name| trace.field(id, Scope::Payload, name));
                (field.is_some() || !is_needed).then_some(field)
            })
            .collect();
        Some(Rule {
            event_type: id,
            transition: row.transition,
            fields: fields?,
            tells_process: false,
            is_record: is_record(trace, event_type),
            ends_forks: false,
            captured: (!captured.is_empty()).then(|| captured.into()),
            name: NameId::EMPTY,
            labels: softirq_labels(trace, id, row.transition),
            encoding: StateEncoding::of(schema),
            tracer: row.tracer,
            cpu: cpu_field(trace, id),
        })
    }

    /// Returns the rules for all event types of a trace. Where there are no switches, contexts tell
    /// which process runs.
    pub(crate) fn all(trace: &Arc<Trace>) -> Vec<Option<Rule>> {
        let types = (0..trace.schema().event_types.len() as u32).map(EventTypeId);
        let mut rules: Vec<_> = types.map(|id| Rule::of(trace, id)).collect();
        let is_switch = |rule: &Option<Rule>| {
            rule.as_ref().is_some_and(|rule| rule.transition == Transition::Switch)
        };
        if !trace.may_have_events(|id| is_switch(&rules[id.index()])) {
            rules.iter_mut().filter(|rule| is_switch(rule)).for_each(|rule| *rule = None);
        }
        let name = |id| without_system(trace.event_type(id).name());
        if trace.may_have_events(|id| name(id) == "sched_wakeup_new") {
            let new =
                rules.iter_mut().flatten().filter(|of| name(of.event_type) == "sched_wakeup_new");
            new.for_each(|rule| rule.ends_forks = true);
        }
        let transitions = rules.iter().flatten().map(|rule| rule.transition);
        if depends_on_contexts(trace, transitions) {
            for (rule, id) in rules.iter_mut().zip((0..).map(EventTypeId)) {
                let Some(tid) = thread_of_event(trace, id) else { continue };
                let rule = rule.get_or_insert_with(|| Rule::without_transition(trace, id));
                rule.add_contexts(trace, tid);
            }
        }
        rules
    }

    /// Creates the rule for events that change nothing but which process runs.
    fn without_transition(trace: &Trace, id: EventTypeId) -> Rule {
        Rule {
            event_type: id,
            transition: Transition::Context,
            fields: Box::default(),
            tells_process: false,
            is_record: is_record(trace, trace.event_type(id)),
            ends_forks: false,
            captured: None,
            name: NameId::EMPTY,
            labels: Vec::new(),
            encoding: StateEncoding::of(trace.schema()),
            tracer: Tracer::Lttng2,
            cpu: cpu_field(trace, id),
        }
    }

    /// Adds the contexts that tell which process runs: the id of the thread, and others if they are
    /// recorded.
    fn add_contexts(&mut self, trace: &Trace, tid: Field) {
        let mut fields = std::mem::take(&mut self.fields).into_vec();
        fields.resize(MAX_SLOTS, None);
        let find = |word| recorded_word(trace, self.event_type, word);
        let contexts = [Some(tid), find("pid"), find("comm")];
        for (slot, context) in CONTEXT_SLOTS.into_iter().zip(contexts) {
            fields[slot] = context;
        }
        self.fields = fields.into();
        self.tells_process = true;
    }

    /// Reads the integer in a slot.
    #[inline]
    pub(crate) fn integer(&self, event: &Event<'_>, slot: usize) -> Option<u64> {
        event.integer(self.field(slot)?)
    }

    /// Reads the process id in a slot; -1, which is no process id, if the value is too
    /// large.
    #[inline]
    pub(crate) fn tid(&self, event: &Event<'_>, slot: usize) -> Option<i32> {
        let value = self.integer(event, slot)?;
        Some(i32::try_from(value as i64).unwrap_or(-1))
    }

    /// Reads the unsigned 32-bit number in a slot; `u32::MAX` if the value is too large.
    #[cfg(feature = "analyses")]
    #[inline]
    pub(crate) fn number(&self, event: &Event<'_>, slot: usize) -> Option<u32> {
        Some(u32::try_from(self.integer(event, slot)?).unwrap_or(u32::MAX))
    }

    /// Reads the value in a slot.
    #[inline]
    pub(super) fn value<'e>(&self, event: &Event<'e>, slot: usize) -> Option<Value<'e>> {
        event.get(self.field(slot)?)
    }

    /// Reads the text in a slot.
    #[inline]
    pub(super) fn text<'e>(&self, event: &Event<'e>, slot: usize) -> Option<&'e [u8]> {
        match self.value(event, slot)? {
            Value::Str(text) => Some(text.bytes),
            _ => None,
        }
    }

    /// Reads the text in a slot. A field of constant length is returned whole, including
    /// the terminator and the bytes after it: comparing it with another one costs less than
    /// finding the terminator.
    #[inline]
    pub(super) fn raw_text<'e>(&self, event: &Event<'e>, slot: usize) -> Option<&'e [u8]> {
        event.bytes(self.field(slot)?).or_else(|| self.text(event, slot))
    }

    /// Reads the label of the value in a slot, if the field is an enumeration.
    pub(super) fn label(&self, event: &Event<'_>, slot: usize) -> Option<&str> {
        let field = self.field(slot)?;
        let value = event.get(field)?.as_i64()?;
        field.info().labels(value.into()).next()
    }

    /// Returns the field in a slot.
    #[inline]
    pub(super) fn field(&self, slot: usize) -> Option<&Field> {
        self.fields.get(slot)?.as_ref()
    }

    /// Returns the name of the system call that starts with events of the type, if it is the same for
    /// all: the event's name contains it, unless the tracer has no name for it.
    #[inline]
    pub(super) fn syscall(&self) -> Option<NameId> {
        let captured = self.captured.as_deref();
        captured.filter(|name| *name != "unknown").map(|_| self.name)
    }

    /// Returns `false` if applying events of the type never reads the field in a slot.
    pub(super) fn reads(&self, slot: usize) -> bool {
        if CONTEXT_SLOTS.contains(&slot) {
            return true;
        }
        let name = self.syscall().filter(|_| self.transition == Transition::SyscallEntry);
        name.is_none_or(|name| match file_action(name) {
            FileAction::None => false,
            FileAction::Open => matches!(slot, 1 | 4),
            FileAction::Create(_) | FileAction::CreatePair(_) => slot == 4,
            FileAction::Close => slot == 2,
            FileAction::CloseRange => matches!(slot, 2..=4),
            FileAction::Duplicate => matches!(slot, 2 | 4),
            FileAction::Control => matches!(slot, 2 | 3 | 5),
        })
    }

    /// Reads the number of the block device from the slots of a request.
    #[cfg(feature = "analyses")]
    pub(crate) fn device(&self, event: &Event<'_>) -> Option<DeviceNumber> {
        EventFields { rule: self, event }.device()
    }
}

/// Returns the field with the thread that events of a type belong to: a context, or the common field of ftrace.
pub(crate) fn thread_of_event(trace: &Trace, id: EventTypeId) -> Option<Field> {
    let scopes = [Scope::SpecificContext, Scope::CommonContext];
    let common = || scopes.iter().find_map(|scope| trace.field(id, *scope, "common_pid"));
    recorded_word(trace, id, "tid").or_else(common)
}

/// Returns the transition of the events of a type, if they have the fields that it needs.
pub(super) fn transition_of(trace: &Trace, id: EventTypeId) -> Option<Transition> {
    row_of(trace, trace.event_type(id)).map(|(row, _)| row.transition)
}

/// Returns `true` if a trace may have events of a transition.
pub(crate) fn has_events(trace: &Arc<Trace>, transition: Transition) -> bool {
    trace.may_have_events(|id| {
        transition_of(trace, id) == Some(transition) && Rule::of(trace, id).is_some()
    })
}

/// Returns `true` if only contexts can tell which processes run in a kernel trace, given the
/// transitions of its event types: none of them is a switch.
pub(super) fn depends_on_contexts(
    trace: &Trace,
    transitions: impl Iterator<Item = Transition>,
) -> bool {
    let domain = trace.schema().env_str("domain");
    let (mut is_kernel, mut switches) = (domain == Some("kernel"), false);
    for transition in transitions {
        is_kernel = true;
        switches |= transition == Transition::Switch;
    }
    is_kernel && !switches
}

/// Returns `true` for recordings of perf, and for traces in CTF that were converted from them.
pub(super) fn is_of_perf(trace: &Trace) -> bool {
    trace.schema().env_str("tracer_name") == Some("perf")
}

/// Returns `true` for the types of the records of perf that are no samples.
fn is_record(trace: &Trace, event_type: &EventType) -> bool {
    is_of_perf(trace) && event_type.name().starts_with("perf:")
}

/// Returns the row that applies to an event type, and the part of the name that it captures.
fn row_of<'t>(trace: &'t Trace, event_type: &'t EventType) -> Option<(&'static Row, &'t str)> {
    let is_legacy = is_legacy(trace);
    // A trace that was converted to CTF can have the names of today.
    let has_names_of_today = !is_legacy || trace.schema().format != Format::Legacy;
    let mut legacy = ROWS.iter().filter(|row| is_legacy && row.tracer == Tracer::Legacy);
    if let Some(row) = legacy.find(|row| applies_to_legacy(row, trace, event_type)) {
        return Some((row, ""));
    }
    if has_names_of_today { row_named(event_type.name()) } else { None }
}

/// Returns `true` if a row of LTTng 0.x applies to an event type.
fn applies_to_legacy(row: &Row, trace: &Trace, event_type: &EventType) -> bool {
    let Some((channel, name)) = row.name.split_once('.') else { return false };
    let stream = trace.schema().stream_classes.get(event_type.stream.index());
    let named = [stream.map(|stream| &stream.identity.name), Some(&event_type.identity.namespace)];
    let is_in = |of: Option<&Option<_>>| {
        of.is_some_and(|of: &Option<Arc<str>>| of.as_deref() == Some(channel))
    };
    // Before format 2.3 the names of markers contain the channel.
    let own =
        event_type.name().strip_prefix(channel).and_then(|rest| rest.strip_prefix(['_', '.']));
    let is_named = || named.into_iter().any(is_in) || is_in_files_of(trace, event_type, channel);
    event_type.name() == name && is_named() || own == Some(name)
}

/// Returns `true` if the events of a type are in the files of a channel: in CTF 1.8, where a
/// channel has no name in the metadata.
fn is_in_files_of(trace: &Trace, event_type: &EventType, channel: &str) -> bool {
    let class = Some(event_type.stream);
    let mut files = trace.tracefiles().iter().filter(|file| file.stream_class() == class);
    trace.schema().format == Format::Ctf1 && files.any(|file| file.channel() == channel)
}

/// Returns `true` if a trace was recorded by LTTng 0.x.
fn is_legacy(trace: &Trace) -> bool {
    trace.schema().env_str("tracer_name") == Some("lttng 0.x")
}

/// Returns the names of softirqs that the fields of a softirq entry event are labelled
/// with.
fn softirq_labels(trace: &Trace, id: EventTypeId, transition: Transition) -> Vec<Option<Box<str>>> {
    if transition != Transition::SoftirqEntry {
        return Vec::new();
    }
    let fields = ["name", "vec"].into_iter().filter_map(|f| trace.field(id, Scope::Payload, f));
    let named = fields.into_iter().find(|field| field.info().labels(0).next().is_some());
    let Some(field) = named else { return Vec::new() };
    (0..SOFTIRQS).map(|number| field.info().labels(number).next().map(Box::from)).collect()
}

/// Returns the location of the CPU number in events of a type.
pub(super) fn cpu_field(trace: &Trace, id: EventTypeId) -> CpuField {
    if let Some(field) = trace.field(id, Scope::PacketContext, "cpu_id") {
        return CpuField::Packet(field.into());
    }
    let own = [
        (Scope::SpecificContext, "cpu_id"),
        (Scope::CommonContext, "cpu_id"),
        (Scope::Payload, "perf_cpu"),
    ];
    match own.iter().find_map(|(scope, name)| trace.field(id, *scope, name)) {
        Some(field) => CpuField::Event(field.into()),
        None => CpuField::Tracefile,
    }
}
