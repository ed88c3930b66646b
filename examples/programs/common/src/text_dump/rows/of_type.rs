//! The parts of rows that depend on the event type.

use ltt_read::schema::{EnvValue, Scope};
use ltt_read::{Event, Field};
use lttv_filter::recorded_word;

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
    /// The contexts with the process.
    pub(super) tid: Option<Field>,
    pub(super) pid: Option<Field>,
    pub(super) comm: Option<Field>,
    /// The process of the whole trace, where there is one trace for each process.
    pub(super) pid_of_trace: Option<i64>,
    pub(super) comm_of_trace: Option<String>,
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
        let schema = trace.schema();
        Box::new(OfType {
            name: escape::name(event.event_type().name()).into_owned(),
            fields: columns.iter().map(field).collect(),
            tid: recorded_word(trace, id, "tid"),
            pid: recorded_word(trace, id, "pid"),
            comm: recorded_word(trace, id, "comm"),
            pid_of_trace: match schema.env("vpid") {
                Some(EnvValue::Int(pid)) => i64::try_from(*pid).ok(),
                _ => None,
            },
            comm_of_trace: schema.env_str("procname").map(str::to_owned),
        })
    }
}
