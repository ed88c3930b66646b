//! Calls and heaps of programs: names of functions, tables, and advice on what to record.

pub mod advice;
pub mod color;
pub mod names;
