//! Ring buffers: the places of their pages in a file.

use hashbrown::HashSet;

use super::compression::Compression;

/// A ring buffer.
#[derive(Debug)]
pub(super) struct Buffer {
    /// The name; empty for the main buffer.
    pub(super) name: String,
    pub(super) clock: Option<String>,
    /// The size of a page in bytes.
    pub(super) page_size: u32,
    /// The compression of the pages, in chunks.
    pub(super) compression: Option<Compression>,
    pub(super) cpus: Vec<CpuData>,
}

/// The place of the pages of a CPU in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct CpuData {
    pub(super) cpu: u32,
    pub(super) offset: u64,
    pub(super) size: u64,
}

/// Separates the data of CPUs, which overlaps only through damage, so that each page is read once:
/// data ends where the next one begins, and one of several at a place remains. Returns a warning for
/// each change.
pub(super) fn separate(buffers: &mut [Buffer]) -> Vec<String> {
    let mut begins: Vec<u64> = Vec::new();
    for buffer in &mut *buffers {
        buffer.cpus.retain(|data| data.size > 0);
        begins.extend(buffer.cpus.iter().map(|data| data.offset));
    }
    begins.sort_unstable();
    let (mut taken, mut warnings) = (HashSet::new(), Vec::new());
    for buffer in buffers {
        buffer.cpus.retain_mut(|data| {
            let CpuData { cpu, offset, size } = *data;
            let next = begins.get(begins.partition_point(|begin| *begin <= offset));
            let most = next.map_or(u64::MAX, |next| next - offset);
            if size > most {
                warnings.push(format!("CPU {cpu}: its data reaches into that of another one"));
                data.size = most;
            }
            let is_first = taken.insert(offset);
            if !is_first {
                warnings.push(format!("CPU {cpu}: its data is that of another one"));
            }
            is_first
        });
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_data_is_separated() {
        let buffer = |places: &[(u32, u64, u64)]| Buffer {
            name: String::new(),
            clock: None,
            page_size: 4096,
            compression: None,
            cpus: places
                .iter()
                .map(|(cpu, offset, size)| CpuData { cpu: *cpu, offset: *offset, size: *size })
                .collect(),
        };
        let places = |buffer: &Buffer| -> Vec<_> {
            buffer.cpus.iter().map(|data| (data.cpu, data.offset, data.size)).collect()
        };
        let mut buffers = [
            buffer(&[(0, 10, 10), (1, 20, 50), (2, 20, 0), (3, 10, 5)]),
            buffer(&[(0, 30, u64::MAX)]),
        ];
        assert_eq!(separate(&mut buffers).len(), 2);
        assert_eq!(places(&buffers[0]), [(0, 10, 10), (1, 20, 10)]);
        assert_eq!(places(&buffers[1]), [(0, 30, u64::MAX)]);
    }
}
