//! Pipes and compressed records, whose records of the kernel are collected in memory.

use std::ops::Range;

use super::frames::Frames;
use super::header::Recording;
use super::kinds::{
    ATTRIBUTE, AUXTRACE, COMPRESSED, COMPRESSED2, FEATURE, FIRST_OF_PERF, TRACING_DATA,
};
use crate::report::DecodeError;
use crate::schema::ByteOrder;
use crate::tracepoint::input::{ENDS, Fault, Input};

/// The size of a record header in bytes.
const HEADER: u64 = 8;

/// A record.
#[derive(Debug, Clone, Copy)]
struct RawRecord<'a> {
    kind: u32,
    /// All bytes, with the header.
    bytes: &'a [u8],
    /// The bytes after the header.
    body: &'a [u8],
}

/// Reads the next record; `None` at the end.
fn next<'a>(input: &mut Input<'a>) -> Result<Option<RawRecord<'a>>, Fault> {
    if input.is_empty() {
        return Ok(None);
    }
    let mut header = input.clone();
    let (kind, _misc, size) = (header.u32()?, header.u16()?, header.u16()?);
    if u64::from(size) < HEADER {
        return Err(input.fault("a record is too short"));
    }
    let bytes = input.take(size.into())?;
    let body = bytes.get(HEADER as usize..).unwrap_or(&[]);
    Ok(Some(RawRecord { kind, bytes, body }))
}

/// The records of the kernel in a pipe or a file with compressed records, one after the other.
#[derive(Debug)]
pub(super) struct Unpacked {
    pub(super) bytes: Vec<u8>,
    /// The damage that follows them.
    pub(super) damage: Option<DecodeError>,
}

/// Unpacks the records in a part of a file; `None` if they are not packed. Attributes and features of a pipe are
/// added to the recording. Damage is noted, and ends the records.
pub(super) fn unpack(
    recording: &mut Recording,
    file: &[u8],
    range: &Range<u64>,
) -> Option<Unpacked> {
    let len = (file.len() as u64).min(range.end);
    let whole = file.get(..len as usize).unwrap_or(file);
    let mut input = Input::at(whole, range.start, recording.order, "records");
    if !recording.is_packed && !has_compressed(input.clone()) {
        return None;
    }
    let mut unpacking = Unpacking::default();
    let mut bytes = Vec::new();
    let result = loop {
        match unpacking.next(recording, &mut input, &mut bytes) {
            Ok(Some(_)) => {}
            Ok(None) => break Ok(()),
            Err(fault) => break Err(fault),
        }
    };
    let missing = range.end.saturating_sub(file.len() as u64);
    let damage = match result {
        Err(Fault { reason: ENDS, .. }) => {
            let rest = whole.get(input.offset() as usize..).unwrap_or(&[]);
            let missing = missing.max(missing_of(rest, recording.order));
            Some(DecodeError::TruncatedPacket { missing })
        }
        Err(_) => Some(DecodeError::NotARecord),
        Ok(()) if missing > 0 => Some(DecodeError::TruncatedPacket { missing }),
        Ok(()) => None,
    };
    recording.keep(result);
    let damage = unpacking.finish(recording, &mut bytes).or(damage);
    Some(Unpacked { bytes, damage })
}

/// Returns the number of bytes that a record lacks, at least 1. Of one whose header is there, it tells the size.
pub(super) fn missing_of(start: &[u8], order: ByteOrder) -> u64 {
    let size = start.get(6..).and_then(|size| size.first_chunk());
    let size = size.map_or(HEADER, |size| match order {
        ByteOrder::Little => u16::from_le_bytes(*size).into(),
        ByteOrder::Big => u16::from_be_bytes(*size).into(),
    });
    size.saturating_sub(start.len() as u64).max(1)
}

/// Returns `true` if some of the first records are compressed.
fn has_compressed(mut input: Input<'_>) -> bool {
    const MANY: usize = 4096;
    let of_kind = std::iter::from_fn(|| next(&mut input).ok().flatten());
    of_kind.take(MANY).any(|record| matches!(record.kind, COMPRESSED | COMPRESSED2))
}

