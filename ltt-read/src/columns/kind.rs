//! The kinds of columns that fields can have.

use crate::event::Field;
use crate::layout::node::{Elements, Node, NodeKind};
use crate::schema::{EventTypeId, Scope};
use crate::trace::Trace;

/// The kind of values in a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Unsigned,
    Signed,
    Float,
    Bool,
    Bytes,
    /// Arrays whose elements are of a kind without arrays.
    List(Box<Kind>),
}

/// An error for a field that cannot be a column.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnError {
    /// The field belongs to another event type than the columns, or to another trace.
    #[error("the field {field} belongs to another event type")]
    OtherEventType {
        /// The name of the field.
        field: String,
    },
    /// The trace has no event type with the id.
    #[error("the trace has no event type with the id {}", event_type.0)]
    NoEventType {
        /// The id.
        event_type: EventTypeId,
    },
    /// The field is in the event header, of which reading in order decodes only a part.
    #[error("the field {field} is in the event header")]
    InHeader {
        /// The name of the field.
        field: String,
    },
    /// The field has values that do not fit in one vector.
    #[error("the field {field} is no number, text or array of these at a known place")]
    Compound {
        /// The name of the field.
        field: String,
    },
}

crate::debug_as_chain!(ColumnError);

impl Kind {
    /// Returns the kind of column that a field of an event type can have.
    pub(super) fn of(
        trace: &Trace,
        event_type: EventTypeId,
        field: &Field,
    ) -> Result<Kind, ColumnError> {
        let name = || field.info().name().unwrap_or("(unnamed)").to_owned();
        if (field.schema, field.event_type) != (trace.decoder().id, event_type) {
            return Err(ColumnError::OtherEventType { field: name() });
        }
        if field.scope() == Scope::EventHeader {
            return Err(ColumnError::InHeader { field: name() });
        }
        let decoder = trace.decoder();
        let stream = decoder.schema.event_types[event_type.index()].stream;
        let scope = decoder.tables.scope(&decoder.schema, stream, Some(event_type), field.scope());
        let nodes = scope.map(|(region, _)| &region.nodes[field.node as usize..]);
        let kind = nodes.filter(|_| field.rest.is_empty()).and_then(|nodes| of_nodes(nodes, true));
        kind.ok_or_else(|| ColumnError::Compound { field: name() })
    }
}

/// Returns the kind for the field that the first of the nodes stands for.
fn of_nodes(nodes: &[Node], may_be_list: bool) -> Option<Kind> {
    Some(match &nodes.first()?.kind {
        NodeKind::Uint(_) | NodeKind::VarUint | NodeKind::Bits(_) => Kind::Unsigned,
        NodeKind::Sint(_) | NodeKind::VarSint => Kind::Signed,
        NodeKind::Bool(_) => Kind::Bool,
        NodeKind::Float32(_) | NodeKind::Float64(_) | NodeKind::FloatOther(_) => Kind::Float,
        NodeKind::Terminated { .. } | NodeKind::Text { .. } | NodeKind::Blob { .. } => Kind::Bytes,
        NodeKind::Option { .. } => of_nodes(&nodes[1..], may_be_list)?,
        NodeKind::Array { elements: Elements::Fixed { .. }, .. } if may_be_list => {
            Kind::List(Box::new(of_nodes(&nodes[1..], false)?))
        }
        NodeKind::Array { .. } | NodeKind::Struct | NodeKind::Variant { .. } => return None,
    })
}
