//! Kernel state, statistics, the attribute tree and the interval history.
//!
//! This crate will rebuild what a system was doing at any instant from the
//! events of its kernel trace, and remember every state as an interval in a
//! small embeddable database.
//!
//! **Status:** the purpose is settled, the code has not been written yet.
