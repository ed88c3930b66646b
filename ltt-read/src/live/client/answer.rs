//! The answers of a relay daemon.

use super::{Attached, CLEAN_REFUSALS, LiveClient, MAX_PACKET, Phase};
use crate::live::error::{LiveError, Refusal};
use crate::live::feed::PacketState;
use crate::live::reply::{IndexInfo, Reply, StreamInfo};
use crate::live::request::{MAJOR, MINOR, Request};
use crate::live::session::LiveSession;

impl LiveClient {
    pub(super) fn answer(&mut self, request: Request, reply: Reply) -> Result<(), LiveError> {
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
        streams: Vec<StreamInfo>,
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
}
