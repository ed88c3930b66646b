//! Detection of files that have packets of several streams.
//!
//! A file usually has the packets of one stream. Where a device sends all streams over one link, a
//! file has those of several, in turn.

use std::ops::Range;
use std::path::PathBuf;

use hashbrown::HashMap;

use super::data_file::FilePart;
use crate::base::source::FileBytes;
use crate::base::time::Timestamp;
use crate::format::{Decoder, FileKind, PacketBounds, packet_bounds};
use crate::layout::program::Scratch;
use crate::layout::region::Region;
use crate::packet::Instance;
use crate::schema::{FieldKind, Role};

/// The number of packets at the start of a file that are always compared.
const COMPARED: u64 = 2;

/// The size of all files of a trace in bytes up to which all packets are compared, whatever the tracer.
const SMALL: u64 = 16 << 20;

/// The most streams of one file. Reading a file that seems to have more reports the packets that do not
/// belong to the first one.
const MOST_STREAMS: usize = 1 << 13;

/// Successive packets of a file that belong to one stream.
pub(super) struct Run {
    pub(super) instance: Instance,
    pub(super) begin: FilePart,
    pub(super) bytes: Range<u64>,
    /// The start of the first packet of the stream in the file.
    pub(super) first_begin: Timestamp,
}

/// Returns the number of packets of each file that are compared to determine whether the file has several
/// streams. Tracers that are known to write a file for each stream need few: if the packets of
/// such a file belong to another stream nevertheless, reading reports it.
pub(super) fn least(decoder: &Decoder, files: &[(PathBuf, FileBytes)]) -> u64 {
    let size =
        files.iter().map(|(_, source)| source.bytes().len() as u64).fold(0, u64::saturating_add);
    let is_known = packet_bounds(&decoder.schema) != PacketBounds::Unknown;
    match may_differ(decoder) {
        false => 0,
        true if is_known && size > SMALL => COMPARED,
        true => u64::MAX,
    }
}

/// Returns the runs of packets of a file that has packets of several streams. Returns `None` if it has
/// those of one stream, given that its first `least` packets decide.
///
/// Damaged packets count to the stream of the packet before. The last run extends to the end of the file.
pub(super) fn runs(decoder: &Decoder, bytes: &[u8], least: u64) -> Option<Vec<Run>> {
    let (mut scratch, mut offset, mut number) = (Scratch::default(), 0, 0);
    let mut runs: Vec<Run> = Vec::new();
    let mut first: HashMap<Instance, Timestamp> = HashMap::new();
    while offset < bytes.len() as u64 && (runs.len() > 1 || number < least) {
        let size = match decoder.packet(FileKind::Ctf, bytes, offset, number, 0, &mut scratch) {
            Ok(packet) => {
                let instance = packet.instance();
                if runs.last().is_none_or(|run| run.instance.is_other(instance)) {
                    let begin = packet.start.unwrap_or(Timestamp::MIN);
                    let first_begin = *first.entry(instance.key()).or_insert(begin);
                    if first.len() > MOST_STREAMS {
                        return None;
                    }
                    // Damaged packets at the start count to the first stream.
                    let begin = match runs.is_empty() {
                        true => FilePart::default(),
                        false => FilePart { offset, packet: number },
                    };
                    if let Some(before) = runs.last_mut() {
                        before.bytes.end = offset;
                    }
                    let bytes = begin.offset..bytes.len() as u64;
                    runs.push(Run { instance, begin, bytes, first_begin });
                }
                packet.size
            }
            Err(error) => match error.size {
                Some(size) => size,
                None => break,
            },
        };
        (offset, number) = (offset.saturating_add(size), number + 1);
    }
    (runs.len() > 1).then_some(runs)
}

/// Returns `true` if packets declare what they belong to.
fn may_differ(decoder: &Decoder) -> bool {
    let tables = &decoder.tables;
    let has_id = |region: &Region| {
        let mut classes = region.nodes.iter().map(|node| &node.info.class().kind);
        classes.any(|kind| match kind {
            FieldKind::Integer(_, it) | FieldKind::VarInteger(it) => it.roles.has(Role::StreamId),
            _ => false,
        })
    };
    tables.streams.iter().any(|table| table.declares_cpu())
        || tables.packet_header.as_ref().is_some_and(has_id)
}
