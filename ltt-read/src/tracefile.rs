//! Tracefiles: one data stream each, in one or more files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::duplicates::Duplicates;
use crate::index::Indexes;
use crate::layout::program::Scratch;
use crate::layout::tables::Tables;
use crate::legacy::FileKind;
use crate::packet::{Packet, PacketError};
use crate::schema::{Schema, StreamClassId};
use crate::source::Source;
use crate::time::Timestamp;

/// One data stream of a trace: what one CPU (or other source) wrote to one
/// channel. When the tracer rotated its files, they are all parts of it.
#[derive(Debug)]
pub struct Tracefile {
    pub(crate) name: String,
    pub(crate) channel: String,
    pub(crate) cpu: Option<u32>,
    pub(crate) process: Option<UserProcess>,
    pub(crate) stream_class: Option<StreamClassId>,
    pub(crate) stream_id: Option<u64>,
    /// In time order.
    pub(crate) files: Vec<DataFile>,
    /// Which packets are in several of the files: found when something suggests that
    /// there are such.
    pub(crate) duplicates: OnceLock<Duplicates>,
    pub(crate) index: Indexes,
}

/// The process whose events a user-space tracefile of LTTng 0.x holds, by the
/// file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserProcess {
    /// Id of the thread.
    pub tid: u32,
    /// Id of its process group.
    pub pgid: u32,
    /// When it was created, in ticks of the trace's clock.
    pub creation: u64,
}

/// One file of a tracefile.
#[derive(Debug)]
pub(crate) struct DataFile {
    pub(crate) path: Arc<Path>,
    pub(crate) source: Arc<Source>,
    /// Where LTTng would have put its index.
    pub(crate) index_path: PathBuf,
    pub(crate) first_begin: Option<Timestamp>,
    /// `Some` in the formats before CTF.
    pub(crate) legacy: Option<FileKind>,
}

impl DataFile {
    /// Reads the packet that begins at a byte of it. `clock` is the default
    /// clock before it.
    pub(crate) fn packet(
        &self,
        schema: &Schema,
        tables: &Tables,
        offset: u64,
        number: u64,
        clock: u64,
        scratch: &mut Scratch,
    ) -> Result<Packet, PacketError> {
        let bytes = self.source.bytes();
        match self.legacy.zip(tables.legacy.as_ref()) {
            None => Packet::read(schema, tables, bytes, offset, number, clock, scratch),
            Some((kind, decoder)) => decoder.packet(kind, bytes, offset, number),
        }
    }

    /// Orders the files of a tracefile: by time where they tell one, else as
    /// the tracer numbered them.
    pub(crate) fn key(&self) -> impl Ord + '_ {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        (self.first_begin, self.path.parent(), split_name(&name, false).1, &self.path)
    }
}

impl Tracefile {
    /// The name of its (first) file, e.g. `channel0_3`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The channel's name, as far as file names tell: `channel0` for
    /// `channel0_3`, and for `channel0_3_0` where files rotate.
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// The CPU: the field `cpu_id` in the context of the first readable packet, or
    /// what the file's name says if there is none, 3 for `channel0_3`. It is as the
    /// trace has it, however large.
    pub fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    /// The process whose events it holds, for a user-space tracefile of LTTng
    /// 0.x.
    pub fn user_process(&self) -> Option<UserProcess> {
        self.process
    }

    /// Class of the stream, `None` if its first packet is damaged. (Packets of
    /// several classes in one file are read all the same; each
    /// [`Packet`](crate::Packet) tells its own.)
    pub fn stream_class(&self) -> Option<StreamClassId> {
        self.stream_class
    }

    /// Id of the stream within its class, where packets tell it.
    pub fn stream_id(&self) -> Option<u64> {
        self.stream_id
    }

    /// The files that hold it, in time order.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|f| &*f.path)
    }

    /// Size of each of its files in bytes.
    pub fn file_sizes(&self) -> impl Iterator<Item = u64> {
        self.files.iter().map(|f| f.source.bytes().len() as u64)
    }

    /// The bytes of each of its files, as far as they were there when the trace was
    /// opened.
    pub fn file_bytes(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().map(|f| f.source.bytes())
    }

    /// Which packets of its files are left out, because other files have them.
    pub(crate) fn duplicates(&self, schema: &Schema, tables: &Tables) -> &Duplicates {
        self.duplicates.get_or_init(|| Duplicates::find(schema, tables, &self.files))
    }

    /// Size of all its files in bytes.
    pub fn size(&self) -> u64 {
        self.file_sizes().sum()
    }
}

/// Channel, CPU and file number of a file name as LTTng makes them:
/// `CHANNEL_CPU` or, with rotated tracefiles, `CHANNEL_CPU_NUMBER`.
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
    fn names() {
        assert_eq!(split_name("channel0_3", false), ("channel0", Some(3)));
        assert_eq!(split_name("my_chan_11", false), ("my_chan", Some(11)));
        assert_eq!(split_name("chan_2_0", true), ("chan", Some(2)));
        assert_eq!(split_name("stream", false), ("stream", None));
        assert_eq!(split_name("a_b", false), ("a_b", None));
        assert_eq!(split_name("a_99999999999", false), ("a_99999999999", None));
    }
}
