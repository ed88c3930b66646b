//! Scripted sessions of a relay daemon, with packets that are written here.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::sync::Arc;

use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, Schema, StreamClassId};
use ltt_read::writer::{FieldValue, StreamWriter, metadata_text, packetized_metadata, presets};

use super::relay::{Relay, be};

const CLASS: StreamClassId = StreamClassId(0);

/// Returns a schema of LTTng with one event type, with a number.
pub(crate) fn schema() -> Schema {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let fields = FieldClass::structure([("seq", FieldClass::uint(32, ByteOrder::Little))]);
    schema.add_event_type(CLASS, "tick", fields);
    schema
}

/// Writes a packet with events at these times, each of which is its number, too.
pub(crate) fn packet(cpu: u64, times: &[u64]) -> Vec<u8> {
    let writer = StreamWriter::new(Arc::new(schema()), CLASS, "ch", Vec::new());
    let context = FieldValue::fields([("cpu_id", cpu)]);
    let mut writer = writer.unwrap().with_stream_id(cpu).with_packet_context(context);
    writer.begin_packet(times[0]).unwrap();
    for time in times {
        let fields = FieldValue::structure([(*time).into()]);
        writer.event(EventTypeId(0), *time, fields).unwrap();
    }
    writer.end_packet(times[times.len() - 1]).unwrap();
    writer.finish().unwrap()
}

/// Returns a text in a field of a fixed size.
fn padded(text: &str, size: usize) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(size, 0);
    bytes
}

/// Returns a session of the host `vm`, as a minor version of the protocol lists it.
pub(crate) fn session(id: u64, name: &str, minor: u64) -> Vec<u8> {
    let numbers = be(&[(id, 8), (1000, 4), (0, 4), (3, 4)]);
    match minor {
        0..15 => [numbers, padded("vm", 64), padded(name, 255)].concat(),
        _ => {
            let sizes = be(&[(2, 4), (name.len() as u64, 4), (0, 4)]);
            [numbers, sizes, b"vm".to_vec(), name.as_bytes().to_vec()].concat()
        }
    }
}

/// Returns a stream of the trace 7, or its metadata.
pub(crate) fn stream(id: u64, is_metadata: bool, channel: &str) -> Vec<u8> {
    stream_of(7, id, is_metadata, channel)
}

/// Returns a stream of a trace, or its metadata.
pub(crate) fn stream_of(trace: u64, id: u64, is_metadata: bool, channel: &str) -> Vec<u8> {
    let numbers = be(&[(id, 8), (trace, 8), (is_metadata.into(), 4)]);
    [numbers, padded("kernel", 4096), padded(channel, 255)].concat()
}

/// Returns a daemon with one session.
pub(crate) fn greeting(minor: u64) -> Relay {
    let mut relay = Relay::default();
    relay.reply(1, None, be(&[(1, 8), (2, 4), (minor, 4), (0, 4)]));
    relay.reply(2, None, [be(&[(1, 4)]), session(5, "s", minor)].concat());
    relay.reply(8, None, be(&[(1, 4)]));
    relay
}

/// Returns the reply to an attachment or to the request for new streams.
pub(crate) fn streams(streams: &[Vec<u8>]) -> Vec<u8> {
    [be(&[(1, 4), (streams.len() as u64, 4)]), streams.concat()].concat()
}

/// Returns a daemon that has accepted the attachment to a session with two CPUs.
pub(crate) fn attached(minor: u64) -> Relay {
    let mut relay = greeting(minor);
    relay.reply(3, Some(5), streams(&two_cpus()));
    relay
}

/// Adds the ends of some streams and of the session.
pub(crate) fn end_session(relay: &mut Relay, streams: &[u64]) {
    streams.iter().for_each(|stream| relay.index(*stream, 3, 0, 0));
    relay.reply(7, Some(5), be(&[(4, 4), (0, 4)]));
}

/// Returns the streams of two CPUs and of metadata.
fn two_cpus() -> [Vec<u8>; 3] {
    [stream(1, false, "ch_0"), stream(2, false, "ch_1"), stream(3, true, "metadata")]
}

/// Returns the metadata of the schema.
pub(crate) fn metadata() -> Vec<u8> {
    packetized_metadata(&schema(), &metadata_text(&schema()).unwrap(), 512)
}

/// Returns the reply with a part of the metadata.
pub(crate) fn metadata_reply(part: &[u8]) -> Vec<u8> {
    [be(&[(part.len() as u64, 8), (1, 4)]), part.to_vec()].concat()
}

/// The numbers of the events of [`whole`].
pub(crate) const EVENTS: [u64; 9] = [10, 20, 30, 45, 50, 60, 70, 80, 90];

/// Returns a daemon with a whole session, in which everything usual happens.
pub(crate) fn whole() -> Relay {
    whole_of(13, false)
}

/// Returns the same of a minor version of the protocol. With `again`, the viewer attaches when all
/// streams are there.
pub(crate) fn whole_of(minor: u64, again: bool) -> Relay {
    let mut relay = greeting(minor);
    let new = stream(4, false, "ch_2");
    let mut known = two_cpus().to_vec();
    known.extend(again.then(|| new.clone()));
    relay.reply(3, Some(5), streams(&known));
    relay.reply(6, Some(3), be(&[(0, 8), (2, 4)]));
    let metadata = metadata();
    let (first, second) = metadata.split_at(metadata.len() / 2 / 512 * 512);
    for part in [first, second] {
        relay.reply(6, Some(3), metadata_reply(part));
    }
    relay.index(1, 5, 5, 3);
    relay.packet(1, 0, 30, packet(0, &[10, 20, 30]));
    relay.index(1, 2, 0, 0);
    relay.index(1, 5, 40, 0);
    relay.packet(1, 0, 60, packet(0, &[50, 60]));
    relay.index(1, 3, 0, 0);
    relay.index(2, 5, 15, 0);
    relay.index(2, 5, 35, 2);
    relay.packet(2, 0, 70, packet(1, &[45, 70]));
    relay.index(2, 3, 0, 0);
    relay.reply(7, Some(5), streams(&[]));
    relay.reply(7, Some(5), be(&[(2, 4), (0, 4)]));
    if !again {
        relay.reply(7, Some(5), streams(&[new]));
    }
    relay.packet(4, 0, 90, packet(2, &[80, 90]));
    relay.index(4, 3, 0, 0);
    relay.reply(7, Some(5), be(&[(4, 4), (0, 4)]));
    relay
}
