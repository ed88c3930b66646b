//! What tells traces apart without reading them.

use crate::traceset::Traceset;

/// A fingerprint of traces: of the identifier of each, and of the name, begin and
/// size of each of its tracefiles. Whatever is computed from traces and kept in a
/// file is kept with it: a trace that has changed since is recognised then, and one
/// that was only moved or copied is not taken for another.
pub fn fingerprint(traceset: &Traceset) -> Vec<u8> {
    let mut bytes = Vec::new();
    for trace in traceset.traces() {
        bytes.extend_from_slice(&trace.uuid().map_or([0; 16], |uuid| uuid.0));
        bytes.extend_from_slice(&(trace.tracefiles().len() as u32).to_le_bytes());
        for (at, tracefile) in trace.tracefiles().iter().enumerate() {
            let begin = trace.packet_index(at).entries().first().map_or(0, |p| p.begin.ns());
            bytes.extend_from_slice(&crc32fast::hash(tracefile.name().as_bytes()).to_le_bytes());
            bytes.extend_from_slice(&begin.to_le_bytes());
            bytes.extend_from_slice(&tracefile.size().to_le_bytes());
        }
    }
    bytes
}

/// Whether the traces of one [`fingerprint`] are those of another one, of which
/// some have grown since, and none has shrunk.
pub fn has_grown(from: &[u8], to: &[u8]) -> bool {
    from != to && from.len() == to.len() && grown(from, to) == Some(true)
}

/// None if a fingerprint is none.
fn grown(mut from: &[u8], mut to: &[u8]) -> Option<bool> {
    while !from.is_empty() {
        let (head, head_to) = (take(&mut from, 20)?, take(&mut to, 20)?);
        if head != head_to {
            return Some(false);
        }
        let tracefiles = u32::from_le_bytes(*head.last_chunk()?);
        for _ in 0..tracefiles {
            let (same, same_to) = (take(&mut from, 12)?, take(&mut to, 12)?);
            let size = |bytes: &[u8]| bytes.first_chunk().map(|size| u64::from_le_bytes(*size));
            if same != same_to || size(take(&mut from, 8)?)? > size(take(&mut to, 8)?)? {
                return Some(false);
            }
        }
    }
    Some(true)
}

fn take<'b>(bytes: &mut &'b [u8], len: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");

    #[test]
    fn growth_is_told_from_change() {
        let first = fingerprint(&Traceset::open(TRACE).unwrap());
        assert!(first.len() > 60);
        assert!(!has_grown(&first, &first));
        let change = |at: usize, by: u8| {
            let mut changed = first.clone();
            changed[at] = changed[at].wrapping_add(by);
            changed
        };
        // The size of the first tracefile follows what says which one it is.
        assert!(has_grown(&first, &change(20 + 12 + 2, 1)));
        assert!(!has_grown(&change(20 + 12 + 2, 1), &first));
        assert!(!has_grown(&first, &change(0, 1)), "another trace");
        assert!(!has_grown(&first, &change(20, 1)), "another tracefile");
        assert!(!has_grown(&first, &first[1..]));
        assert!(!has_grown(b"no fingerprint at all", b"no fingerprint as well"));
    }
}
