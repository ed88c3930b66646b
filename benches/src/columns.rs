//! Sums of all fields through columns.

use std::sync::Arc;

use ltt_read::schema::{EventTypeId, FieldKind, Scope};
use ltt_read::{ColumnSet, Columns, Error, Field, Trace};

use crate::Sums;

/// The number of events whose columns are filled at a time, so that they stay near the processor.
const ROWS: u64 = 1 << 13;

/// Returns columns of all fields of the bodies of all event types, except for fields that cannot be
/// columns.
pub fn all_columns(trace: &Trace) -> ColumnSet {
    let ids = (0..trace.schema().event_types.len() as u32).map(EventTypeId);
    ColumnSet::new(ids.filter_map(|id| Columns::new(trace, id, fields_of(trace, id)).ok()))
}

/// Returns the fields of an event type that can be columns.
fn fields_of(trace: &Trace, id: EventTypeId) -> Vec<Field> {
    let event = trace.event_type(id);
    let stream = trace.schema().stream_of(id);
    let roots = [
        (Scope::CommonContext, &stream.common_context),
        (Scope::SpecificContext, &event.specific_context),
        (Scope::Payload, &event.payload),
    ];
    let mut fields = Vec::new();
    for (scope, root) in roots {
        let Some(FieldKind::Struct(root)) = root.as_ref().map(|root| &root.kind) else { continue };
        let members = root.members.iter();
        let found = members.filter_map(|member| trace.field(id, scope, &member.name));
        fields.extend(found.filter(|field| Columns::new(trace, id, [field.clone()]).is_ok()));
    }
    fields
}

/// Adds all fields of the bodies of a trace that can be columns, one tracefile after the other. Returns
/// the number of events.
///
/// # Errors
///
/// If a tracefile is damaged.
pub fn sum_columns(trace: &Arc<Trace>, sums: &mut Sums) -> Result<u64, Error> {
    sum_with(trace, &mut all_columns(trace), sums)
}

/// Adds all columns of a set like [`sum_columns`].
///
/// # Errors
///
/// If a tracefile is damaged.
pub fn sum_with(trace: &Arc<Trace>, set: &mut ColumnSet, sums: &mut Sums) -> Result<u64, Error> {
    let mut events = 0;
    for mut cursor in trace.cursors() {
        loop {
            let read = cursor.read_column_set(set, ROWS)?;
            if read == 0 {
                break;
            }
            events += read;
            set.columns().iter().for_each(|columns| sums.add_columns(columns));
            set.clear();
        }
    }
    Ok(events)
}
