//! Packets and beacons of the streams of a session.

use super::{Feed, LiveStream, PacketState};
use crate::growth::GrowingTrace;
use crate::live::reply::IndexInfo;
use crate::live::request::Request;
use crate::report::Error;

impl Feed {
    /// Returns the next request about a stream: for the rest of a packet, or for the next index
    /// of the stream that is known up to the earliest time.
    pub(in crate::live) fn next_request(&self, chunk: u64) -> Option<Request> {
        if self.pauses {
            return None;
        }
        let active = || self.streams.iter().filter(|stream| stream.is_active() && !stream.is_idle);
        if let Some((stream, (index, bytes))) =
            active().find_map(|stream| Some((stream.id, stream.packet.as_ref()?)))
        {
            let left = index.packet_bits / 8 - bytes.len() as u64;
            let (offset, len) = (index.offset.saturating_add(bytes.len() as u64), left.min(chunk));
            return Some(Request::Packet { stream, offset, len: len as u32 });
        }
        let next = active().min_by_key(|stream| stream.known)?;
        // If too much is kept, only what holds up the others is read.
        let growing = self.streams.iter().filter(|stream| !stream.is_over);
        let earliest = growing.map(|stream| stream.known).min()?;
        if self.kept > self.memory && next.known > earliest {
            return None;
        }
        Some(Request::NextIndex { stream: next.id })
    }

    /// Starts another round of requests, since streams may have new packets.
    pub(in crate::live) fn start_round(&mut self) {
        self.pauses = false;
        self.streams.iter_mut().for_each(|stream| stream.is_idle = false);
    }

    pub(super) fn stream(&mut self, id: u64) -> Option<(usize, &mut LiveStream)> {
        self.streams.iter_mut().enumerate().find(|(_, stream)| stream.id == id)
    }

    pub(in crate::live) fn set_idle(&mut self, stream: u64) {
        if let Some((_, stream)) = self.stream(stream) {
            stream.is_idle = true;
        }
    }

    /// Starts to fetch a packet.
    pub(in crate::live) fn start_packet(&mut self, stream: u64, index: IndexInfo) {
        let Some((_, stream)) = self.stream(stream) else { return };
        stream.repeats &= Some((index.end, index.begin)) <= stream.last;
        if index.packet_bits > 0 && !stream.repeats {
            stream.packet = Some((index, Vec::new()));
        }
    }

    /// Gives up a packet that the daemon has removed.
    pub(in crate::live) fn drop_packet(&mut self, stream: u64) {
        if let Some((_, stream)) = self.stream(stream) {
            stream.removed += u64::from(stream.packet.take().is_some());
        }
    }

    /// Adds bytes to the packet that is being fetched.
    pub(in crate::live) fn add_bytes(
        &mut self,
        id: u64,
        data: Vec<u8>,
    ) -> Result<PacketState, Error> {
        let Some((_, stream)) = self.stream(id) else { return Ok(PacketState::Whole) };
        let Some((index, bytes)) = &mut stream.packet else { return Ok(PacketState::Whole) };
        match bytes.is_empty() {
            true => *bytes = data,
            false => bytes.extend_from_slice(&data),
        }
        if (bytes.len() as u64) < index.packet_bits / 8 {
            return Ok(PacketState::Partial);
        }
        let Some((index, bytes)) = stream.packet.take() else { return Ok(PacketState::Whole) };
        let (trace, tracefile) = (stream.trace, stream.tracefile);
        self.kept += bytes.len() as u64;
        self.pauses = self.kept > self.memory;
        if self.kept > self.memory.saturating_mul(2) {
            return Ok(PacketState::TooMuch);
        }
        match (&mut self.traces[trace].growing, tracefile) {
            (Some((growing, _)), Some(tracefile)) => growing.append(tracefile, bytes),
            _ => {
                let live = &mut self.traces[trace];
                if live.error.is_none() {
                    live.error = GrowingTrace::new(self.root.join(&live.path), &[]).err();
                }
                if self.kept > self.memory
                    && let Some(error) = live.error.take()
                {
                    return Err(error);
                }
                if let Some((_, stream)) = self.stream(id) {
                    stream.waiting.push(bytes);
                }
            }
        }
        self.has_grown = true;
        if let Some((_, stream)) = self.stream(id) {
            stream.last = stream.last.max(Some((index.end, index.begin)));
            stream.removed = 0;
        }
        self.note_known(id, index.stream_class, index.end);
        Ok(PacketState::Whole)
    }

    /// Notes a beacon: no event of the stream before a time follows.
    pub(in crate::live) fn silent_until(&mut self, id: u64, stream_class: u64, cycles: u64) {
        let Some((at, stream)) = self.stream(id) else { return };
        stream.is_idle = true;
        stream.beacon = Some((stream_class, cycles));
        stream.last = stream.last.max(Some((cycles, 0)));
        self.note_known(id, stream_class, cycles);
        self.apply_beacon(at);
    }

    /// Notes the time up to which a stream is known.
    fn note_known(&mut self, id: u64, stream_class: u64, cycles: u64) {
        let Some(at) = self.streams.iter().position(|stream| stream.id == id) else { return };
        let growing = self.traces[self.streams[at].trace].growing.as_ref();
        if let Some(time) = growing.and_then(|(growing, _)| growing.time_of(stream_class, cycles)) {
            self.streams[at].known = self.streams[at].known.max(time);
        }
    }

    /// Passes the last beacon of a stream on, if its clock is known.
    pub(super) fn apply_beacon(&mut self, at: usize) {
        let stream = &mut self.streams[at];
        let Some((growing, _)) = &mut self.traces[stream.trace].growing else { return };
        let Some((class, cycles)) = stream.beacon else { return };
        if let (Some(time), Some(tracefile)) = (growing.time_of(class, cycles), stream.tracefile) {
            growing.silent_until(tracefile, time);
            stream.beacon = None;
            self.has_grown = true;
        }
    }

    /// Notes that a stream has no more packets.
    pub(in crate::live) fn end_stream(&mut self, id: u64) {
        self.drop_packet(id);
        let Some((_, stream)) = self.stream(id) else { return };
        stream.is_over = true;
        let (trace, tracefile) = (stream.trace, stream.tracefile);
        if let (Some((growing, _)), Some(tracefile)) = (&mut self.traces[trace].growing, tracefile)
        {
            growing.complete(tracefile);
            self.has_grown = true;
        }
    }
}
