//! Recovery of version 7: buffers whose description is lost, because it is at the end of a file that
//! was cut.
//!
//! Sections follow each other, and the data of each CPU begins at a multiple of the page size. What
//! remains unknown are the numbers of the CPUs, and, of pages that are not compressed, where the data
//! of a CPU ends: its pages are in time order, so an earlier page belongs to the next CPU.

use super::buffer::CpuData;
use super::options::id;
use crate::schema::ByteOrder;
use crate::tracepoint::input::Input;

/// A section of a file, found by walking over all of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundSection {
    pub(super) id: u16,
    pub(super) offset: u64,
    pub(super) is_compressed: bool,
    /// The end according to its header, which may be beyond that of the file.
    pub(super) end: u64,
}

/// The size of the header of a section in bytes.
const SECTION_HEADER: u64 = 16;

/// The greatest id of a section that is known.
const LAST_ID: u16 = 25;

/// The greatest number of sections. Files have some tens.
const MAX_SECTIONS: usize = 1 << 16;

/// Returns the sections of a file from an offset on, up to the first place at which there is none.
pub(super) fn sections(file: &[u8], mut offset: u64, order: ByteOrder) -> Vec<FoundSection> {
    let mut found = Vec::new();
    while found.len() < MAX_SECTIONS {
        let mut input = Input::at(file, offset, order, "sections");
        let header = (|| Ok((input.u16()?, input.u16()?, input.u32()?, input.u64()?)))();
        let Ok::<_, crate::tracepoint::input::Fault>((id, flags, _, size)) = header else { break };
        let end = offset.saturating_add(SECTION_HEADER).saturating_add(size);
        if id > LAST_ID || size == 0 && id != id::BUFFER {
            break;
        }
        // The size is written when recording ends.
        let end = if size == 0 { file.len() as u64 } else { end };
        found.push(FoundSection { id, offset, is_compressed: flags & 1 != 0, end });
        offset = end;
    }
    found
}

/// Finds the data of the CPUs in the section of a buffer.
pub(super) fn cpus(
    file: &[u8],
    section: FoundSection,
    page_size: u32,
    order: ByteOrder,
) -> Vec<CpuData> {
    let begin = section.offset + SECTION_HEADER;
    match section.is_compressed {
        true => packed_cpus(file, begin, section.end, page_size, order),
        false => plain_cpus(file, begin, section.end, page_size, order),
    }
}

fn packed_cpus(
    file: &[u8],
    mut begin: u64,
    end: u64,
    page_size: u32,
    order: ByteOrder,
) -> Vec<CpuData> {
    let (mut cpus, len) = (Vec::new(), file.len() as u64);
    while let Some(page) = begin.checked_next_multiple_of(page_size.into()) {
        begin = page;
        let mut input = Input::at(file, begin, order, "chunks");
        let Some(chunks @ 1..) = input.u32().ok().filter(|_| begin < end.min(len)) else { break };
        let mut is_cut = false;
        for _ in 0..chunks {
            let (Ok(packed), Ok(plain)) = (input.u32(), input.u32()) else {
                is_cut = true;
                break;
            };
            if packed == 0 || plain == 0 || !plain.is_multiple_of(page_size) {
                return cpus;
            }
            if input.take(packed.into()).is_err() {
                is_cut = true;
                break;
            }
        }
        let stop = if is_cut { end.max(len) } else { input.offset() };
        cpus.push(CpuData { cpu: cpus.len() as u32, offset: begin, size: stop - begin });
        begin = stop;
    }
    cpus
}

fn plain_cpus(file: &[u8], begin: u64, end: u64, page_size: u32, order: ByteOrder) -> Vec<CpuData> {
    let mut cpus: Vec<CpuData> = Vec::new();
    let (mut at, mut before) = (begin.next_multiple_of(page_size.into()), None);
    while at < end {
        let time = Input::at(file, at, order, "pages").u64().ok();
        match (cpus.last_mut(), before.zip(time)) {
            (Some(cpu), Some((before, time))) if before <= time => {
                cpu.size += u64::from(page_size);
            }
            // The rest is cut.
            (Some(cpu), None) => {
                cpu.size = end - cpu.offset;
                break;
            }
            (None, _) if time.is_none() => break,
            _ => cpus.push(CpuData { cpu: cpus.len() as u32, offset: at, size: page_size.into() }),
        }
        (at, before) = (at + u64::from(page_size), time);
    }
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_may_claim_to_end_anywhere() {
        let section =
            |is_compressed, end| FoundSection { id: id::BUFFER, offset: 0, is_compressed, end };
        // The chunk of a page, of 5 bytes, whose end is missing.
        let packed = [[1, 0, 0, 0], [5, 0, 0, 0], [32, 0, 0, 0], [9; 4]].concat();
        let file = [vec![0; 32], packed].concat();
        for end in [48, 1 << 40, u64::MAX - 1, u64::MAX] {
            let found = cpus(&file, section(true, end), 32, ByteOrder::Little);
            assert!(
                matches!(found[..], [CpuData { cpu: 0, offset: 32, size }] if size == end - 32)
            );
            let found = cpus(&file, section(false, end), 32, ByteOrder::Little);
            assert!(matches!(found[..], [CpuData { cpu: 0, offset: 32, .. }]));
        }
    }
}
