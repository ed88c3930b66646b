//! The viewer's side of the protocol, without input and output.

mod answer;

use std::io::{self, ErrorKind};
use std::sync::Arc;

use super::error::{LiveError, Refusal};
use super::feed::Feed;
use super::reply::decode;
use super::request::{MINOR, Request, Seek};
use super::session::LiveSession;
use crate::merge::Merge;
use crate::report::Error;
use crate::trace::Trace;

/// The greatest number of bytes of a packet that are requested at once.
const CHUNK: u64 = 1 << 20;

/// The greatest size of a packet in bytes.
const MAX_PACKET: u64 = 1 << 28;

/// The first minor version that sends nothing after the header of a refused packet.
const CLEAN_REFUSALS: u32 = 13;

/// The place in a session at which reading starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum LiveStart {
    /// The oldest data that the daemon still has.
    #[default]
    Beginning,
    /// The data that the daemon receives from now on. Streams that are created later start at
    /// their beginning.
    Now,
}

/// The next step of the caller of a [`LiveClient`].
// Exhaustive: a caller has to perform each.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum LiveAction {
    /// Sends these bytes to the daemon, all at once.
    Send(Vec<u8>),
    /// Receives bytes from the daemon, and passes them to [`receive`](LiveClient::receive).
    Receive,
    /// Waits a while: the daemon has nothing new.
    Wait,
    /// Closes the connection: the session is over, or the sessions are listed.
    End,
}

/// A viewer of a live session that neither sends nor receives by itself.
///
/// The caller does what [`next`](Self::next) says, and passes all received bytes to
/// [`receive`](Self::receive). A request is answered before the next one is made. The traces
/// of all sessions with the given host and name are read, such as kernel and user space.
///
/// At most 256 MiB are kept until [`release`](Self::release) is called. Beyond that, only
/// the tracefiles that hold up the others are read, one packet between two waits; and beyond twice as
/// much, reading ends with [`LiveError::Memory`]. See [`with_memory`](Self::with_memory).
#[derive(Debug)]
pub struct LiveClient {
    daemon: String,
    /// The host and name of the session; `None` to list all sessions.
    target: Option<(String, String)>,
    seek: Seek,
    minor: u32,
    phase: Phase,
    /// The request that was made and is not answered yet.
    asked: Option<Request>,
    received: Vec<u8>,
    sessions: Vec<LiveSession>,
    attached: Vec<Attached>,
    feed: Feed,
}

/// A session that is read.
#[derive(Debug)]
struct Attached {
    id: u64,
    is_attached: bool,
    wants_streams: bool,
    /// `true` once the daemon has declared streams of it.
    has_streams: bool,
    is_over: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Connect,
    List,
    Create,
    Read,
    Detach,
    End,
}

impl LiveClient {
    /// Creates a client that reads a session. `daemon` is the address of the relay daemon, for
    /// messages.
    pub fn attach(daemon: &str, host: &str, session: &str, start: LiveStart) -> LiveClient {
        let target = Some((host.to_owned(), session.to_owned()));
        let seek = match start {
            LiveStart::Beginning => Seek::Beginning,
            LiveStart::Now => Seek::Last,
        };
        LiveClient { target, seek, ..LiveClient::list(daemon) }
    }

    /// Creates a client that lists the [`sessions`](Self::sessions) of a relay daemon.
    pub fn list(daemon: &str) -> LiveClient {
        LiveClient {
            daemon: daemon.to_owned(),
            target: None,
            seek: Seek::Beginning,
            minor: MINOR,
            phase: Phase::Connect,
            asked: None,
            received: Vec::new(),
            sessions: Vec::new(),
            attached: Vec::new(),
            feed: Feed::new(),
        }
    }

    /// Sets the number of bytes of events that are kept until [`release`](Self::release).
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> LiveClient {
        self.feed.set_memory(bytes);
        self
    }

