//! The parts of rows that depend on the event type.

use ltt_read::schema::Scope;
use ltt_read::{Event, Field};

use super::super::thread::ThreadFields;
use super::Column;
use crate::escape;

/// The scopes in which a field is looked for, in this order.
pub(super) const SCOPES: [Scope; 4] =
    [Scope::Payload, Scope::SpecificContext, Scope::CommonContext, Scope::PacketContext];

/// The parts that the rows of one event type share.
#[derive(Debug)]
pub(super) struct OfType {
    /// The name of the event, without control characters.
    pub(super) name: String,
    /// The fields by place of the column.
    pub(super) fields: Vec<Option<Field>>,
    pub(super) thread: ThreadFields,
}

impl OfType {
    /// Creates the parts from the first event of a type.
    #[cold]
    pub(super) fn new(event: &Event<'_>, columns: &[Column]) -> Box<Self> {
        let (trace, id) = (event.trace(), event.type_id());
        let field = |column: &Column| match column {
            Column::Field(path) => {
                SCOPES.into_iter().find_map(|scope| trace.field(id, scope, path))
            }
            _ => None,
        };
        Box::new(OfType {
            name: escape::name(event.event_type().name()).into_owned(),
            fields: columns.iter().map(field).collect(),
            thread: ThreadFields::of(event),
        })
    }
}
