//! Event filter expressions.
//!
//! This crate will parse an expression that a person typed, explain what is
//! wrong with it, and compile it once per trace into a short program over
//! field handles, so that evaluating it for an event is nearly free.
//!
//! **Status:** the purpose is settled, the code has not been written yet.
