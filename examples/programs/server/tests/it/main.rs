//! The tests of this package, in one program, since each program is linked on its own.

mod support;

mod agreement;
mod analyses;
mod bounds;
mod columns;
mod editor;
mod faults;
mod hostile;
mod outputs;
mod own_times;
mod page;
mod program;
mod protocol;
mod spans;
mod truncated;