/// The state while the records of a pipe, or compressed ones, are unpacked.
#[derive(Debug, Default)]
pub(super) struct Unpacking {
    frames: Frames,
    /// The decompressed bytes that are no whole record yet.
    partial: Vec<u8>,
    /// The damage that ended the compressed records.
    damage: Option<DecodeError>,
}

impl Unpacking {
    /// Reads the next record, and appends those of the kernel to `to`: the record, or what was compressed in it.
    /// Attributes and features are added to the recording. Returns the kind; `None` at the end.
    ///
    /// # Errors
    ///
    /// If the record is damaged or not whole. The place of `input` is then before it.
    pub(super) fn next(
        &mut self,
        recording: &mut Recording,
        input: &mut Input<'_>,
        to: &mut Vec<u8>,
    ) -> Result<Option<u32>, Fault> {
        let mut ahead = input.clone();
        let Some(record) = next(&mut ahead)? else { return Ok(None) };
        self.keep(recording, record, input.offset(), &mut ahead, to)?;
        *input = ahead;
        Ok(Some(record.kind))
    }

    fn keep(
        &mut self,
        recording: &mut Recording,
        record: RawRecord<'_>,
        at: u64,
        input: &mut Input<'_>,
        to: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let order = recording.order;
        let mut body = Input::unpacked(record.body, at, order, "records");
        match record.kind {
            ATTRIBUTE => {
                let size = record.body.get(4..).unwrap_or(&[]);
                let size = Input::unpacked(size, at, order, "attributes").u32()?;
                let bytes = body.take(size.into())?;
                let ids = record.body.get(bytes.len()..).unwrap_or(&[]);
                recording.add_attribute(bytes, ids)?;
            }
            TRACING_DATA => {
                let size = body.u32()?;
                let data_at = input.offset();
                let data = input.take(size.into())?;
                let result = recording.features.tracing_data(data, data_at);
                recording.keep(result);
            }
            FEATURE => {
                let bit = body.u64()?;
                let payload = record.body.get(8..).unwrap_or(&[]);
                let result = recording.feature(bit, payload, at);
                recording.keep(result);
            }
            AUXTRACE => {
                let size = body.u64()?;
                input.take(size)?;
            }
            COMPRESSED => self.decompress(record.body, recording, to),
            COMPRESSED2 => {
                let size = body.u64()?;
                self.decompress(body.take(size)?, recording, to);
            }
            kind if kind < FIRST_OF_PERF => to.extend_from_slice(record.bytes),
            _ => {}
        }
        Ok(())
    }

    /// Decompresses records. Damage ends all that follow.
    fn decompress(&mut self, packed: &[u8], recording: &mut Recording, to: &mut Vec<u8>) {
        if self.damage.is_some() {
            return;
        }
        self.damage = self.frames.push(packed, &mut self.partial).err();
        self.take_whole(recording, to);
    }

    /// Appends the records of the kernel that are whole.
    fn take_whole(&mut self, recording: &mut Recording, to: &mut Vec<u8>) {
        let mut input = Input::at(&self.partial, 0, recording.order, "compressed records");
        let result = loop {
            let before = input.offset();
            match next(&mut input) {
                Ok(Some(record)) if record.kind < FIRST_OF_PERF => {
                    to.extend_from_slice(record.bytes);
                }
                Ok(Some(_)) => {}
                Ok(None) => break Ok(before),
                Err(Fault { reason: ENDS, .. }) => break Ok(before),
                Err(fault) => break Err(fault),
            }
        };
        match result {
            Ok(whole) => _ = self.partial.drain(..whole as usize),
            Err(fault) => {
                self.partial.clear();
                self.damage = self.damage.or(Some(DecodeError::NotARecord));
                recording.keep(Err(fault));
            }
        }
    }

    /// Appends the last records of the kernel. Returns the damage of what was compressed.
    pub(super) fn finish(
        &mut self,
        recording: &mut Recording,
        to: &mut Vec<u8>,
    ) -> Option<DecodeError> {
        let result = self.frames.finish(&mut self.partial);
        self.damage = self.damage.or(result.err());
        self.take_whole(recording, to);
        // The last record of a stream that is damaged is cut, too.
        let cut = DecodeError::TruncatedPacket { missing: 1 };
        self.damage.or((!self.partial.is_empty()).then_some(cut))
    }
}
