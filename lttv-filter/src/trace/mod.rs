//! The model of traces and the records of events.

mod category;
mod class;
mod fields;
mod model;
mod names;
mod property;
mod record;
mod state;

pub(crate) use class::field_type;
pub(crate) use fields::TraceField;
pub(crate) use model::TraceModel;
pub(crate) use record::TraceRecord;
pub(crate) use state::NoState;
pub use state::{StateField, StateFields, StateView};