    /// Returns what the caller has to do next.
    ///
    /// # Errors
    ///
    /// [`LiveError::Data`] at the end of the session if the metadata of a trace cannot be parsed, or
    /// is missing: the events of the trace, or those that the rest of the metadata declares, were
    /// not delivered. The next call returns [`LiveAction::End`].
    #[allow(clippy::should_implement_trait)] // an iterator could not fail
    pub fn next(&mut self) -> Result<LiveAction, LiveError> {
        if self.asked.is_some() {
            return Ok(LiveAction::Receive);
        }
        let request = match self.phase {
            Phase::Connect => Request::Connect,
            Phase::List => Request::ListSessions,
            Phase::Create => Request::CreateSession,
            Phase::Read => match self.choose() {
                Some(request) => request,
                None if self.phase == Phase::End => {
                    let error = self.feed.take_metadata_error();
                    return error.map_or(Ok(LiveAction::End), |error| Err(self.data(error)));
                }
                None => {
                    self.feed.start_round();
                    return Ok(LiveAction::Wait);
                }
            },
            Phase::Detach => match self.attached.iter_mut().find(|session| session.is_attached) {
                // Daemons before 2.8 do not know this request.
                Some(session) if self.minor >= 8 => {
                    session.is_attached = false;
                    Request::Detach { session: session.id }
                }
                _ => {
                    self.phase = Phase::End;
                    return Ok(LiveAction::End);
                }
            },
            Phase::End => return Ok(LiveAction::End),
        };
        self.asked = Some(request);
        Ok(LiveAction::Send(request.to_bytes()))
    }

