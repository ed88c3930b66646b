//! Writing of traces: CTF 2 from Python values and from tables.

mod columns;
mod spec;
mod writer;

pub(crate) use columns::write_tables;
pub(crate) use writer::Writer;
