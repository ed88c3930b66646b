//! Random traces for property tests: schemas of all kinds of fields, values for
//! them, and how they are read back.

pub(crate) mod case;
pub(crate) mod config;
pub(crate) mod keys;
pub(crate) mod layout;
pub(crate) mod read_back;
pub(crate) mod shape;
pub(crate) mod values;
