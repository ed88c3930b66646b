//! Guarantees about auto traits, checked when this file is compiled.

use std::fmt::Debug;

use ltt_read::schema::Schema;
use ltt_read::writer::MemoryTrace;
use ltt_read::{
    Cursor, DecodeError, Error, Event, Field, Merge, Notice, Packet, Position, Trace, Value,
};

fn shared<T: Send + Sync + Debug>() {}

#[test]
fn public_types_are_send_and_sync() {
    shared::<Trace>();
    shared::<Schema>();
    shared::<Cursor>();
    shared::<Merge>();
    shared::<Event<'_>>();
    shared::<Value<'_>>();
    shared::<Packet>();
    shared::<Field>();
    shared::<Position>();
    shared::<Notice>();
    shared::<MemoryTrace>();
}

#[test]
fn errors_can_be_passed_on() {
    fn error<T: std::error::Error + Send + Sync + 'static>() {}
    error::<Error>();
    error::<DecodeError>();
    error::<ltt_read::writer::MemoryTraceError>();
}
