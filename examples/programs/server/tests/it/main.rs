//! The tests of this package, in one program, since each program is linked on its own.

mod support;

mod analyses;
mod bounds;
mod hostile;
mod outputs;
mod page;
mod protocol;
