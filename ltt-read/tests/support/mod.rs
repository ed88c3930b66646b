//! Random traces for property tests: schemas of all kinds of fields, and
//! values for them.

pub(crate) mod case;
pub(crate) mod shape;
pub(crate) mod values;
