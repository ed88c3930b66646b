//! A trace that is still being recorded, as a sequence of versions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::growing_schema::{self, Refusal};
use super::stream::{Packets, Stream};
use crate::base::time::Timestamp;
use crate::format::{Decoder, FileKind};
use crate::merge::Merge;
use crate::metadata::{self, Declarations, Diagnostic};
use crate::report::Error;
use crate::schema::StreamClassId;
use crate::trace::{Trace, Tracefile, TracefileIndex};

/// A trace that is still being recorded.
///
/// The caller adds metadata and packets as they arrive. [`version`](Self::version) returns an
/// immutable [`Trace`] of all that has arrived. Each version extends the previous one: the ids of event
/// types and the indices of tracefiles stay the same, [`Field`](crate::Field) handles stay
/// valid, and a [`Merge`](crate::Merge) or [`Cursor`](crate::Cursor) of one version continues
/// with the next.
///
/// A tracefile is *growing* until it is [complete](Self::complete). Where the data of a
/// growing tracefile ends, reading it is *pending*: a merge delivers no later event of other
/// tracefiles, because earlier ones may still arrive, unless something says that none will:
/// the end of a packet of LTTng or [`silent_until`](Self::silent_until).
///
/// ```
/// use ltt_read::{GrowingTrace, Merge};
///
/// let metadata = br#"/* CTF 1.8 */
///     trace { major = 1; minor = 8; byte_order = le; };
///     event { name = "tick"; fields := struct { integer { size = 8; } n; }; };"#;
/// let mut trace = GrowingTrace::new("ticks", metadata)?;
/// let stream = trace.add_tracefile("stream");
/// let mut merge = Merge::new(&[trace.version().clone()]);
/// let mut ticks = Vec::new();
/// for part in [[1, 2], [3, 4]] {
///     trace.append(stream, part.to_vec());
///     merge.continue_with(&[trace.version().clone()]);
///     while let Some(event) = merge.next() {
///         ticks.extend(event.field("n").and_then(|n| n.as_u64()));
///     }
///     assert!(merge.is_pending());
///     trace.release(&merge, 0);
/// }
/// trace.complete(stream);
/// merge.continue_with(&[trace.version().clone()]);
/// assert!(merge.next().is_none() && !merge.is_pending());
/// assert_eq!(ticks, [1, 2, 3, 4]);
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug)]
pub struct GrowingTrace {
    path: PathBuf,
    decoder: Arc<Decoder>,
    streams: Vec<Stream>,
    version: Arc<Trace>,
    has_grown: bool,
}

impl GrowingTrace {
    /// Creates a trace without tracefiles from the first bytes of its metadata. Of packetized
    /// metadata, only whole packets are used. The path is for messages and names.
    ///
    /// # Errors
    ///
    /// [`Error::Metadata`] if the metadata is invalid or does not declare the trace yet,
    /// [`Error::Unsupported`] if no decoder can be compiled from it.
    pub fn new(path: impl Into<PathBuf>, metadata: &[u8]) -> Result<GrowingTrace, Error> {
        let path = path.into();
        let Declarations { schema, warnings, .. } = parse(&path, metadata)?;
        let unsupported = |kind| Error::Unsupported { path: path.clone(), kind };
        let decoder = growing_schema::decoder(schema).map_err(unsupported)?;
        Ok(GrowingTrace::of_decoder(&path, decoder, warnings))
    }

    /// Creates a trace without tracefiles of which everything but its packets is known.
    pub(crate) fn of_decoder(path: &Path, decoder: Decoder, warnings: Vec<Diagnostic>) -> Self {
        let path = path.to_owned();
        let version = Trace::growing(path.clone(), decoder, warnings);
        let decoder = version.decoder().clone();
        let (streams, version) = (Vec::new(), Arc::new(version));
        GrowingTrace { path, decoder, streams, version, has_grown: false }
    }

    /// Replaces the metadata by a longer one that starts with what was known. Returns `true` if
    /// it declares more. The offsets of clocks are those of the first metadata, so that times
    /// never change.
    ///
    /// # Errors
    ///
    /// [`Error::Metadata`] if the metadata is invalid, [`Error::MetadataChanged`] if it does
    /// not start with what was known, [`Error::Unsupported`] if no decoder can be compiled from
    /// it. The trace continues with its previous metadata.
    pub fn extend_metadata(&mut self, metadata: &[u8]) -> Result<bool, Error> {
        let path = self.path.clone();
        let schema = parse(&path, metadata)?.schema;
        let decoder = growing_schema::grown(&self.decoder.schema, schema);
        let decoder = decoder.map_err(|refusal| match refusal {
            Refusal::Changed(reason) => Error::MetadataChanged { path, reason },
            Refusal::Layout(kind) => Error::Unsupported { path, kind },
        })?;
        let Some(mut decoder) = decoder else { return Ok(false) };
        decoder.id = self.decoder.id;
        self.decoder = Arc::new(decoder);
        self.has_grown = true;
        for stream in &mut self.streams {
            stream.admit(&self.decoder, false);
        }
        Ok(true)
    }