    /// Accepts bytes from the daemon, in pieces of any size.
    ///
    /// # Errors
    ///
    /// Any [`LiveError`] but those of the network. The session cannot be read any further.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), LiveError> {
        self.received.extend_from_slice(bytes);
        let Some(request) = self.asked else {
            return match self.received.is_empty() {
                true => Ok(()),
                false => Err(self.invalid("no request", "bytes that were not asked for")),
            };
        };
        let reply = decode(&self.received, request, self.minor);
        let reply = reply.map_err(|reason| self.invalid(&self.words(request), &reason))?;
        let Some((reply, size)) = reply else { return Ok(()) };
        if size < self.received.len() {
            return Err(self.invalid(&self.words(request), "more bytes than the answer has"));
        }
        self.received.clear();
        self.asked = None;
        self.answer(request, reply)
    }

    /// Returns the error for a connection that the daemon closed.
    pub fn closed(&self) -> LiveError {
        LiveError::Closed {
            daemon: self.daemon.clone(),
            waiting_for: self.asked.map(|request| self.words(request)).unwrap_or_default(),
        }
    }

    /// Returns the error for a connection that failed.
    pub(super) fn failed(&self, error: io::Error) -> LiveError {
        match error.kind() {
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => self.closed(),
            _ => LiveError::Io { daemon: self.daemon.clone(), error },
        }
    }

    /// Starts anew over another connection, after the previous one has failed: the client attaches
    /// to the same session, and fetches what has not arrived. What has arrived stays, and is not
    /// delivered again.
    ///
    /// Data that the daemon has removed since then is missing, which shows as a gap in the numbers of
    /// packets. If the session has ended, the error is [`LiveError::NoSuchSession`], and everything that has arrived is
    /// final. A daemon that has not noticed the failure refuses the attachment with
    /// [`Refusal::AlreadyAttached`]; the caller may try again.
    pub fn reconnect(&mut self) {
        if matches!(self.phase, Phase::Detach | Phase::End) {
            self.phase = Phase::End;
            return;
        }
        if self.feed.has_begun() {
            self.seek = Seek::Beginning;
        }
        (self.phase, self.asked) = (Phase::Connect, None);
        self.received.clear();
        self.sessions.clear();
        self.attached.clear();
        self.feed.reconnect();
    }

    /// Returns the address of the daemon.
    pub fn daemon(&self) -> &str {
        &self.daemon
    }

    /// Returns the sessions that the daemon listed.
    pub fn sessions(&self) -> &[LiveSession] {
        &self.sessions
    }

    /// Returns the traces as far as they have arrived, in the order in which they were found.
    /// They are versions of [growing traces](crate::GrowingTrace).
    pub fn traces(&mut self) -> &[Arc<Trace>] {
        self.feed.versions()
    }

    /// Returns the reasons why the metadata of traces cannot be parsed as far as it has arrived.
    /// More of it may come; a caller that leaves the session before its end should report them, since
    /// the events of these traces were not delivered.
    pub fn metadata_errors(&self) -> impl Iterator<Item = &Error> {
        self.feed.metadata_errors()
    }

    /// Returns the number of packets that the daemon had removed before they were fetched, and after
    /// which no other packet of their tracefile has arrived. Others show as
    /// [lost packets](crate::NoticeKind::LostPackets) when the next packet is read.
    pub fn missing_packets(&self) -> u64 {
        self.feed.missing_packets()
    }

    /// Returns the number of tracefiles that ended while the connection was
    /// [lost](Self::reconnect). What they recorded last may be missing.
    pub fn lost_streams(&self) -> usize {
        self.feed.lost_streams()
    }

    /// Forgets the data that a merge of the [`traces`](Self::traces) has delivered.
    pub fn release(&mut self, merge: &Merge) {
        self.feed.release(merge);
    }

    /// Ends reading: the client detaches from the session. What has arrived stays.
    pub fn detach(&mut self) {
        if self.phase != Phase::End {
            self.phase = Phase::Detach;
        }
    }

    /// Returns the next request while the session is read; `None` if there is nothing to ask
    /// now.
    fn choose(&mut self) -> Option<Request> {
        if let Some(session) = self.attached.iter().find(|session| !session.is_attached) {
            return Some(Request::Attach { session: session.id, seek: self.seek });
        }
        if let Some(stream) = self.feed.metadata_wanted() {
            return Some(Request::Metadata { stream });
        }
        let mut sessions = self.attached.iter_mut().filter(|session| !session.is_over);
        if let Some(session) = sessions.find(|session| session.wants_streams) {
            session.wants_streams = false;
            return Some(Request::NewStreams { session: session.id });
        }
        if let Some(request) = self.feed.next_request(CHUNK) {
            return Some(request);
        }
        // A session without active streams may get new ones, or end.
        let feed = &self.feed;
        for session in self.attached.iter_mut().filter(|session| !session.is_over) {
            session.wants_streams |= !feed.has_active_stream(session.id);
        }
        if self.attached.iter().all(|session| session.is_over) && self.feed.is_over() {
            self.feed.complete();
            self.phase = Phase::End;
        }
        None
    }

    /// Returns a request in words.
    fn words(&self, request: Request) -> String {
        let name = |stream| self.feed.name_of(stream);
        match request {
            Request::Connect => "its version".to_owned(),
            Request::ListSessions => "the list of sessions".to_owned(),
            Request::CreateSession => "a viewer session".to_owned(),
            Request::Attach { session, .. } => format!("attachment to session {session}"),
            Request::NewStreams { session } => format!("new streams of session {session}"),
            Request::NextIndex { stream } => format!("the next packet of {}", name(stream)),
            Request::Packet { stream, offset, .. } => {
                format!("the packet at byte {offset} of {}", name(stream))
            }
            Request::Metadata { stream } => format!("metadata of {}", name(stream)),
            Request::Detach { session } => format!("detachment from session {session}"),
        }
    }

    fn refused(&self, request: Request, refusal: Refusal) -> LiveError {
        let what = self.words(request);
        LiveError::Refused { daemon: self.daemon.clone(), what, refusal }
    }

    fn unknown_status(&self, request: Request, status: u32) -> LiveError {
        self.invalid(&self.words(request), &format!("unknown status {status}"))
    }

    fn invalid(&self, what: &str, reason: &str) -> LiveError {
        let (what, reason) = (what.to_owned(), reason.to_owned());
        LiveError::Protocol { daemon: self.daemon.clone(), what, reason }
    }

    fn data(&self, error: Error) -> LiveError {
        LiveError::Data { daemon: self.daemon.clone(), error }
    }
}
