//! The note that a producer leaves at the end of a file, to resume when its source has
//! grown.
//!
//! ```text
//! i64     time before which the source had been read, in ns
//! i64     horizon: all that had been stored is in blocks up to this time, in ns
//! varint  length of the note before compression, in bytes
//! LZ4     note
//! ```

use ltt_read::Timestamp;

use crate::history::block::bits::{ByteReader, MAX_LZ4_RATIO, put_varint};

/// A note of a history's producer: see [`Builder::set_resume_note`](crate::history::Builder::set_resume_note).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResumeNote {
    /// The time before which the producer had read its source.
    pub time: Timestamp,
    /// The time up to which all that had been stored by then is in blocks, in ns.
    pub(crate) horizon: i64,
    /// The note, which only the producer interprets.
    pub note: Vec<u8>,
}

impl ResumeNote {
    /// Appends the note as it is stored at the end of an index.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.time.as_ns().to_le_bytes());
        out.extend_from_slice(&self.horizon.to_le_bytes());
        put_varint(out, self.note.len() as u64);
        out.extend_from_slice(&lz4_flex::block::compress(&self.note));
    }

    /// Decodes a note that fills `data`. `None` if it is damaged.
    pub(crate) fn read(data: &[u8]) -> Option<ResumeNote> {
        let mut bytes = ByteReader::new(data, 0);
        let time = Timestamp::from_ns(bytes.u64() as i64);
        let horizon = bytes.u64() as i64;
        let len = bytes.varint();
        let packed = data.get(bytes.at..)?;
        if len > packed.len() as u64 * MAX_LZ4_RATIO {
            return None;
        }
        let note = lz4_flex::block::decompress(packed, usize::try_from(len).ok()?).ok()?;
        (note.len() as u64 == len).then_some(ResumeNote { time, horizon, note })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_round_trip_and_truncated_ones_are_refused() {
        for note in [&b""[..], b"a", &[7; 1000]] {
            let mark = ResumeNote { time: Timestamp::from_ns(-5), horizon: 7, note: note.to_vec() };
            let mut bytes = Vec::new();
            mark.write(&mut bytes);
            assert_eq!(ResumeNote::read(&bytes), Some(mark));
            for len in 0..bytes.len() {
                assert_eq!(ResumeNote::read(&bytes[..len]), None, "{len} of {} bytes", bytes.len());
            }
        }
    }

    #[test]
    fn a_false_length_is_refused_before_allocation() {
        let mut bytes = vec![0; 16];
        put_varint(&mut bytes, u64::MAX);
        bytes.extend_from_slice(&[0; 100]);
        assert_eq!(ResumeNote::read(&bytes), None);
    }
}