    /// Adds a tracefile without data. `name` is the name of its file, such as `channel0_3`.
    pub fn add_tracefile(&mut self, name: &str) -> TracefileIndex {
        self.add_tracefile_of(Tracefile::growing(name))
    }

    /// Adds a tracefile without data.
    pub(crate) fn add_tracefile_of(&mut self, tracefile: Tracefile) -> TracefileIndex {
        self.has_grown = true;
        self.streams.push(Stream::new(tracefile));
        TracefileIndex(self.streams.len() - 1)
    }

    /// Adds whole packets after all others of a tracefile. Those of a stream class that is
    /// not declared yet wait until it is. A tracefile that is complete does not change.
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn append(&mut self, tracefile: TracefileIndex, packets: Vec<u8>) {
        let stream = &self.streams[tracefile.0];
        let file = self.path.join(stream.tracefile.name()).into();
        let begin = stream.end();
        let kind = FileKind::Ctf;
        self.append_packets(tracefile, Packets { file, bytes: packets, begin, kind });
    }

    /// Adds whole packets of a file after all others of a tracefile.
    pub(crate) fn append_packets(&mut self, tracefile: TracefileIndex, packets: Packets) {
        self.streams[tracefile.0].append(&self.decoder, packets);
        self.has_grown = true;
    }

    /// Notes that all events of a tracefile that are still to come are at `time` or later.
    /// Later calls can only raise the time. If such an event arrives nevertheless, a merge
    /// delivers it at once, with a [notice](crate::NoticeKind::LateEvents).
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn silent_until(&mut self, tracefile: TracefileIndex, time: Timestamp) {
        self.has_grown |= self.streams[tracefile.0].silent_until(time);
    }

    /// Converts a value of the default clock of a stream class, given by the id in its packets,
    /// to a time; `None` if the class is not declared yet or has no clock.
    pub fn time_of(&self, stream_class: u64, cycles: u64) -> Option<Timestamp> {
        let StreamClassId(class) = self.decoder.tables.stream(Some(stream_class)).ok()?;
        self.decoder.tables.streams.get(class as usize)?.clock.as_ref()?.timestamp(cycles)
    }

    /// Notes that a tracefile has all of its data.
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn complete(&mut self, tracefile: TracefileIndex) {
        self.streams[tracefile.0].complete(&self.decoder);
        self.has_grown = true;
    }

    /// Notes that all tracefiles have all of their data, and that no tracefile follows.
    pub fn complete_all(&mut self) {
        (0..self.streams.len()).for_each(|at| self.complete(TracefileIndex(at)));
    }

    pub(crate) fn decoder(&self) -> &Arc<Decoder> {
        &self.decoder
    }

    /// Returns the latest time up to which something is known of a tracefile;
    /// [`Timestamp::MIN`] if nothing is known.
    pub(crate) fn known_until(&self) -> Timestamp {
        self.streams.iter().map(Stream::latest).max().unwrap_or(Timestamp::MIN)
    }

    /// Returns `true` if more data of a tracefile may follow.
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn is_growing(&self, tracefile: TracefileIndex) -> bool {
        self.streams[tracefile.0].is_growing()
    }

    /// Returns the number of tracefiles.
    pub fn tracefiles(&self) -> usize {
        self.streams.len()
    }

    /// Returns the number of bytes of packets that are stored.
    #[cfg(feature = "live")]
    pub(crate) fn size(&self) -> u64 {
        self.streams.iter().map(|stream| stream.tracefile.size()).sum()
    }

    /// Forgets the data that a merge has delivered. `trace` is the index of this trace in the
    /// merge. Without this call, all data is kept in memory.
    pub fn release(&mut self, merge: &Merge, trace: usize) {
        for (tracefile, position) in merge.places(trace) {
            if let Some(stream) = self.streams.get_mut(tracefile.0) {
                stream.release_before(&self.decoder, position.file());
            }
        }
        self.has_grown = true;
    }

    /// Returns the trace as far as it has arrived.
    pub fn version(&mut self) -> &Arc<Trace> {
        if std::mem::take(&mut self.has_grown) {
            let tracefiles = self.streams.iter().map(|stream| stream.tracefile.with_other_times());
            let tracefiles: Vec<Tracefile> = tracefiles.collect();
            self.version = Arc::new(self.version.grown(self.decoder.clone(), tracefiles));
        }
        &self.version
    }
}

fn parse(path: &Path, metadata: &[u8]) -> Result<Declarations, Error> {
    Declarations::of(metadata::whole_packets(metadata))
        .map_err(|error| Error::Metadata { path: path.join("metadata"), error: Box::new(error) })
}
