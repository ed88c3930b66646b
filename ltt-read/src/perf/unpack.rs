//! Pipes and compressed records, whose records of the kernel are collected in memory.

use super::header::Recording;
use super::kinds::{
    ATTRIBUTE, AUXTRACE, COMPRESSED, COMPRESSED2, FEATURE, FIRST_OF_PERF, TRACING_DATA,
};
use crate::report::DecodeError;
use crate::schema::ByteOrder;
use crate::tracepoint::input::{ENDS, Fault, Input};

/// The greatest number of decompressed bytes for each compressed one. Recordings have some tens.
#[cfg(feature = "compression")]
const MAX_RATIO: usize = 256;

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

/// Reads a file, and unpacks its records if they are packed; `None` if it is no recording of perf.
pub(super) fn read(file: &[u8]) -> Option<Result<Recording, Fault>> {
    Some(Recording::read(file)?.and_then(|mut recording| {
        if recording.is_packed || has_compressed(recording.records_of(file), recording.order) {
            recording.unpacked = Some(records(&mut recording, file));
        }
        if recording.attributes.is_empty() {
            let input = Input::at(file, 0, recording.order, "attributes");
            return Err(input.fault("there are none"));
        }
        Ok(recording)
    }))
}

/// Returns `true` if some of the first records are compressed.
fn has_compressed(records: &[u8], order: ByteOrder) -> bool {
    const MANY: usize = 4096;
    let mut input = Input::at(records, 0, order, "records");
    let of_kind = std::iter::from_fn(|| next(&mut input).ok().flatten());
    of_kind.take(MANY).any(|record| matches!(record.kind, COMPRESSED | COMPRESSED2))
}

/// Returns the records of the kernel, decompressed. Attributes and features of a pipe are added to the
/// recording. Damage is noted, and ends the records.
fn records(recording: &mut Recording, file: &[u8]) -> Vec<u8> {
    let start = recording.records.start;
    let len = (file.len() as u64).min(recording.records.end);
    let whole = file.get(..len as usize).unwrap_or(file);
    let mut input = Input::at(whole, start, recording.order, "records");
    let (mut unpacked, mut packed) = (Vec::new(), Vec::new());
    // A pipe has the events and their descriptions in records.
    let result = loop {
        let at = input.offset();
        match next(&mut input) {
            Ok(None) => break Ok(()),
            Err(fault) => break Err(fault),
            Ok(Some(record)) => {
                let kept = keep(recording, record, at, &mut input, &mut unpacked, &mut packed);
                if let Err(fault) = kept {
                    break Err(fault);
                }
            }
        }
    };
    let missing = recording.records.end.saturating_sub(file.len() as u64);
    recording.damage = match result {
        Err(Fault { reason: ENDS, .. }) => {
            Some(DecodeError::TruncatedPacket { missing: missing.max(1) })
        }
        Err(_) => Some(DecodeError::NotARecord),
        Ok(()) if missing > 0 => Some(DecodeError::TruncatedPacket { missing }),
        Ok(()) => None,
    };
    recording.keep(result);
    if !packed.is_empty() {
        let stream = decompress(packed);
        let mut input = Input::at(&stream.bytes, 0, recording.order, "compressed records");
        let result = loop {
            match next(&mut input) {
                Ok(None) => break Ok(()),
                Err(fault) => break Err(fault),
                Ok(Some(record)) if record.kind < FIRST_OF_PERF => {
                    unpacked.extend_from_slice(record.bytes);
                }
                Ok(Some(_)) => {}
            }
        };
        // The last record of a stream that is damaged is cut, too.
        let cut = result.is_err().then_some(DecodeError::TruncatedPacket { missing: 1 });
        recording.damage = stream.damage.or(recording.damage).or(cut);
        recording.keep(result);
    }
    unpacked
}

fn keep<'a>(
    recording: &mut Recording,
    record: RawRecord<'a>,
    at: u64,
    input: &mut Input<'a>,
    unpacked: &mut Vec<u8>,
    packed: &mut Vec<u8>,
) -> Result<(), Fault> {
    let order = recording.order;
    let mut body = Input::unpacked(record.body, at, order, "records");
    match record.kind {
        ATTRIBUTE => {
            let size =
                Input::unpacked(record.body.get(4..).unwrap_or(&[]), at, order, "attributes")
                    .u32()?;
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
        COMPRESSED => packed.extend_from_slice(record.body),
        COMPRESSED2 => {
            let size = body.u64()?;
            packed.extend_from_slice(body.take(size)?);
        }
        kind if kind < FIRST_OF_PERF => {
            unpacked.extend_from_slice(record.bytes);
        }
        _ => {}
    }
    Ok(())
}

/// The bytes of a stream that was compressed.
struct Stream {
    bytes: Vec<u8>,
    /// The damage that ended it.
    damage: Option<DecodeError>,
}

/// Decompresses successive frames, the last of which need not be ended.
#[cfg(feature = "compression")]
fn decompress(mut packed: Vec<u8>) -> Stream {
    use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
    /// The last block of a frame, which is empty, with room for a checksum.
    const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];
    /// The greatest number of bytes to decompress at once.
    const STEP: usize = 1 << 20;
    let max = packed.len().saturating_mul(MAX_RATIO);
    packed.extend(LAST_BLOCK);
    let (mut bytes, mut source) = (Vec::new(), &packed[..]);
    let mut decoder = FrameDecoder::new();
    // What was added may remain.
    while source.len() > LAST_BLOCK.len() {
        let damaged = Some(DecodeError::DamagedCompression);
        if decoder.reset(&mut source).is_err() {
            return Stream { bytes, damage: damaged };
        }
        loop {
            let step = BlockDecodingStrategy::UptoBytes(STEP);
            let decoded = decoder.decode_blocks(&mut source, step);
            bytes.extend(decoder.collect().unwrap_or_default());
            if bytes.len() > max || decoded.is_err() {
                bytes.truncate(max);
                return Stream { bytes, damage: damaged };
            }
            if decoder.is_finished() {
                break;
            }
        }
    }
    Stream { bytes, damage: None }
}

/// Decompresses nothing: the feature is off.
#[cfg(not(feature = "compression"))]
fn decompress(_: Vec<u8>) -> Stream {
    Stream { bytes: Vec::new(), damage: Some(DecodeError::UnknownCompression) }
}
