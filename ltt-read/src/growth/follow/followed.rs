//! A trace that is followed, in any format.

use std::sync::Arc;

use super::recording::FollowedRecording;
use super::trace::FollowedTrace;
use crate::base::time::Timestamp;
use crate::merge::Merge;
use crate::report::Error;
use crate::trace::Trace;

/// A trace that is followed.
#[derive(Debug)]
pub(super) enum Followed {
    Ctf(Box<FollowedTrace>),
    Perf(Box<FollowedRecording>),
    /// A recording that has ended.
    Complete(Arc<Trace>),
}

impl Followed {
    /// Returns the trace as far as it was read.
    pub(super) fn version(&mut self) -> Option<&Arc<Trace>> {
        match self {
            Followed::Ctf(trace) => Some(trace.growing.version()),
            Followed::Perf(recording) => Some(recording.growing.as_mut()?.version()),
            Followed::Complete(trace) => Some(trace),
        }
    }

    /// Reads what was written since the last call. Returns `true` if something was.
    pub(super) fn read(&mut self, failures: &mut Vec<Error>) -> bool {
        match self {
            Followed::Ctf(trace) => trace.read(failures),
            Followed::Perf(recording) => recording.read(failures),
            Followed::Complete(_) => false,
        }
    }

    /// Returns `true` if everything that was written has been read.
    pub(super) fn is_read(&self) -> bool {
        match self {
            Followed::Ctf(trace) => trace.is_read(),
            Followed::Perf(recording) => recording.is_read(),
            Followed::Complete(_) => true,
        }
    }

    /// Returns `true` if nothing follows.
    pub(super) fn has_ended(&self) -> bool {
        match self {
            Followed::Ctf(_) => false,
            Followed::Perf(recording) => recording.is_complete(),
            Followed::Complete(_) => true,
        }
    }

    /// Returns the latest time up to which something is known; [`Timestamp::MIN`] if nothing is known.
    pub(super) fn known_until(&self) -> Timestamp {
        match self {
            Followed::Ctf(trace) => trace.growing.known_until(),
            Followed::Perf(recording) => recording.latest(),
            Followed::Complete(_) => Timestamp::MIN,
        }
    }

    /// Notes that no events before a time follow.
    pub(super) fn silent_until(&mut self, time: Timestamp) {
        match self {
            Followed::Ctf(trace) => trace.silent_until(time),
            Followed::Perf(recording) => recording.silent_until(time),
            Followed::Complete(_) => {}
        }
    }

    /// Forgets the data that a merge has delivered, of which this is the trace with a number.
    pub(super) fn release(&mut self, merge: &Merge, number: usize) {
        let growing = match self {
            Followed::Ctf(trace) => Some(&mut trace.growing),
            Followed::Perf(recording) => recording.growing.as_mut(),
            Followed::Complete(_) => None,
        };
        if let Some(growing) = growing {
            growing.release(merge, number);
        }
    }

    /// Ends all tracefiles.
    pub(super) fn complete(&mut self) -> Result<(), Error> {
        match self {
            Followed::Ctf(trace) => trace.complete(),
            Followed::Perf(recording) => recording.complete()?,
            Followed::Complete(_) => {}
        }
        Ok(())
    }
}
