//! The fields of events that definitions name.

use std::sync::Arc;

use ltt_read::schema::{EventTypeId, FieldKind, Scope};
use ltt_read::{Field, Trace, TraceIndex};
use lttv_filter::{Environment, Expression, Verdict, nearest};

use crate::filter::KernelFilters;

/// The words for what an event belongs to.
const WORDS: [&str; 4] = ["cpu", "tid", "pid", "comm"];
/// The scopes of fields, those in which a name is looked up first.
const SCOPES: [Scope; 4] =
    [Scope::Payload, Scope::SpecificContext, Scope::CommonContext, Scope::PacketContext];

/// Returns the field of the events of a type with a name.
pub(crate) fn field_of(trace: &Trace, id: EventTypeId, name: &str) -> Option<Field> {
    SCOPES.iter().find_map(|scope| trace.field(id, *scope, name))
}

/// Returns `true` if events of a type have a field with a name, or if the name is a word that all have.
fn has_field(trace: &Trace, id: EventTypeId, name: &str) -> bool {
    WORDS.contains(&name) || field_of(trace, id, name).is_some()
}

/// Returns the names of the fields and contexts of the events of a type, and the words.
fn field_names(trace: &Trace, id: EventTypeId) -> Vec<&str> {
    let of = &trace.schema().event_types[id.index()];
    let scopes = [&of.payload, &of.specific_context];
    let mut names: Vec<&str> = WORDS.to_vec();
    for class in scopes.into_iter().flatten() {
        if let FieldKind::Struct(of) = &class.kind {
            names.extend(of.members.iter().map(|member| &*member.name));
        }
    }
    names
}

/// Returns the event types whose events can pass filters, each with its trace.
fn passing<'t>(
    filters: &KernelFilters,
    traces: &'t [Arc<Trace>],
) -> Vec<(&'t Arc<Trace>, EventTypeId)> {
    let mut passing = Vec::new();
    for (index, trace) in (0..).map(TraceIndex).zip(traces) {
        let Some(filter) = filters.filters().for_trace(index) else { continue };
        let types = (0..trace.schema().event_types.len() as u32).map(EventTypeId);
        let types = types.filter(|id| filter.verdict(*id) != Verdict::Never);
        passing.extend(types.map(|id| (trace, id)));
    }
    passing
}

/// Returns `true` if a trace has event types whose events can pass each one of some expressions, and have the fields that
/// are named beside it.
pub(crate) fn can_pass<'f, F: Iterator<Item = &'f str>>(
    trace: &Arc<Trace>,
    expressions: impl IntoIterator<Item = (&'f Expression, F)>,
    environment: &Environment,
) -> bool {
    let traces = std::slice::from_ref(trace);
    expressions.into_iter().all(|(expression, fields)| {
        let Ok(filters) = KernelFilters::new(expression, traces, environment) else { return false };
        !passing(&filters, traces).is_empty() && missing_field(&filters, traces, fields).is_none()
    })
}

/// Returns the first one of some fields that no event has which passes filters, with the nearest name of one that such
/// events have. `None` if there is no such field, or if no event of the traces can pass.
pub(crate) fn missing_field<'f>(
    filters: &KernelFilters,
    traces: &[Arc<Trace>],
    mut fields: impl Iterator<Item = &'f str>,
) -> Option<(String, Option<String>)> {
    let passing = passing(filters, traces);
    let is_missing = |field: &&str| {
        !passing.is_empty() && !passing.iter().any(|(trace, id)| has_field(trace, *id, field))
    };
    let field = fields.find(is_missing)?;
    let known = passing.iter().flat_map(|(trace, id)| field_names(trace, *id));
    Some((field.to_owned(), nearest(field, known).map(str::to_owned)))
}
