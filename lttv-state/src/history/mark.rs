//! What a producer notes for itself, so that it can go on when its source has grown.

use super::bits::{Bytes, put_varint};

/// A note that a producer left: see [`Builder::mark`](super::Builder::mark).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mark {
    /// The time, in ns, before which its source had been read.
    pub time: i64,
    /// All that was stored then is in blocks up to this time.
    pub(super) horizon: i64,
    /// The note.
    pub note: Vec<u8>,
}

/// LZ4 cannot make more bytes than this of one: anything beyond is a lie.
const MOST_PER_BYTE: u64 = 256;

impl Mark {
    /// Appends it as it is at the end of an index.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.time.to_le_bytes());
        out.extend_from_slice(&self.horizon.to_le_bytes());
        put_varint(out, self.note.len() as u64);
        out.extend_from_slice(&lz4_flex::block::compress(&self.note));
    }

    /// What [`write`](Self::write) wrote. None if it is not that.
    pub(super) fn read(data: &[u8]) -> Option<Mark> {
        let mut bytes = Bytes::new(data, 0);
        let (time, horizon) = (bytes.u64() as i64, bytes.u64() as i64);
        let len = bytes.varint();
        let packed = data.get(bytes.at..)?;
        if len > packed.len() as u64 * MOST_PER_BYTE {
            return None;
        }
        let note = lz4_flex::block::decompress(packed, usize::try_from(len).ok()?).ok()?;
        (note.len() as u64 == len).then_some(Mark { time, horizon, note })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for note in [&b""[..], b"a", &[7; 1000]] {
            let mark = Mark { time: -5, horizon: 7, note: note.to_vec() };
            let mut bytes = Vec::new();
            mark.write(&mut bytes);
            assert_eq!(Mark::read(&bytes), Some(mark));
            for len in 0..bytes.len() {
                assert_eq!(Mark::read(&bytes[..len]), None, "{len} of {} bytes", bytes.len());
            }
        }
    }

    #[test]
    fn a_made_up_length_takes_no_memory() {
        let mut bytes = vec![0; 16];
        put_varint(&mut bytes, u64::MAX);
        bytes.extend_from_slice(&[0; 100]);
        assert_eq!(Mark::read(&bytes), None);
    }
}
