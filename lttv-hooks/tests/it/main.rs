//! The tests of this crate, in one program, since each program is linked on its own.

mod auto_traits;
mod model;
