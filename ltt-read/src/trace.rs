//! Traces: a schema and the tracefiles that it describes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::field::{self, Field, FieldStep};
use crate::format::Decoder;
use crate::grouping::tracefiles;
use crate::index::{self, Index, PacketTimes};
use crate::layout::tables::Tables;
use crate::metadata::{self, Diagnostic};
use crate::open::OpenOptions;
use crate::schema::{EventType, EventTypeId, Schema, Scope};
use crate::source::Source;
use crate::time::TimeSpan;
use crate::tracefile::Tracefile;
use crate::uuid::Uuid;

/// A trace: the data that one tracer recorded in one session.
///
/// A trace is immutable and shared by reference counting between any number of
/// [`Cursor`]s in any threads. Opening it reads the metadata. The layout of an event type
/// is compiled at its first event, and the packet index of a tracefile is built when it
/// is first needed.
///
/// ```
/// use ltt_read::Trace;
///
/// let trace = Trace::open(
///     # /*
///     "my-session/kernel",
///     # */
///     # concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel")
/// )?;
/// println!("recorded by {:?}", trace.schema().env_str("tracer_name"));
/// for tracefile in trace.tracefiles() {
///     println!("{} on CPU {:?}: {} bytes", tracefile.channel(), tracefile.cpu(), tracefile.size());
/// }
/// # assert_eq!(trace.tracefiles().len(), 16);
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug)]
pub struct Trace {
    paths: Vec<PathBuf>,
    decoder: Decoder,
    tracefiles: Vec<Tracefile>,
    warnings: Vec<Diagnostic>,
    /// The size in bytes up to which all events are read to determine the times of
    /// packets.
    verified: u64,
}

impl Trace {
    /// Opens the trace in one directory, which contains its `metadata` file, or is that
    /// of a [legacy](crate::legacy) trace.
    ///
    /// Only the metadata and the first packet of each file are read. Damage in data
    /// stream files is reported when reading reaches it. A file with several names in the
    /// directory is read once.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file cannot be opened, [`Error::Metadata`] if the metadata is
    /// invalid, [`Error::Unsupported`] if no decoder can be compiled from it.
    pub fn open(path: impl AsRef<Path>) -> Result<Arc<Trace>, Error> {
        OpenOptions::new().open(path)
    }

    /// Creates a trace from files in memory: the bytes of its metadata, and the name and
    /// bytes of each data stream file. This is for tests and for traces that are not in a
    /// file system.
    ///
    /// ```
    /// let metadata = br#"/* CTF 1.8 */
    ///     trace { major = 1; minor = 8; byte_order = le; };
    ///     event { name = "tick"; fields := struct { integer { size = 8; } n; }; };"#;
    /// let trace = ltt_read::Trace::from_memory(metadata, [("stream".to_owned(), vec![7, 8])])?;
    /// let mut cursor = trace.cursor(0);
    /// let tick = cursor.next()?.expect("an event a byte");
    /// assert_eq!(tick.field("n").and_then(|n| n.as_u64()), Some(7));
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Metadata`] if the metadata is invalid, [`Error::Unsupported`] if no decoder
    /// can be compiled from it.
    pub fn from_memory(
        metadata: &[u8],
        files: impl IntoIterator<Item = (String, Vec<u8>)>,
    ) -> Result<Arc<Trace>, Error> {
        let wrong = |e| Error::Metadata { path: "metadata".into(), error: Box::new(e) };
        let parsed = metadata::parse(metadata).map_err(wrong)?;
        let files = files.into_iter().filter(|(_, bytes)| !bytes.is_empty());
        let files = files.map(|(name, bytes)| (name.into(), Source::in_memory(bytes)));
        Trace::new(vec![PathBuf::new()], parsed, files).map(Arc::new)
    }

    /// Creates a trace from its parsed metadata and its files.
    pub(crate) fn new(
        paths: Vec<PathBuf>,
        parsed: metadata::Parsed,
        files: impl IntoIterator<Item = (PathBuf, Source)>,
    ) -> Result<Trace, Error> {
        let metadata::Parsed { schema, warnings, .. } = parsed;
        let decoder = Decoder::of_ctf(schema)
            .map_err(|kind| Error::Unsupported { path: paths[0].clone(), kind })?;
        let tracefiles = tracefiles(&decoder, files);
        Ok(Trace::from_tracefiles(paths, decoder, tracefiles, warnings))
    }

    /// Creates a trace from its parts. The tracefiles must be sorted.
    pub(crate) fn from_tracefiles(
        paths: Vec<PathBuf>,
        decoder: Decoder,
        tracefiles: Vec<Tracefile>,
        warnings: Vec<Diagnostic>,
    ) -> Trace {
        Trace { paths, decoder, tracefiles, warnings, verified: index::SMALL }
    }

    /// Sets the size in bytes up to which all events are read to determine the times of
    /// packets.
    pub(crate) fn verified_up_to(self, bytes: u64) -> Trace {
        Trace { verified: bytes, ..self }
    }

    /// Returns the schema: the contents of the metadata.
    pub fn schema(&self) -> &Schema {
        &self.decoder.schema
    }

    /// Returns the directory of the trace, the first one if there are several.
    pub fn path(&self) -> &Path {
        &self.paths[0]
    }

    /// Returns all directories of the trace; several if the session was rotated.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Returns the UUID of the trace; `None` if the metadata has none.
    pub fn uuid(&self) -> Option<Uuid> {
        self.schema().uuid
    }

    /// Returns the tracefiles, sorted by channel and CPU. The index in this slice is the
    /// number of the tracefile in all other functions. Empty files are left out.
    pub fn tracefiles(&self) -> &[Tracefile] {
        &self.tracefiles
    }

    /// Returns an event type.
    ///
    /// # Panics
    ///
    /// If the id is out of range, which happens only if it comes from another trace.
    pub fn event_type(&self, id: EventTypeId) -> &EventType {
        &self.schema().event_types[id.index()]
    }

    /// Iterates over the event types with a name. Each stream class may have one.
    pub fn event_types_named<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = EventTypeId> + 'a {
        let named = move |(_, e): &(u32, &EventType)| e.name() == name;
        (0..).zip(&self.schema().event_types).filter(named).map(|(i, _)| EventTypeId(i))
    }

    /// Finds a field of an event type by its path from the root of a scope: `name`,
    /// `outer.inner`, `array[2]`, `array[2].inner`. The selected field of a variant is
    /// found by the name of its option, or by a path without the variant. Returns `None`
    /// if there is no such field.
    ///
    /// Names are those of [`schema`](crate::schema), which in CTF 1.8 lack the underscore
    /// that keeps them apart from keywords. If a format before CTF has two fields of one
    /// name, the first one is found.
    ///
    /// ```
    /// use ltt_read::schema::Scope;
    ///
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// let switch = trace.event_types_named("sched_switch").next().expect("a kernel trace");
    /// assert!(trace.field(switch, Scope::Payload, "prev_tid").is_some());
    /// assert!(trace.field(switch, Scope::CommonContext, "procname").is_none());
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn field(&self, event_type: EventTypeId, scope: Scope, path: &str) -> Option<Field> {
        self.field_at(event_type, scope, &field::parse(path)?)
    }

