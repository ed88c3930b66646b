//! An index from the packets themselves.

use super::IndexEntry;
use crate::layout::program::Scratch;
use crate::layout::tables::Tables;
use crate::packet::Packet;
use crate::schema::Schema;
use crate::time::Timestamp;
use crate::tracefile::DataFile;

/// Reads header and context of each packet of a file.
pub(super) fn packets(
    schema: &Schema,
    tables: &Tables,
    file: &DataFile,
    number: u32,
) -> Vec<IndexEntry> {
    let bytes = file.source.bytes();
    let mut scratch = Scratch::default();
    let mut entries: Vec<IndexEntry> = Vec::new();
    let mut offset = 0;
    while offset < bytes.len() as u64 {
        let in_file = entries.len() as u64;
        let Ok(p) = Packet::read(schema, tables, bytes, offset, in_file, &mut scratch) else {
            break;
        };
        let begin = p.begin.unwrap_or(Timestamp::MIN);
        // Without both times, nothing is known; an end before the begin stands
        // for "unknown, but not later than the next packet's begin".
        let unknown = if p.begin.is_some() { Timestamp::MIN } else { Timestamp::MAX };
        entries.push(IndexEntry {
            file: number,
            number: in_file,
            offset,
            size: p.size,
            begin,
            end: p.end.unwrap_or(unknown),
        });
        offset += p.size;
    }
    entries
}
