//! Index entries from the headers of the packets.

use crate::base::time::Timestamp;
use crate::format::Decoder;
use crate::layout::program::Scratch;
use crate::trace::{DataFile, Declared, IndexEntry};

/// Reads the header and context of each packet of a file. `clock` is the value of the
/// default clock before the file, and becomes its value after the file.
pub(super) fn packets(
    decoder: &Decoder,
    file: &DataFile,
    file_number: u32,
    clock: &mut u64,
) -> Vec<IndexEntry> {
    let mut scratch = Scratch::default();
    let mut entries = Vec::new();
    let (mut offset, mut number) = (0, 0);
    while offset < file.size() {
        match file.packet(decoder, offset, number, *clock, &mut scratch) {
            Ok(p) => {
                let begin = p.start.unwrap_or(Timestamp::MIN);
                // Without both times, nothing is known. An end before the start means
                // "unknown, but not later than the start of the next packet".
                let unknown = if p.start.is_some() { Timestamp::MIN } else { Timestamp::MAX };
                entries.push(IndexEntry {
                    file: file_number,
                    number,
                    offset,
                    size: p.size,
                    start: begin,
                    end: p.end.unwrap_or(unknown),
                    clock_before: *clock,
                    declared: Declared { begin: p.start, end: p.end },
                });
                *clock = p.end_cycles.unwrap_or(p.clock);
                offset += p.size;
            }
            Err(error) => match error.size {
                Some(size) => offset += size,
                None => break,
            },
        }
        number += 1;
    }
    entries
}
