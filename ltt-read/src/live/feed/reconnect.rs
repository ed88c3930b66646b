//! Continuing over another connection.

use super::{Feed, LiveStream};

impl Feed {
    /// Records that the connection was made anew: pending fetches are repeated, and
    /// metadata comes from its start.
    pub(in crate::live) fn reconnect(&mut self) {
        self.metadata_size = 0;
        for trace in &mut self.traces {
            trace.known_metadata = trace.known_metadata.max(trace.metadata.len());
            trace.metadata.clear();
            (trace.metadata_stream, trace.wants_metadata) = (None, false);
        }
        for stream in &mut self.streams {
            (stream.packet, stream.is_idle, stream.is_lost) = (None, false, true);
        }
    }

    /// Ends the streams of a session that the daemon has not declared over a new connection.
    pub(in crate::live) fn end_lost_streams(&mut self, session: u64) {
        let is_lost =
            |stream: &&LiveStream| stream.session == session && stream.is_lost && !stream.is_over;
        let lost: Vec<_> = self.streams.iter().filter(is_lost).map(|stream| stream.id).collect();
        self.lost_streams += lost.len();
        lost.into_iter().for_each(|stream| self.end_stream(stream));
    }

    /// Returns the sessions of the streams that are not over.
    pub(in crate::live) fn sessions(&self) -> Vec<u64> {
        let streams = self.streams.iter().filter(|stream| !stream.is_over);
        let mut sessions: Vec<_> = streams.map(|stream| stream.session).collect();
        sessions.sort_unstable();
        sessions.dedup();
        sessions
    }

    /// Returns `true` if something of a stream has arrived.
    pub(in crate::live) fn has_begun(&self) -> bool {
        self.streams.iter().any(|stream| stream.last.is_some())
    }

    /// Returns the number of streams that ended while the connection was lost.
    pub(in crate::live) fn lost_streams(&self) -> usize {
        self.lost_streams
    }
}
