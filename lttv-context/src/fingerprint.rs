//! What tells traces apart without reading them.

use crate::traceset::Traceset;

/// A fingerprint of traces: of the identifier of each, and of the name, begin and size of
/// each file of its tracefiles. Whatever is computed from traces and kept in a file is
/// kept with it: a trace that has changed since is recognised then, and one that was only
/// moved or copied is not taken for another. ([`settled_since`](crate::settled_since)
/// tells change from growth.)
pub fn fingerprint(traceset: &Traceset) -> Vec<u8> {
    let mut bytes = Vec::new();
    for trace in traceset.traces() {
        bytes.extend_from_slice(&trace.uuid().map_or([0; 16], |uuid| uuid.0));
        bytes.extend_from_slice(&(trace.tracefiles().len() as u32).to_le_bytes());
        for (number, tracefile) in trace.tracefiles().iter().enumerate() {
            let mut packets = trace.packet_index(number).entries().iter().peekable();
            bytes.extend_from_slice(&(tracefile.files().count() as u32).to_le_bytes());
            for (file, (path, size)) in (0..).zip(tracefile.files().zip(tracefile.file_sizes())) {
                let name = path.file_name().unwrap_or_default().as_encoded_bytes();
                while packets.next_if(|packet| packet.file < file).is_some() {}
                let first = packets.next_if(|packet| packet.file == file);
                bytes.extend_from_slice(&crc32fast::hash(name).to_le_bytes());
                bytes.extend_from_slice(&first.map_or(0, |first| first.begin.ns()).to_le_bytes());
                bytes.extend_from_slice(&size.to_le_bytes());
            }
        }
    }
    bytes
}

/// What a fingerprint has of a trace: its identifier, and how many tracefiles there are.
const TRACE: usize = 16 + 4;
/// Of a tracefile: how many files there are.
const TRACEFILE: usize = 4;
/// Of a file, but for its size: its name, as a checksum, and its begin.
const FILE: usize = 4 + 8;

/// The sizes of all files of each tracefile as a fingerprint tells them, if it is one of
/// these traces, as they are now or as they were before they grew.
pub(crate) fn sizes_before(fingerprint: &[u8], traceset: &Traceset) -> Option<Vec<Vec<u64>>> {
    let now = self::fingerprint(traceset);
    let (mut before, mut now) = (fingerprint, now.as_slice());
    let mut all = Vec::new();
    for trace in traceset.traces() {
        same(&mut before, &mut now, TRACE)?;
        for _ in trace.tracefiles() {
            let (files, files_now) = (count(&mut before)?, count(&mut now)?);
            let more = files_now.checked_sub(files)?;
            let mut sizes = Vec::new();
            for file in 1..=files {
                same(&mut before, &mut now, FILE)?;
                let (before, now) = (size(&mut before)?, size(&mut now)?);
                // The tracer goes on in the last one.
                let is_part = before == now || before < now && file == files;
                sizes.push(Some(before).filter(|_| is_part)?);
            }
            take(&mut now, more as usize * (FILE + 8))?;
            all.push(sizes);
        }
    }
    before.is_empty().then_some(all)
}

/// Takes what has to be the same in both.
fn same(a: &mut &[u8], b: &mut &[u8], len: usize) -> Option<()> {
    (take(a, len)? == take(b, len)?).then_some(())
}

fn count(bytes: &mut &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(take(bytes, TRACEFILE)?.try_into().ok()?))
}

fn size(bytes: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(take(bytes, 8)?.try_into().ok()?))
}

fn take<'b>(bytes: &mut &'b [u8], len: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE_PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");

    #[test]
    fn growth_is_told_from_change() {
        let traceset = Traceset::open(TRACE_PATH).unwrap();
        let now = fingerprint(&traceset);
        assert!(now.len() > 60);
        let tracefiles = traceset.traces()[0].tracefiles().iter();
        let sizes: Vec<Vec<u64>> = tracefiles.map(|of| of.file_sizes().collect()).collect();
        assert_eq!(sizes_before(&now, &traceset).as_ref(), Some(&sizes));
        let change = |at: usize, by: u8| {
            let mut changed = now.clone();
            changed[at] = changed[at].wrapping_add(by);
            sizes_before(&changed, &traceset)
        };
        // The size of the first file follows what says which one it is.
        let size = TRACE + TRACEFILE + FILE;
        assert!(now[size + 1] > 0);
        let mut smaller = sizes.clone();
        smaller[0][0] -= 256;
        assert_eq!(change(size + 1, 255).as_ref(), Some(&smaller));
        assert_eq!(change(size + 7, 1), None, "it was greater");
        assert_eq!(change(0, 1), None, "another trace");
        assert_eq!(change(TRACE, 1), None, "it had more files");
        assert_eq!(change(TRACE + TRACEFILE, 1), None, "another file");
        assert_eq!(sizes_before(&now[1..], &traceset), None);
        assert_eq!(sizes_before(&now[..now.len() - 1], &traceset), None);
        assert_eq!(sizes_before(&[&now[..], &[0]].concat(), &traceset), None);
        assert_eq!(sizes_before(b"no fingerprint at all", &traceset), None);
    }
}
