//! Files of a tracefile.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::source::SharedBytes;
use crate::base::time::Timestamp;
use crate::format::{Decoder, FileKind};
use crate::ftrace::chunk::Chunk;
use crate::layout::program::Scratch;
use crate::packet::{Packet, PacketError};
use crate::report::DecodeError;

/// One file of a tracefile, or a part of one: of a file that grows, or that has packets of several
/// streams.
#[derive(Debug, Clone)]
pub(crate) struct DataFile {
    pub(crate) path: Arc<Path>,
    pub(crate) source: SharedBytes,
    /// The number of bytes that are known to be missing after those of the source.
    pub(crate) missing: u64,
    /// The chunk of packets that the bytes of the source are, if they are compressed.
    pub(crate) packed: Option<Chunk>,
    /// `true` if LTTng may have stored an index of the file.
    pub(crate) may_have_index: bool,
    /// The start of the first packet, by which the files of a tracefile are ordered when it is
    /// opened.
    pub(crate) first_begin: Option<Timestamp>,
    pub(crate) kind: FileKind,
    /// The place of the bytes in the file.
    pub(crate) begin: FilePart,
    /// The facts about the data before it, if it is a part of a tracefile that grows.
    pub(crate) before: Before,
}

/// The start of a part of a file, which is usually the whole file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FilePart {
    /// The offset of its first byte, in bytes.
    pub(crate) offset: u64,
    /// The number of its first packet.
    pub(crate) packet: u64,
}

/// The facts about the data before a part of a tracefile, which may no longer be kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before {
    /// A time before which no event follows.
    pub(crate) floor: Timestamp,
    /// The value of the default clock, in cycles, for the first part that is kept; for others as
    /// far as packets declare it.
    pub(crate) clock: u64,
}

impl Before {
    /// The start of a tracefile.
    pub(crate) const NOTHING: Before = Before { floor: Timestamp::MIN, clock: 0 };
}

impl DataFile {
    /// Returns the bytes of the source.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.source.get()
    }

    /// Returns the path at which LTTng stores the index of the file; `None` if it stores none.
    pub(crate) fn index_path(&self) -> Option<PathBuf> {
        self.may_have_index.then(|| {
            let mut name = self.path.file_name().unwrap_or_default().to_owned();
            name.push(".idx");
            self.path.with_file_name("index").join(name)
        })
    }

    /// Returns the bytes of its packets.
    pub(crate) fn unpacked(&self) -> Result<SharedBytes, DecodeError> {
        match &self.packed {
            None => Ok(self.source.clone()),
            Some(_) if self.missing > 0 => {
                Err(DecodeError::TruncatedPacket { missing: self.missing })
            }
            Some(chunk) => chunk.unpack(self.source.get()).map(SharedBytes::new),
        }
    }

    /// Returns the size of its packets in bytes, with those that are missing.
    pub(crate) fn size(&self) -> u64 {
        if let Some(chunk) = &self.packed {
            return chunk.size.into();
        }
        (self.source.get().len() as u64).saturating_add(self.missing)
    }

    /// Reads the header and context of the packet at a byte offset. `clock` is the value
    /// of the default clock before it.
    pub(crate) fn packet(
        &self,
        decoder: &Decoder,
        offset: u64,
        number: u64,
        clock: u64,
        scratch: &mut Scratch,
    ) -> Result<Packet, PacketError> {
        match &self.packed {
            None => decoder.packet(self.kind, self.source.get(), offset, number, clock, scratch),
            Some(_) => {
                // What follows a damaged chunk is in other files.
                let size = Some(self.size().saturating_sub(offset));
                let bytes = self.unpacked().map_err(|kind| PacketError { kind, bit: 0, size })?;
                decoder.packet(self.kind, bytes.get(), offset, number, clock, scratch)
            }
        }
    }

    /// Returns the key by which the files of a tracefile are ordered: their time if they
    /// have one, then the tracer's numbering. Parts of a file stay in their order.
    pub(crate) fn key(&self) -> impl Ord + '_ {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let number = split_name(&name, false).1;
        (self.first_begin, self.path.parent(), number, &self.path, self.begin.offset)
    }
}

/// Splits a file name of LTTng into channel and CPU: `CHANNEL_CPU` or, with `rotated`,
/// `CHANNEL_CPU_NUMBER`. The CPU is `None` if the name has another form.
pub(crate) fn split_name(name: &str, rotated: bool) -> (&str, Option<u32>) {
    let number = |s: &str| s.bytes().all(|b| b.is_ascii_digit()).then(|| s.parse().ok()).flatten();
    let Some((rest, last)) = name.rsplit_once('_') else { return (name, None) };
    let Some(last) = number(last) else { return (name, None) };
    if rotated
        && let Some((channel, cpu)) = rest.rsplit_once('_')
        && let Some(cpu) = number(cpu)
    {
        return (channel, Some(cpu));
    }
    (rest, Some(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_split() {
        assert_eq!(split_name("channel0_3", false), ("channel0", Some(3)));
        assert_eq!(split_name("my_chan_11", false), ("my_chan", Some(11)));
        assert_eq!(split_name("chan_2_0", true), ("chan", Some(2)));
        assert_eq!(split_name("stream", false), ("stream", None));
        assert_eq!(split_name("a_b", false), ("a_b", None));
        assert_eq!(split_name("a_99999999999", false), ("a_99999999999", None));
    }
}
