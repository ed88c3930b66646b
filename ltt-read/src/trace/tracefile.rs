//! Tracefiles: one data stream each, in one or more files.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use super::data_file::{DataFile, split_name};
use super::duplicates::Duplicates;
use super::growth::Growth;
use super::packet_index::Indexes;
use crate::base::source::SharedBytes;
use crate::format::Decoder;
use crate::packet::Instance;
use crate::schema::StreamClassId;

/// One data stream of a trace: the events that one CPU (or other source) recorded in one
/// channel. If the tracer rotated its files, they are all parts of it. A file that has packets of
/// several streams, such as those that a device sends over one link, is read as a tracefile for each
/// stream: packets belong to one stream if their class, their stream id and their CPU are the same, or if they
/// declare neither id nor CPU.
#[derive(Debug)]
pub struct Tracefile {
    pub(crate) name: String,
    pub(crate) channel: String,
    pub(crate) cpu: Option<u32>,
    pub(crate) process: Option<UserProcess>,
    /// The stream that its packets belong to; `None` if no packet is known, or if the first ones are damaged.
    pub(crate) instance: Option<Instance>,
    /// The files in time order, without those that were released.
    pub(crate) files: Vec<DataFile>,
    /// The end if it is being recorded; `None` if the tracefile was opened complete.
    pub(crate) growth: Option<Growth>,
    /// The packets that are in several of the files; determined only if something
    /// suggests that there are some.
    pub(crate) duplicates: OnceLock<Duplicates>,
    pub(crate) index: Indexes,
}

/// The process whose events are in a user-space tracefile of LTTng 0.x, according to the
/// file's name.
// Exhaustive: the name of a file has no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserProcess {
    /// The thread id in the file's name.
    pub tid: u32,
    /// The id of its process group.
    pub pgid: u32,
    /// The time of its creation, in ticks of the trace's clock.
    pub creation: u64,
}

impl Tracefile {
    /// Creates a tracefile of the same files, for a decoder with other times. What depends on
    /// times is computed again.
    pub(crate) fn with_other_times(&self) -> Tracefile {
        Tracefile {
            name: self.name.clone(),
            channel: self.channel.clone(),
            files: self.files.clone(),
            duplicates: OnceLock::new(),
            index: Indexes::default(),
            growth: self.growth,
            ..*self
        }
    }

    /// Creates a tracefile that is being recorded, without data. Its channel and CPU are those in
    /// the name of its file until a packet declares them.
    pub(crate) fn growing(name: &str) -> Tracefile {
        let (channel, cpu) = split_name(name, false);
        Tracefile {
            name: name.to_owned(),
            channel: channel.to_owned(),
            cpu,
            process: None,
            instance: None,
            files: Vec::new(),
            growth: Some(Growth::NEW),
            duplicates: OnceLock::new(),
            index: Indexes::default(),
        }
    }

    /// Returns the name of its file, or of the first one, e.g. `channel0_3`. The streams of one file have
    /// the same name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the channel's name, derived from file names: `channel0` for `channel0_3`,
    /// and also for `channel0_3_0` if files rotate.
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// Returns the CPU number. It is the field `cpu_id` in the context of its packets
    /// or, without such a field, the number in the file's name, 3 for
    /// `channel0_3`. The number is not checked and may be arbitrarily large.
    pub fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    /// Returns the process of a user-space tracefile of LTTng 0.x; `None` for other
    /// tracefiles.
    pub fn user_process(&self) -> Option<UserProcess> {
        self.process
    }

    /// Returns the stream class; `None` if its first packets are damaged. If packets declare neither an
    /// id of their stream nor a CPU, this is the class of the first one, and each [`Packet`](crate::Packet)
    /// has its own.
    pub fn stream_class(&self) -> Option<StreamClassId> {
        self.instance.map(|instance| instance.class)
    }

    /// Returns the id of the stream within its class; `None` if packets do not declare
    /// it.
    pub fn stream_id(&self) -> Option<u64> {
        self.instance?.id
    }

    /// Iterates over the paths of its files, in time order.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let mut before = None;
        let paths = self.files.iter().map(|file| &*file.path);
        paths.filter(move |path| before.replace(*path) != Some(*path))
    }

    /// Iterates over its data in time order: the path and the bytes of each part.
    ///
    /// A part is a file, up to its size when the trace was opened, with two exceptions. Of a file that has
    /// packets of several streams, each run of successive packets of this stream is a part. In a
    /// [growing trace](crate::GrowingTrace), what was added at one time is a part.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (&Path, &[u8])> {
        self.files.iter().map(|file| (&*file.path, file.bytes()))
    }

    /// Returns `true` if it has the byte at an offset of a file, such as that of a
    /// [notice](crate::Notice).
    pub fn has_byte(&self, file: &Path, offset: u64) -> bool {
        let is_in = |part: &DataFile| {
            offset.checked_sub(part.begin.offset).is_some_and(|at| at < part.size())
                && *part.path == *file
        };
        self.files.iter().any(is_in)
    }

    /// Iterates over the parts of its files that contain a range of its bytes, counted over all of them.
    /// The range may exceed the tracefile.
    pub(crate) fn parts_of(
        &self,
        bytes: Range<u64>,
    ) -> impl Iterator<Item = (&SharedBytes, Range<u64>)> {
        let mut begin = 0_u64;
        self.files.iter().filter_map(move |file| {
            let size = file.size();
            let range =
                bytes.start.saturating_sub(begin)..bytes.end.saturating_sub(begin).min(size);
            begin += size;
            (range.start < range.end).then_some((&file.source, range))
        })
    }

    /// Returns the packets of its files that are left out because other files contain
    /// them, too.
    pub(crate) fn duplicates(&self, decoder: &Decoder) -> &Duplicates {
        self.duplicates.get_or_init(|| Duplicates::find(decoder, &self.files))
    }

    /// Returns `true` if more data may follow: if the tracefile belongs to a
    /// [`GrowingTrace`](crate::GrowingTrace) and is not complete yet.
    pub fn is_growing(&self) -> bool {
        self.growth.is_some_and(|growth| !growth.is_complete)
    }

    /// Returns the number of its first file that was not released. It is 0 unless the tracefile
    /// grew.
    pub(crate) fn first_file(&self) -> u32 {
        self.growth.map_or(0, |growth| growth.released)
    }

    /// Returns the file with a number; `None` if it does not exist or was released.
    pub(crate) fn file(&self, number: u32) -> Option<&DataFile> {
        self.files.get(number.checked_sub(self.first_file())? as usize)
    }

    /// Returns the number after that of its last file.
    pub(crate) fn end_of_files(&self) -> u32 {
        self.first_file().saturating_add(self.files.len() as u32)
    }

    /// Returns the bytes of its first file; none if there is no file yet.
    pub(crate) fn first_source(&self) -> SharedBytes {
        let first = self.files.first().map(|file| file.source.clone());
        first.unwrap_or_else(|| SharedBytes::in_memory(Vec::new()))
    }

    /// Returns the size of all its files together, in bytes.
    pub fn size(&self) -> u64 {
        self.files.iter().map(DataFile::size).sum()
    }
}
