//! Live sessions over several connections: each event is delivered once.

mod support {
    pub(crate) mod relay;
    pub(crate) mod scripted;
}

use ltt_read::Merge;
use ltt_read::live::{LiveAction, LiveClient, LiveError, LiveStart};
use support::relay::Relay;
use support::scripted::{EVENTS, greeting, whole_of};

/// A viewer with the events that it has seen.
struct Viewer {
    client: LiveClient,
    /// The last request.
    request: Vec<u8>,
    merge: Merge,
    seen: Vec<u64>,
}

impl Viewer {
    fn new(start: LiveStart) -> Viewer {
        let client = LiveClient::attach("fake", "vm", "s", start);
        Viewer { client, request: Vec::new(), merge: Merge::new(&[]), seen: Vec::new() }
    }

    /// Returns `true` if the stream that is created later is known.
    fn knows_all_streams(&mut self) -> bool {
        self.client.traces().first().is_some_and(|trace| trace.tracefiles().len() == 3)
    }

    fn read(&mut self) {
        self.merge.continue_with(self.client.traces());
        while let Some(event) = self.merge.next() {
            self.seen.extend(event.field("seq").and_then(|seq| seq.as_u64()));
        }
        self.client.release(&self.merge);
    }

    /// Carries a conversation to its end, or until the daemon has answered a number of requests.
    /// Returns `true` at the end.
    fn converse(&mut self, relay: &mut Relay, answers: u64) -> Result<bool, LiveError> {
        loop {
            match self.client.next()? {
                LiveAction::Send(bytes) => self.request = bytes,
                LiveAction::Receive if relay.requests == answers => return Ok(false),
                LiveAction::Receive => {
                    let reply = relay.answer(&self.request).expect("an answer");
                    // A part of the next reply may be lost, too.
                    let (first, rest) = reply.split_at(reply.len() / 2);
                    self.client.receive(first)?;
                    self.client.receive(rest)?;
                }
                LiveAction::Wait => self.read(),
                LiveAction::End => {
                    self.read();
                    return Ok(true);
                }
            }
        }
    }
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
            let mut relay = whole_of(13, viewer.knows_all_streams());
            if !viewer.converse(&mut relay, second).expect("sound") {
                viewer.client.reconnect();
                let mut relay = whole_of(13, viewer.knows_all_streams());
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
