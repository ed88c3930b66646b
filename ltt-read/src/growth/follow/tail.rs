//! One file that is followed.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::packet_run::{PacketRun, Whole, whole_packets};
use crate::format::Decoder;
use crate::report::{DecodeError, Error, Place};
use crate::trace::FilePart;

/// The number of bytes at the start of a file that are compared to see whether it was written
/// anew. They contain the times and the sequence number of the first packet.
const HEAD: usize = 256;

/// The number of bytes that are read at once, unless a packet is larger.
const CHUNK: u64 = 4 << 20;

/// The greatest size of a packet in bytes. A file that seems to have a larger one is not read
/// beyond that size.
const MAX_PACKET: u64 = 1 << 28;

/// A file of which new packets are read as they are written.
///
/// The file may be truncated, written anew, renamed and removed meanwhile. It is read through
/// one open descriptor, never mapped.
#[derive(Debug)]
pub(super) struct Tail {
    file: File,
    pub(super) path: Arc<Path>,
    /// The first bytes when they were read last.
    head: Vec<u8>,
    /// The place after all packets that were returned.
    next: FilePart,
    /// The bytes from there on, which are no whole packet yet.
    rest: Vec<u8>,
    /// `true` if the last read reached the end of the file.
    is_read: bool,
    /// The reason why no packet after those that were returned can become whole.
    damage: Option<DecodeError>,
}

impl Tail {
    pub(super) fn new(file: File, path: Arc<Path>) -> Tail {
        let (head, rest) = (Vec::new(), Vec::new());
        let next = FilePart::default();
        Tail { file, path, head, next, rest, is_read: false, damage: None }
    }

    /// Reads the packets that have become whole since the last call. There are no runs of them if there
    /// are none, or if their stream class is not declared yet.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, at all or any further.
    pub(super) fn read(&mut self, decoder: &Decoder) -> Result<Vec<PacketRun>, Error> {
        let runs = self.read_packets(decoder).map_err(|error| {
            let path = self.path.to_path_buf();
            Error::Io { path, error }
        })?;
        match self.damage.filter(|_| runs.is_empty()) {
            None => Ok(runs),
            Some(kind) => {
                let (packet, offset) = (self.next.packet, self.next.offset.saturating_mul(8));
                let place = Place { file: self.path.clone(), packet, offset };
                Err(Error::Decode { place, kind })
            }
        }
    }

    fn read_packets(&mut self, decoder: &Decoder) -> io::Result<Vec<PacketRun>> {
        let len = self.file.metadata()?.len();
        self.is_read = false;
        if len < self.known() || !self.has_same_head(len)? {
            self.restart();
            self.has_same_head(len)?;
        }
        let known = self.known();
        let before = self.rest.len();
        let room = MAX_PACKET.saturating_sub(before as u64);
        let chunk = (len - known.min(len)).min(CHUNK).min(room);
        self.rest.resize(before + chunk as usize, 0);
        let read = read_at(&self.file, &mut self.rest[before..], known)?;
        self.rest.truncate(before + read);
        // If the file was written anew meanwhile, these bytes are not what followed.
        if !self.has_same_head(len)? {
            self.restart();
            return Ok(Vec::new());
        }
        self.is_read = known + read as u64 >= len || room == 0;
        let runs = self.take_whole(decoder);
        if room == 0 && runs.is_empty() {
            let reason = "a packet is larger than 256 MiB, or has no size";
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
        }
        Ok(runs)
    }

    /// Returns `true` if the last read reached the end of the file.
    pub(super) fn is_read(&self) -> bool {
        self.is_read
    }

    /// Returns the offset after all packets that were returned.
    pub(super) fn end(&self) -> u64 {
        self.next.offset
    }

    /// Returns `true` if no name leads to the file any more, and all of its packets were read.
    pub(super) fn is_gone(&self) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let is_empty = self.is_read && self.rest.is_empty();
            is_empty && self.file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
        }
        #[cfg(not(unix))]
        {
            false
        }
    }

    /// Returns the bytes after the last whole packet, which will not become one any more.
    pub(super) fn take_rest(&mut self) -> (FilePart, Vec<u8>) {
        (self.next, std::mem::take(&mut self.rest))
    }

    /// Returns the number of bytes of the file that were read.
    fn known(&self) -> u64 {
        self.next.offset + self.rest.len() as u64
    }

    /// Reads the file from its start from now on.
    fn restart(&mut self) {
        self.head.clear();
        self.rest.clear();
        self.next = FilePart::default();
    }

    /// Returns `true` if the file starts with the bytes that it had before, and notes how it
    /// starts.
    fn has_same_head(&mut self, len: u64) -> io::Result<bool> {
        let mut head = [0; HEAD];
        let wanted = len.min(HEAD as u64) as usize;
        let read = read_at(&self.file, &mut head[..wanted], 0)?;
        let head = &head[..read];
        let is_same = head.starts_with(&self.head);
        if is_same {
            self.head = head.to_vec();
        }
        Ok(is_same)
    }

    /// Takes the whole packets out of `rest`.
    fn take_whole(&mut self, decoder: &Decoder) -> Vec<PacketRun> {
        let whole = whole_packets(decoder, &self.rest);
        let Whole { size, ref packets, ref streams, damage } = whole;
        self.damage = damage;
        if size == 0 || streams.is_empty() {
            return Vec::new();
        }
        let rest = self.rest.split_off(size);
        let bytes = std::mem::replace(&mut self.rest, rest);
        let begin = self.next;
        self.next.offset += size as u64;
        self.next.packet += packets.len() as u64;
        PacketRun::split(&self.path, begin, bytes, whole)
    }
}

/// Reads bytes at an offset of a file, fewer only at its end.
pub(super) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < bytes.len() {
        let at = offset + done as u64;
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(file, &mut bytes[done..], at);
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(file, &mut bytes[done..], at);
        match read {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
