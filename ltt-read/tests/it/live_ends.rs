//! The ways in which live sessions end: what could not be read is an error, or is counted.

use crate::support::relay::{Relay, be};
use crate::support::scripted::{
    attached, end_session, greeting, metadata, metadata_reply, packet, schema, session, stream,
    stream_of, streams,
};
use crate::support::viewer::Viewer;
use ltt_read::live::LiveStart;
use ltt_read::writer::metadata_text;

/// Reads a session to its end. Returns the numbers of the events, the error in words, and the
/// number of packets that are missing.
fn end_of(relay: &mut Relay) -> (Vec<u64>, Option<String>, u64) {
    let mut viewer = Viewer::new(LiveStart::Beginning);
    let error = viewer.finish(relay).map(|error| ltt_read::ErrorChain(&error).to_string());
    assert!(!viewer.merge.is_pending(), "everything is final");
    (viewer.seen, error, viewer.client.missing_packets())
}

/// Returns a daemon with a session that ends after one packet. It has no metadata.
fn one_packet() -> Relay {
    let mut relay = attached(13);
    relay.packet(1, 0, 30, packet(0, &[10, 30]));
    end_session(&mut relay, &[1, 2]);
    relay
}

#[test]
fn metadata_that_never_becomes_valid_is_an_error() {
    for text in ["/* CTF 1.8 */ trace { major = 1;", "/* CTF 1.8 */ trace { major = 1; } }", "x"] {
        let mut relay = one_packet();
        relay.reply(6, Some(3), metadata_reply(text.as_bytes()));
        let (seen, error, _) = end_of(&mut relay);
        let error = error.expect("an error");
        let start = "fake: the data of the session cannot be read: net://fake/host/vm/s/kernel";
        assert!(error.starts_with(start), "{error}");
        assert_eq!(seen, [0_u64; 0]);
    }
}

#[test]
fn packets_without_metadata_are_an_error() {
    // There is no metadata yet, or there will be none.
    for status in [2, 3] {
        let mut relay = one_packet();
        relay.reply(6, Some(3), be(&[(0, 8), (status, 4)]));
        let (seen, error, _) = end_of(&mut relay);
        let error = error.expect("an error");
        assert!(error.contains("the metadata is empty"), "{error}");
        assert_eq!(seen, [0_u64; 0]);
    }
}

#[test]
fn a_session_without_metadata_and_packets_has_no_events() {
    let mut relay = attached(13);
    relay.reply(6, Some(3), be(&[(0, 8), (2, 4)]));
    end_session(&mut relay, &[1, 2]);
    assert_eq!(end_of(&mut relay), (vec![], None, 0));
}

#[test]
fn later_metadata_that_is_not_valid_is_an_error_after_the_events() {
    let mut relay = attached(13);
    let text = metadata_text(&schema()).expect("metadata");
    relay.reply(6, Some(3), metadata_reply(text.as_bytes()));
    relay.reply(6, Some(3), be(&[(0, 8), (2, 4)]));
    relay.index(1, 2, 0, 1);
    relay.packet(1, 0, 30, packet(0, &[10, 30]));
    relay.reply(6, Some(3), metadata_reply(b"event { name = \"late\"; id = "));
    end_session(&mut relay, &[1, 2]);
    let (seen, error, _) = end_of(&mut relay);
    let error = error.expect("an error");
    let start = "fake: the data of the session cannot be read: net://fake/host/vm/s/kernel";
    assert!(error.starts_with(start), "{error}");
    assert_eq!(seen, [10, 30]);
}

#[test]
fn metadata_of_which_no_decoder_can_be_made_is_an_error() {
    let member = |n| format!("integer {{ size = 8; }} n{n}; integer {{ size = 8; }} a{n}[n{n}]; ");
    let members: String = (0..300).map(member).collect();
    let text = metadata_text(&schema()).expect("metadata")
        + "event { name = \"wide\"; id = 1; stream_id = 0; fields := struct { "
        + &members
        + "}; };";
    let mut relay = one_packet();
    relay.reply(6, Some(3), metadata_reply(text.as_bytes()));
    let (_, error, _) = end_of(&mut relay);
    let error = error.expect("an error");
    assert!(error.contains("too many fields"), "{error}");
}

#[test]
fn a_trace_without_metadata_does_not_hold_up_the_metadata_of_others() {
    let mut relay = greeting(13);
    let others = [stream_of(9, 2, false, "ch_1"), stream_of(9, 3, true, "metadata")];
    relay.reply(3, Some(5), streams(&[&[stream(1, false, "ch_0")][..], &others].concat()));
    relay.reply(6, Some(3), be(&[(0, 8), (2, 4)]));
    relay.index(1, 2, 0, 1);
    relay.index(2, 2, 0, 1);
    relay.reply(6, Some(3), metadata_reply(&metadata()));
    relay.packet(2, 0, 30, packet(0, &[10, 30]));
    end_session(&mut relay, &[1, 2]);
    assert_eq!(end_of(&mut relay), (vec![10, 30], None, 0));
}

#[test]
fn packets_that_are_removed_at_the_end_are_counted() {
    let mut relay = attached(13);
    relay.reply(6, Some(3), metadata_reply(&metadata()));
    relay.packet(1, 0, 30, packet(0, &[10, 30]));
    for offset in [5, 6] {
        let index = [(offset, 8), (800, 8), (800, 8), (0, 8), (5, 8), (0, 8), (0, 8)];
        relay.reply(4, Some(1), be(&[&index[..], &[(1, 4), (0, 4)]].concat()));
        let request = be(&[(1, 8), (offset, 8), (100, 4)]);
        relay.answer_packet(request, be(&[(3, 4), (0, 4), (0, 4)]));
    }
    end_session(&mut relay, &[1, 2]);
    assert_eq!(end_of(&mut relay), (vec![10, 30], None, 2));
}

#[test]
fn streams_that_end_while_the_connection_is_lost_are_counted() {
    let both = |also: &[u64]| {
        let mut relay = Relay::default();
        relay.reply(1, None, be(&[(1, 8), (2, 4), (13, 4), (0, 4)]));
        let sessions: Vec<_> = also.iter().map(|id| session(*id, "s", 13)).collect();
        relay.reply(2, None, [be(&[(also.len() as u64, 4)]), sessions.concat()].concat());
        for id in also {
            let own =
                [stream_of(*id, 10 * id, false, "ch"), stream_of(*id, 10 * id + 1, true, "m")];
            relay.reply(3, Some(*id), streams(&own));
            relay.reply(6, Some(10 * id + 1), metadata_reply(&metadata()));
            relay.packet(10 * id, 0, 30, packet(0, &[10 + id, 30]));
            relay.index(10 * id, 2, 0, 0);
        }
        relay
    };
    let (mut relay, mut viewer) = (both(&[5, 6]), Viewer::new(LiveStart::Beginning));
    while viewer.seen.len() < 3 {
        let answers = relay.requests + 1;
        assert!(!viewer.converse(&mut relay, answers).expect("a sound conversation"));
        viewer.read();
    }
    viewer.client.reconnect();
    let mut relay = both(&[5]);
    end_session(&mut relay, &[50]);
    assert!(viewer.finish(&mut relay).is_none());
    assert_eq!(viewer.seen, [15, 16, 30, 30]);
    assert_eq!(viewer.client.lost_streams(), 1);
}
