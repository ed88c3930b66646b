//! A viewer of a scripted daemon.

#![allow(dead_code, reason = "not every test needs all of it")]

use ltt_read::Merge;
use ltt_read::live::{LiveAction, LiveClient, LiveError, LiveStart};

use super::relay::Relay;

/// A viewer with the numbers of the events that it has seen.
pub(crate) struct Viewer {
    pub(crate) client: LiveClient,
    /// The last request.
    request: Vec<u8>,
    pub(crate) merge: Merge,
    pub(crate) seen: Vec<u64>,
}

impl Viewer {
    pub(crate) fn new(start: LiveStart) -> Viewer {
        let client = LiveClient::attach("fake", "vm", "s", start);
        Viewer { client, request: Vec::new(), merge: Merge::new(&[]), seen: Vec::new() }
    }

    /// Delivers what is final.
    pub(crate) fn read(&mut self) {
        self.merge.continue_with(self.client.traces());
        while let Some(event) = self.merge.next() {
            self.seen.extend(event.field("seq").and_then(|seq| seq.as_u64()));
        }
        self.client.release(&self.merge);
    }

    /// Carries a conversation to its end, or until the daemon has answered a number of requests.
    /// Returns `true` at the end.
    pub(crate) fn converse(&mut self, relay: &mut Relay, answers: u64) -> Result<bool, LiveError> {
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
                LiveAction::Wait => {
                    assert!(relay.requests < 10_000, "the conversation does not end");
                    self.read();
                }
                LiveAction::End => {
                    self.read();
                    return Ok(true);
                }
            }
        }
    }

    /// Carries a conversation to its end. Returns the error that it ends with, if any; what has
    /// arrived is delivered.
    pub(crate) fn finish(&mut self, relay: &mut Relay) -> Option<LiveError> {
        let error = self.converse(relay, u64::MAX).err();
        self.read();
        error
    }
}
