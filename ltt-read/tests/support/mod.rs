//! Random traces for property tests: schemas with all kinds of fields, values for them,
//! and readers that return the values.

pub(crate) mod case;
pub(crate) mod config;
pub(crate) mod keys;
pub(crate) mod layout;
pub(crate) mod read_back;
pub(crate) mod shape;
pub(crate) mod values;
