//! Live sessions over several connections: each event is delivered once.

use crate::support::scripted::{EVENTS, greeting, whole_of};
use crate::support::viewer::Viewer;
use ltt_read::live::{LiveError, LiveStart};

/// Returns `true` if a viewer knows the stream that is created later.
fn knows_all_streams(viewer: &mut Viewer) -> bool {
    viewer.client.traces().first().is_some_and(|trace| trace.tracefiles().len() == 3)
}

/// Returns the number of requests of a session.
fn requests() -> u64 {
    let (mut relay, mut viewer) = (whole_of(13, false), Viewer::new(LiveStart::Beginning));
    assert!(viewer.converse(&mut relay, u64::MAX).expect("a sound conversation"));
    relay.requests
}

#[test]
fn events_are_delivered_once_wherever_the_connection_fails() {
    for first in 0..requests() {
        for second in [3, 8, u64::MAX] {
            let mut viewer = Viewer::new(LiveStart::Beginning);
            assert!(!viewer.converse(&mut whole_of(13, false), first).expect("sound"));
            viewer.client.reconnect();
            let mut relay = whole_of(13, knows_all_streams(&mut viewer));
            if !viewer.converse(&mut relay, second).expect("sound") {
                viewer.client.reconnect();
                let mut relay = whole_of(13, knows_all_streams(&mut viewer));
                assert!(viewer.converse(&mut relay, u64::MAX).expect("sound"));
            }
            assert!(!viewer.merge.is_pending());
            assert_eq!(viewer.seen, EVENTS, "after {first} and {second} answers");
            let notices = viewer.merge.take_notices();
            assert!(notices.is_empty(), "after {first} and {second} answers: {notices:?}");
        }
    }
}

#[test]
fn a_session_that_has_ended_meanwhile_leaves_what_has_arrived() {
    for first in 5..requests() {
        let mut viewer = Viewer::new(LiveStart::Beginning);
        assert!(!viewer.converse(&mut whole_of(13, false), first).expect("sound"));
        viewer.client.reconnect();
        let mut relay = greeting(13);
        relay.forget_sessions();
        let end = viewer.converse(&mut relay, u64::MAX);
        assert!(matches!(end, Err(LiveError::NoSuchSession { .. })), "{end:?}");
        viewer.read();
        assert!(!viewer.merge.is_pending(), "everything is final");
        // What had not been fetched is lost.
        let mut rest = EVENTS.iter();
        assert!(
            viewer.seen.iter().all(|seen| rest.any(|event| event == seen)),
            "{:?}",
            viewer.seen
        );
    }
}
