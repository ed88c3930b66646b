//! Tracefiles: one data stream each, in one or more files.

use std::path::Path;
use std::sync::OnceLock;

use super::data_file::DataFile;
use super::duplicates::Duplicates;
use super::packet_index::Indexes;
use crate::format::Decoder;
use crate::schema::StreamClassId;

/// One data stream of a trace: the events that one CPU (or other source) recorded in one
/// channel. If the tracer rotated its files, they are all parts of it.
#[derive(Debug)]
pub struct Tracefile {
    pub(crate) name: String,
    pub(crate) channel: String,
    pub(crate) cpu: Option<u32>,
    pub(crate) process: Option<UserProcess>,
    pub(crate) stream_class: Option<StreamClassId>,
    pub(crate) stream_id: Option<u64>,
    /// The files in time order.
    pub(crate) files: Vec<DataFile>,
    /// The packets that are in several of the files; determined only if something
    /// suggests that there are some.
    pub(crate) duplicates: OnceLock<Duplicates>,
    pub(crate) index: Indexes,
}

/// The process whose events are in a user-space tracefile of LTTng 0.x, according to the
/// file's name.
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
            ..*self
        }
    }

    /// Returns the name of its file, or of the first one, e.g. `channel0_3`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the channel's name, derived from file names: `channel0` for `channel0_3`,
    /// and also for `channel0_3_0` if files rotate.
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// Returns the CPU number. It is the field `cpu_id` in the context of the first
    /// readable packet or, without such a field, the number in the file's name, 3 for
    /// `channel0_3`. The number is not checked and may be arbitrarily large.
    pub fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    /// Returns the process of a user-space tracefile of LTTng 0.x; `None` for other
    /// tracefiles.
    pub fn user_process(&self) -> Option<UserProcess> {
        self.process
    }

    /// Returns the stream class; `None` if its first packet is damaged. A file may
    /// contain packets of several classes; each [`Packet`](crate::Packet) has its own.
    pub fn stream_class(&self) -> Option<StreamClassId> {
        self.stream_class
    }

    /// Returns the id of the stream within its class; `None` if packets do not declare
    /// it.
    pub fn stream_id(&self) -> Option<u64> {
        self.stream_id
    }

    /// Iterates over the paths of its files, in time order.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|f| &*f.path)
    }

    /// Iterates over the sizes of its files, in bytes.
    pub fn file_sizes(&self) -> impl Iterator<Item = u64> {
        self.files.iter().map(|f| f.source.bytes().len() as u64)
    }

    /// Iterates over the contents of its files, up to their sizes when the trace was
    /// opened.
    pub fn file_bytes(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().map(|f| f.source.bytes())
    }

    /// Returns the packets of its files that are left out because other files contain
    /// them, too.
    pub(crate) fn duplicates(&self, decoder: &Decoder) -> &Duplicates {
        self.duplicates.get_or_init(|| Duplicates::find(decoder, &self.files))
    }

    /// Returns the size of all its files together, in bytes.
    pub fn size(&self) -> u64 {
        self.file_sizes().sum()
    }
}
