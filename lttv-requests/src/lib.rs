//! A UI-agnostic scheduler of events requests.
//!
//! Viewers ask for events; this crate will read each stretch of a traceset
//! once for all who want it and give every viewer exactly what it asked for,
//! in chunks, whenever the application calls `service_chunk`.
//!
//! **Status:** the purpose is settled, the code has not been written yet.
