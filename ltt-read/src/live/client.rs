//! The viewer's side of the protocol, without input and output.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use super::error::{LiveError, Refusal};
use super::feed::{Feed, PacketState};
use super::reply::{IndexInfo, Reply, decode};
use super::request::{MAJOR, MINOR, Request, Seek};
use super::session::LiveSession;
use crate::merge::Merge;
use crate::report::Error;
use crate::trace::Trace;

/// The greatest number of bytes of a packet that are asked for at once.
const CHUNK: u64 = 1 << 20;

/// The greatest size of a packet in bytes.
const MAX_PACKET: u64 = 1 << 28;

/// The first minor version that sends nothing after the header of a refused packet.
const CLEAN_REFUSALS: u32 = 13;

/// The place in a session at which reading starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LiveStart {
    /// The oldest data that the daemon still has.
    #[default]
    Beginning,
    /// The data that the daemon receives from now on. Streams that are created later start at
    /// their beginning.
    Now,
}

/// The next step of the caller of a [`LiveClient`].
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

    fn answer(&mut self, request: Request, reply: Reply) -> Result<(), LiveError> {
        match (request, reply) {
            (Request::Connect, Reply::Connect { major, minor }) => {
                if major != MAJOR {
                    let reason = format!("the daemon speaks version {major}.{minor}");
                    return Err(self.invalid(&self.words(request), &reason));
                }
                self.minor = minor.min(MINOR);
                self.phase = Phase::List;
                Ok(())
            }
            (Request::ListSessions, Reply::Sessions(sessions)) => self.listed(sessions),
            (Request::CreateSession, Reply::Created { status }) => match status {
                1 => {
                    self.phase = Phase::Read;
                    Ok(())
                }
                2 => Err(self.refused(request, Refusal::Failed)),
                other => Err(self.unknown_status(request, other)),
            },
            (Request::Attach { session, .. }, Reply::Streams { status, streams }) => {
                let refusal = match status {
                    1 => {
                        let attached = self.attached.iter_mut().find(|known| known.id == session);
                        attached.into_iter().for_each(|known| known.is_attached = true);
                        return self.add_streams(request, session, streams);
                    }
                    2 => Refusal::AlreadyAttached,
                    3 => Refusal::UnknownSession,
                    4 => Refusal::NotLive,
                    5 => Refusal::UnknownStart,
                    6 => Refusal::NoViewerSession,
                    other => return Err(self.unknown_status(request, other)),
                };
                Err(self.refused(request, refusal))
            }
            (Request::NewStreams { session }, Reply::Streams { status, streams }) => match status {
                1 => self.add_streams(request, session, streams),
                2 => Ok(()),
                3 => Err(self.refused(request, Refusal::NotAttached)),
                4 => {
                    let attached = self.attached.iter_mut().find(|known| known.id == session);
                    attached.into_iter().for_each(|known| known.is_over = true);
                    Ok(())
                }
                other => Err(self.unknown_status(request, other)),
            },
            (Request::NextIndex { stream }, Reply::Index { status, index }) => {
                self.index(request, stream, status, index)
            }
            (Request::Packet { stream, .. }, Reply::Packet { status, flags, data }) => {
                self.packet(request, stream, status, flags, data)
            }
            (Request::Metadata { stream }, Reply::Metadata { status, data }) => match status {
                1..=3 => {
                    let state = match status {
                        1 => None,
                        other => Some(other == 3),
                    };
                    self.feed.add_metadata(stream, data, state).map_err(|error| self.data(error))
                }
                other => Err(self.unknown_status(request, other)),
            },
            (Request::Detach { .. }, Reply::Detached { status }) => match status {
                1 => Ok(()),
                2 => Err(self.refused(request, Refusal::UnknownSession)),
                3 => Err(self.refused(request, Refusal::NotAttached)),
                other => Err(self.unknown_status(request, other)),
            },
            _ => Err(self.invalid(&self.words(request), "another answer than the request's")),
        }
    }

    fn listed(&mut self, sessions: Vec<LiveSession>) -> Result<(), LiveError> {
        self.sessions = sessions;
        let Some((host, name)) = &self.target else {
            self.phase = Phase::End;
            return Ok(());
        };
        let same = self.sessions.iter().filter(|found| found.host == *host && found.name == *name);
        self.attached = same
            .map(|found| Attached {
                id: found.id,
                is_attached: false,
                wants_streams: false,
                has_streams: false,
                is_over: false,
            })
            .collect();
        // Over a new connection, sessions that have ended since then are not listed.
        for session in self.feed.sessions() {
            if self.attached.iter().all(|attached| attached.id != session) {
                self.feed.end_lost_streams(session);
            }
        }
        if self.attached.is_empty() {
            self.feed.complete();
            let (host, session) = (host.clone(), name.clone());
            return Err(LiveError::NoSuchSession { daemon: self.daemon.clone(), host, session });
        }
        let root = format!("net://{}/host/{host}/{name}", self.daemon);
        self.feed.set_root(root.into());
        self.phase = Phase::Create;
        Ok(())
    }

    fn add_streams(
        &mut self,
        request: Request,
        session: u64,
        streams: Vec<super::reply::StreamInfo>,
    ) -> Result<(), LiveError> {
        let has_streams = !streams.is_empty();
        if let Err(reason) = self.feed.add_streams(session, streams) {
            return Err(self.invalid(&self.words(request), reason));
        }
        // The first list is one of all streams, but it is empty while a session is cleared.
        let attached = self.attached.iter_mut().find(|known| known.id == session);
        if let Some(attached) = attached.filter(|known| has_streams && !known.has_streams) {
            attached.has_streams = true;
            self.feed.end_lost_streams(session);
        }
        Ok(())
    }

    fn index(
        &mut self,
        request: Request,
        stream: u64,
        status: u32,
        index: IndexInfo,
    ) -> Result<(), LiveError> {
        let session = self.feed.note_flags(stream, index.has_new_metadata());
        if index.has_new_streams() {
            let attached = self.attached.iter_mut().find(|known| Some(known.id) == session);
            attached.into_iter().for_each(|known| known.wants_streams = true);
        }
        match status {
            1 => {
                let bits = index.packet_bits;
                if !bits.is_multiple_of(8) || bits / 8 > MAX_PACKET || index.content_bits > bits {
                    let reason = format!("a packet of {bits} bits");
                    return Err(self.invalid(&self.words(request), &reason));
                }
                self.feed.start_packet(stream, index);
            }
            2 => self.feed.set_idle(stream),
            3 | 6 => self.feed.end_stream(stream),
            4 => return Err(self.refused(request, Refusal::Failed)),
            5 => self.feed.silent_until(stream, index.stream_class, index.end),
            other => return Err(self.unknown_status(request, other)),
        }
        Ok(())
    }

    fn packet(
        &mut self,
        request: Request,
        stream: u64,
        status: u32,
        flags: u32,
        data: Vec<u8>,
    ) -> Result<(), LiveError> {
        match status {
            1 => {
                let state = self.feed.add_bytes(stream, data);
                if state.map_err(|error| self.data(error))? == PacketState::TooMuch {
                    let (daemon, limit) = (self.daemon.clone(), self.feed.memory());
                    return Err(LiveError::Memory { daemon, limit });
                }
            }
            2 => self.feed.set_idle(stream),
            // Daemons before 2.6 announce metadata and streams in this way.
            3 if flags & 3 != 0 => {
                let session = self.feed.note_flags(stream, flags & 1 != 0);
                let attached = self.attached.iter_mut().find(|known| Some(known.id) == session);
                attached.into_iter().for_each(|known| known.wants_streams |= flags & 2 != 0);
                self.feed.set_idle(stream);
            }
            // The packet was removed, by `lttng clear` or because files are reused. The numbers
            // of the packets will tell that it is missing.
            3 if self.minor >= CLEAN_REFUSALS => self.feed.drop_packet(stream),
            3 => return Err(self.refused(request, Refusal::Failed)),
            4 => self.feed.end_stream(stream),
            other => return Err(self.unknown_status(request, other)),
        }
        Ok(())
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
