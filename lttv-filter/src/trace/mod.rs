//! The model of traces and the records of events.

mod bare_name;
mod category;
mod class;
mod fields;
mod model;
mod names;
mod property;
mod record;
mod state;
mod words;

pub(crate) use bare_name::{bare_name, is_event, with_names};
pub(crate) use class::field_type;
pub(crate) use fields::TraceField;
pub(crate) use model::TraceModel;
pub(crate) use record::TraceRecord;
pub(crate) use state::NoState;
pub use state::{StateField, StateFields, StateView};
pub use words::recorded_word;
pub(crate) use words::{Word, Words};
