//! Replies of relay daemons, from bytes.

use byteorder::{BigEndian, ByteOrder};

use super::request::Request;
use super::session::LiveSession;

/// The greatest number of sessions or streams in one reply.
const MAX_LIST: u32 = 1 << 16;
/// The greatest size of one piece of metadata in bytes.
const MAX_METADATA: u64 = 1 << 28;
/// The greatest length of the name of a host or session, in bytes.
const MAX_NAME: usize = 1 << 16;

const SESSION_SIZE: usize = 20 + 64 + 255;
const STREAM_SIZE: usize = 20 + PATH_SIZE + CHANNEL_SIZE;
const PATH_SIZE: usize = 4096;
const CHANNEL_SIZE: usize = 255;

/// A decoded reply. Statuses are those of the protocol.
#[derive(Debug)]
pub(super) enum Reply {
    Connect {
        major: u32,
        minor: u32,
    },
    Sessions(Vec<LiveSession>),
    Created {
        status: u32,
    },
    /// The reply to an attachment or to the request for new streams.
    Streams {
        status: u32,
        streams: Vec<StreamInfo>,
    },
    Index {
        status: u32,
        index: IndexInfo,
    },
    Packet {
        status: u32,
        flags: u32,
        data: Vec<u8>,
    },
    Metadata {
        status: u32,
        data: Vec<u8>,
    },
    Detached {
        status: u32,
    },
}

/// A stream that a daemon declares.
#[derive(Debug, Clone)]
pub(super) struct StreamInfo {
    pub(super) id: u64,
    pub(super) trace: u64,
    pub(super) is_metadata: bool,
    pub(super) path: String,
    pub(super) channel: String,
}

/// An entry of the index of a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexInfo {
    pub(super) offset: u64,
    pub(super) packet_bits: u64,
    pub(super) content_bits: u64,
    /// The times of the packet in cycles.
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) stream_class: u64,
    pub(super) flags: u32,
}

impl IndexInfo {
    pub(super) fn has_new_metadata(&self) -> bool {
        self.flags & 1 != 0
    }

    pub(super) fn has_new_streams(&self) -> bool {
        self.flags & 2 != 0
    }
}

/// A reader of the fields of a reply.
struct Fields<'a> {
    rest: &'a [u8],
}

/// The bytes of a reply are not complete, or are not valid.
enum Fault {
    Incomplete,
    Invalid(String),
}

impl<'a> Fields<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(Fault::Incomplete)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, Fault> {
        self.bytes(4).map(BigEndian::read_u32)
    }

    fn u64(&mut self) -> Result<u64, Fault> {
        self.bytes(8).map(BigEndian::read_u64)
    }

    /// Reads a text that ends at its first null character, or after `size` bytes.
    fn text(&mut self, size: usize) -> Result<String, Fault> {
        let bytes = self.bytes(size)?;
        let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
        Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    /// Reads the number of elements of a list.
    fn count(&mut self) -> Result<u32, Fault> {
        match self.u32()? {
            count if count > MAX_LIST => {
                Err(Fault::Invalid(format!("a list of {count} elements, the limit is {MAX_LIST}")))
            }
            count => Ok(count),
        }
    }

    fn session(&mut self, minor: u32) -> Result<LiveSession, Fault> {
        let id = self.u64()?;
        let [live_timer_us, viewers, streams] = [self.u32()?, self.u32()?, self.u32()?];
        let (host, name, is_ctf2) = if minor < 15 {
            (self.text(64)?, self.text(255)?, false)
        } else {
            let sizes = [self.u32()? as usize, self.u32()? as usize];
            let format = self.u32()?;
            if let Some(size) = sizes.into_iter().find(|size| *size > MAX_NAME) {
                return Err(Fault::Invalid(format!("a name of {size} bytes")));
            }
            (self.text(sizes[0])?, self.text(sizes[1])?, format == 1)
        };
        Ok(LiveSession { id, host, name, live_timer_us, viewers, streams, is_ctf2 })
    }

    fn streams(&mut self) -> Result<Vec<StreamInfo>, Fault> {
        let count = self.count()?;
        if self.rest.len() < count as usize * STREAM_SIZE {
            return Err(Fault::Incomplete);
        }
        let stream = |_| {
            Ok(StreamInfo {
                id: self.u64()?,
                trace: self.u64()?,
                is_metadata: self.u32()? != 0,
                path: self.text(PATH_SIZE)?,
                channel: self.text(CHANNEL_SIZE)?,
            })
        };
        (0..count).map(stream).collect()
    }

    fn reply(&mut self, to: Request, minor: u32) -> Result<Reply, Fault> {
        Ok(match to {
            Request::Connect => {
                self.u64()?;
                let (major, minor) = (self.u32()?, self.u32()?);
                self.u32()?;
                Reply::Connect { major, minor }
            }
            Request::ListSessions => {
                let count = self.count()?;
                // Avoids decoding a long list again at each of its pieces.
                if minor < 15 && self.rest.len() < count as usize * SESSION_SIZE {
                    return Err(Fault::Incomplete);
                }
                let sessions = (0..count).map(|_| self.session(minor));
                Reply::Sessions(sessions.collect::<Result<_, _>>()?)
            }
            Request::CreateSession => Reply::Created { status: self.u32()? },
            Request::Attach { .. } | Request::NewStreams { .. } => {
                let status = self.u32()?;
                Reply::Streams { status, streams: self.streams()? }
            }
            Request::NextIndex { .. } => {
                let [offset, packet_bits, content_bits, begin, end, _discarded, stream_class] = [
                    self.u64()?,
                    self.u64()?,
                    self.u64()?,
                    self.u64()?,
                    self.u64()?,
                    self.u64()?,
                    self.u64()?,
                ];
                let (status, flags) = (self.u32()?, self.u32()?);
                let index = IndexInfo {
                    offset,
                    packet_bits,
                    content_bits,
                    begin,
                    end,
                    stream_class,
                    flags,
                };
                Reply::Index { status, index }
            }
            Request::Packet { len: asked, .. } => {
                let (status, len, flags) = (self.u32()?, self.u32()?, self.u32()?);
                let expected = if status == 1 { asked } else { 0 };
                if len != expected {
                    return Err(Fault::Invalid(format!("{len} bytes, expected {expected}")));
                }
                Reply::Packet { status, flags, data: self.bytes(len as usize)?.to_vec() }
            }
            Request::Metadata { .. } => {
                let (len, status) = (self.u64()?, self.u32()?);
                if len > MAX_METADATA || status != 1 && len > 0 {
                    return Err(Fault::Invalid(format!("{len} bytes with status {status}")));
                }
                Reply::Metadata { status, data: self.bytes(len as usize)?.to_vec() }
            }
            Request::Detach { .. } => Reply::Detached { status: self.u32()? },
        })
    }
}

/// Decodes the reply to a request. `minor` is the minor version in force. `None` if bytes are
/// missing. The number beside the reply is its size in bytes. The error is the reason why the
/// bytes are no valid reply.
pub(super) fn decode(
    bytes: &[u8],
    to: Request,
    minor: u32,
) -> Result<Option<(Reply, usize)>, String> {
    let mut fields = Fields { rest: bytes };
    match fields.reply(to, minor) {
        Ok(reply) => Ok(Some((reply, bytes.len() - fields.rest.len()))),
        Err(Fault::Incomplete) => Ok(None),
        Err(Fault::Invalid(reason)) => Err(reason),
    }
}
