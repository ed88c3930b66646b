//! A relay daemon that answers from recorded or scripted replies, in memory.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

const ATTACH: u32 = 3;
const NEXT_INDEX: u32 = 4;
const PACKET: u32 = 5;
const METADATA: u32 = 6;
const NEW_STREAMS: u32 = 7;

/// The key of a reply: the command, and the part of the request's payload that selects it.
type Key = (u32, Vec<u8>);

/// The replies of a daemon. They are queued by what is asked, so that a viewer may ask in
/// any order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Relay {
    replies: HashMap<Key, VecDeque<Vec<u8>>>,
    last: HashMap<Key, Vec<u8>>,
    /// The packets of each stream, with their offsets.
    packets: HashMap<Vec<u8>, VecDeque<(u64, Vec<u8>)>>,
    current: HashMap<Vec<u8>, (u64, Vec<u8>)>,
    /// `true` if the daemon closes the connection when replies run out.
    closes: bool,
    pub(crate) requests: u64,
}

pub(crate) fn be(values: &[(u64, usize)]) -> Vec<u8> {
    values.iter().flat_map(|(value, size)| value.to_be_bytes()[8 - size..].to_vec()).collect()
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte))
}

fn key(request: &[u8]) -> Key {
    let (command, payload) = (number(&request[8..12]) as u32, &request[16..]);
    let selects = match command {
        ATTACH | NEXT_INDEX | METADATA | NEW_STREAMS | 9 => 8,
        PACKET => 20,
        _ => 0,
    };
    (command, payload[..selects.min(payload.len())].to_vec())
}

impl Relay {
    /// Reads a recorded conversation.
    pub(crate) fn recorded(path: &Path) -> Relay {
        let mut bytes = Vec::new();
        GzDecoder::new(File::open(path).expect("a file")).read_to_end(&mut bytes).expect("gzip");
        let mut rest = bytes.strip_prefix(b"LVREC001").expect("a recording");
        let (mut relay, mut asked) = (Relay::default(), None);
        while let Some((head, after)) = rest.split_at_checked(13) {
            let (message, after) = after.split_at(number(&head[9..13]) as usize);
            rest = after;
            match head[0] {
                0 => asked = Some(key(message)),
                1 => relay.add(asked.clone().expect("a request"), message.to_vec()),
                2 => relay.closes = true,
                _ => {}
            }
        }
        relay
    }

    fn add(&mut self, key: Key, reply: Vec<u8>) {
        if key.0 == PACKET && reply[..4] == [0, 0, 0, 1] {
            let (stream, offset) = (key.1[..8].to_vec(), number(&key.1[8..16]));
            self.packets.entry(stream).or_default().push_back((offset, reply[12..].to_vec()));
        }
        self.replies.entry(key).or_default().push_back(reply);
    }

    /// Adds a reply to a command about a session or stream.
    pub(crate) fn reply(&mut self, command: u32, about: Option<u64>, reply: Vec<u8>) {
        self.add((command, about.map(|id| be(&[(id, 8)])).unwrap_or_default()), reply);
    }

    /// Makes the daemon list no session.
    pub(crate) fn forget_sessions(&mut self) {
        self.replies.remove(&(2, Vec::new()));
    }

    /// Adds the reply to a request for bytes of a stream, given the payload of the request.
    pub(crate) fn answer_packet(&mut self, request: Vec<u8>, reply: Vec<u8>) {
        self.add((PACKET, request), reply);
    }

    /// Adds an index of a stream, and its packet.
    pub(crate) fn packet(&mut self, stream: u64, offset: u64, end: u64, packet: Vec<u8>) {
        let size = packet.len() as u64;
        let bits = 8 * size;
        let index = [(offset, 8), (bits, 8), (bits, 8), (0, 8), (end, 8), (0, 8), (0, 8)];
        self.reply(NEXT_INDEX, Some(stream), be(&[&index[..], &[(1, 4), (0, 4)]].concat()));
        let key = (PACKET, be(&[(stream, 8), (offset, 8), (size, 4)]));
        self.add(key, [be(&[(1, 4), (size, 4), (0, 4)]), packet].concat());
    }

    /// Adds an index reply without a packet: a status, a beacon in cycles, and flags.
    pub(crate) fn index(&mut self, stream: u64, status: u64, end: u64, flags: u64) {
        let zeros = [(0, 8), (0, 8), (0, 8), (0, 8), (end, 8), (0, 8), (0, 8)];
        let reply = be(&[&zeros[..], &[(status, 4), (flags, 4)]].concat());
        self.reply(NEXT_INDEX, Some(stream), reply);
    }

    /// Answers a request; `None` if the daemon closes the connection.
    pub(crate) fn answer(&mut self, request: &[u8]) -> Option<Vec<u8>> {
        self.requests += 1;
        let key = key(request);
        let (command, about) = (key.0, key.1.clone());
        let is_known = self.last.contains_key(&key);
        let reply = match self.replies.get_mut(&key).and_then(VecDeque::pop_front) {
            Some(reply) => {
                self.last.insert(key, reply.clone());
                reply
            }
            None => match command {
                2 => be(&[(0, 4)]),
                8 | 9 => be(&[(1, 4)]),
                METADATA => be(&[(0, 8), (if is_known { 2 } else { 3 }, 4)]),
                NEW_STREAMS => match self.last.get(&key) {
                    None => be(&[(3, 4), (0, 4)]),
                    Some(last) if last[..4] == [0, 0, 0, 4] => be(&[(4, 4), (0, 4)]),
                    Some(_) => be(&[(1, 4), (0, 4)]),
                },
                NEXT_INDEX => {
                    let ended = [be(&[(0, 8); 7]), be(&[(4, 4), (0, 4)])].concat();
                    let last = self.last.get(&key).unwrap_or(&ended).clone();
                    match number(&last[56..60]) {
                        3 | 4 => last,
                        _ if self.closes => return None,
                        _ => [be(&[(0, 8); 7]), be(&[(2, 4), (0, 4)])].concat(),
                    }
                }
                PACKET => {
                    let (offset, len) = (number(&about[8..16]), number(&about[16..20]));
                    let (at, data) = self.current.get(&about[..8])?;
                    let begin = offset.checked_sub(*at)? as usize;
                    let part = data.get(begin..begin + len as usize)?;
                    [be(&[(1, 4), (len, 4), (0, 4)]), part.to_vec()].concat()
                }
                _ => self.last.get(&key)?.clone(),
            },
        };
        if command == NEXT_INDEX && reply.len() == 64 && reply[56..60] == [0, 0, 0, 1] {
            let offset = number(&reply[..8]);
            let packets = self.packets.entry(about.clone()).or_default();
            while let Some(packet) = packets.pop_front() {
                let found = packet.0 == offset;
                self.current.insert(about.clone(), packet);
                if found {
                    break;
                }
            }
        }
        Some(reply)
    }
}
