//! Requests of viewers, as bytes.

use byteorder::{BigEndian, ByteOrder};

/// The version of the protocol that this viewer speaks, 2.15.
pub(super) const MAJOR: u32 = 2;
pub(super) const MINOR: u32 = 15;

/// The place in a session at which reading starts, as in the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seek {
    Beginning,
    Last,
}

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    Connect,
    ListSessions,
    CreateSession,
    Attach { session: u64, seek: Seek },
    NextIndex { stream: u64 },
    Packet { stream: u64, offset: u64, len: u32 },
    Metadata { stream: u64 },
    NewStreams { session: u64 },
    Detach { session: u64 },
}

impl Request {
    /// Encodes the request: the header of 16 bytes and its payload.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let (command, payload) = match self {
            Request::Connect => {
                (1, numbers(&[(u64::MAX, 8), (MAJOR.into(), 4), (MINOR.into(), 4), (1, 4)]))
            }
            Request::ListSessions => (2, Vec::new()),
            Request::Attach { session, seek } => {
                let seek = match seek {
                    Seek::Beginning => 1,
                    Seek::Last => 2,
                };
                (3, numbers(&[(session, 8), (0, 8), (seek, 4)]))
            }
            Request::NextIndex { stream } => (4, numbers(&[(stream, 8)])),
            Request::Packet { stream, offset, len } => {
                (5, numbers(&[(stream, 8), (offset, 8), (len.into(), 4)]))
            }
            Request::Metadata { stream } => (6, numbers(&[(stream, 8)])),
            Request::NewStreams { session } => (7, numbers(&[(session, 8)])),
            Request::CreateSession => (8, Vec::new()),
            Request::Detach { session } => (9, numbers(&[(session, 8)])),
        };
        let mut bytes = numbers(&[(payload.len() as u64, 8), (command, 4), (0, 4)]);
        bytes.extend(payload);
        bytes
    }
}

/// Encodes big-endian numbers of 4 or 8 bytes.
fn numbers(values: &[(u64, usize)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (value, size) in values {
        let mut buffer = [0; 8];
        BigEndian::write_u64(&mut buffer, *value);
        bytes.extend_from_slice(&buffer[8 - size..]);
    }
    bytes
}