    /// Finds a field of an event type by the steps of its path, like
    /// [`field`](Self::field). This supports names that contain a dot or a bracket, and
    /// options of variants without a name.
    ///
    /// ```
    /// use ltt_read::{FieldStep, schema::Scope};
    ///
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// let switch = trace.event_types_named("sched_switch").next().expect("a kernel trace");
    /// let path = [FieldStep::Name("prev_tid".to_owned())];
    /// assert!(trace.field_at(switch, Scope::Payload, &path).is_some());
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn field_at(
        &self,
        event_type: EventTypeId,
        scope: Scope,
        path: &[FieldStep],
    ) -> Option<Field> {
        field::find(self.schema(), self.tables(), event_type, scope, path)
    }

    /// Returns the warnings about the metadata text.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Creates a cursor before the first event of a tracefile.
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn cursor(self: &Arc<Self>, tracefile: usize) -> Cursor {
        Cursor::new(self.clone(), tracefile)
    }

    /// Returns the packet index of a tracefile. It is built by the first call or seek,
    /// and kept. Without an index file, this reads the header and context of each packet
    /// of the tracefile.
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn packet_index(&self, tracefile: usize) -> &Index {
        let t = &self.tracefiles[tracefile];
        t.index.get(self, t)
    }

    /// Returns the times of the events in each packet of a tracefile, on which seeking
    /// relies. They are determined by the first call or seek, and kept: from the [packet
    /// index](Self::packet_index) if it is reliable, otherwise by reading all events of
    /// the tracefile.
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn packet_times(self: &Arc<Self>, tracefile: usize) -> &PacketTimes {
        index::times(self, tracefile)
    }

    /// Returns the time span of the trace, from the earliest start of a tracefile to the
    /// latest end. `None` if no tracefile has times.
    ///
    /// This takes the time of a first seek in each tracefile: reading all events of a small
    /// trace, otherwise the header and context of each packet, or LTTng's index files. See
    /// [`time_span_of`](Self::time_span_of) for the exceptions.
    ///
    /// ```
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// let span = trace.time_span().expect("events with times");
    /// println!("{} to {}: {} ns", span.start, span.end, span.end.since(span.start));
    /// # assert!(span.start < span.end);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn time_span(self: &Arc<Self>) -> Option<TimeSpan> {
        let spans = (0..self.tracefiles.len()).filter_map(|t| self.time_span_of(t));
        spans.reduce(TimeSpan::join)
    }

    /// Returns the time span of a tracefile: that of its [packet
    /// times](Self::packet_times), or that of its events if the end of its last packet is
    /// unknown. `None` if it has no times.
    ///
    /// The packet times are kept. If the end of the last packet is unknown, each call reads
    /// all events of the tracefile, and packets with errors are skipped.
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn time_span_of(self: &Arc<Self>, tracefile: usize) -> Option<TimeSpan> {
        index::time_span(self, tracefile)
    }

    /// Returns `true` if the trace is so small that packet times are read from its
    /// events.
    pub(crate) fn is_small(&self) -> bool {
        self.tracefiles.iter().map(Tracefile::size).sum::<u64>() <= self.verified
    }

    pub(crate) fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.decoder.tables
    }
}
