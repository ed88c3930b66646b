//! Traces: a schema and the tracefiles that it describes.

mod build_ids;
mod data_file;
mod duplicates;
mod grouping;
mod growth;
mod index_types;
mod instances;
mod occurrences;
mod packet_index;
mod packet_times;
mod process_mappings;
mod short_names;
mod stored_text;
mod tracefile;
mod waypoints;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::base::clock_transform::ClockTransform;
use crate::base::source::FileBytes;
use crate::base::uuid::Uuid;
use crate::format::Decoder;
use crate::metadata::{Declarations, Diagnostic};
use crate::report::Error;
use crate::schema::{ClockClass, EventType, EventTypeId, Schema};

pub(crate) use grouping::FirstPacket;
use grouping::tracefiles;
use occurrences::Occurrences;
use short_names::ShortNames;

pub use build_ids::BuildId;
pub(crate) use data_file::{Before, DataFile, FilePart};
pub(crate) use duplicates::{DuplicateRun, Duplicates, files_overlap, times_overlap};
pub(crate) use growth::Growth;
pub use index_types::{TraceIndex, TracefileIndex, TracefileNumber};
pub(crate) use packet_index::{Declared, Indexes};
pub use packet_index::{Index, IndexEntry};
pub use packet_times::PacketTimes;
pub(crate) use packet_times::TimedPacket;
pub use process_mappings::ProcessMapping;
pub(crate) use stored_text::StoredText;
pub use tracefile::{Tracefile, UserProcess};
pub use waypoints::Waypoints;
pub(crate) use waypoints::{Waypoint, mark};

/// The default of
/// [`OpenOptions::verify_times_up_to`](crate::OpenOptions::verify_times_up_to), in bytes.
pub(crate) const SMALL: u64 = 16 << 20;

/// A trace: the data that one tracer recorded in one session.
///
/// A trace is immutable and shared by reference counting between any number of
/// [`Cursor`](crate::Cursor)s in any threads. Opening it reads the metadata. The layout of an event type
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
    decoder: Arc<Decoder>,
    tracefiles: Vec<Tracefile>,
    /// The size of all tracefiles in bytes.
    size: u64,
    warnings: Vec<Diagnostic>,
    /// The size in bytes up to which all events are read to determine the times of
    /// packets.
    verified: u64,
    /// The places within packets at which seeks may begin.
    waypoints: OnceLock<Waypoints>,
    short_names: OnceLock<ShortNames>,
    occurrences: Occurrences,
    kernel_symbols: Option<Arc<StoredText>>,
    thread_names: Option<Arc<StoredText>>,
    build_ids: Arc<[BuildId]>,
    process_mappings: Arc<[ProcessMapping]>,
}

impl Trace {
    /// Creates a trace from files in memory: the bytes of its metadata, and the name and
    /// bytes of each data stream file. This is for tests and for traces that are not in a
    /// file system.
    ///
    /// ```
    /// let metadata = br#"/* CTF 1.8 */
    ///     trace { major = 1; minor = 8; byte_order = le; };
    ///     event { name = "tick"; fields := struct { integer { size = 8; } n; }; };"#;
    /// let trace = ltt_read::Trace::from_memory(metadata, [("stream".to_owned(), vec![7, 8])])?;
    /// let mut cursor = trace.cursor(ltt_read::TracefileIndex(0));
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
        let declared = Declarations::of(metadata).map_err(wrong)?;
        let files = files.into_iter().filter(|(_, bytes)| !bytes.is_empty());
        let files = files.map(|(name, bytes)| (name.into(), FileBytes::in_memory(bytes)));
        Trace::new(vec![PathBuf::new()], declared, files).map(Arc::new)
    }

    /// Creates a trace from its parsed metadata and its files.
    pub(crate) fn new(
        paths: Vec<PathBuf>,
        declared: Declarations,
        files: impl IntoIterator<Item = (PathBuf, FileBytes)>,
    ) -> Result<Trace, Error> {
        let Declarations { schema, warnings, .. } = declared;
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
        Trace::from_parts(paths, Arc::new(decoder), tracefiles, warnings)
    }

    fn from_parts(
        paths: Vec<PathBuf>,
        decoder: Arc<Decoder>,
        tracefiles: Vec<Tracefile>,
        warnings: Vec<Diagnostic>,
    ) -> Trace {
        Trace {
            paths,
            decoder,
            size: size_of(&tracefiles),
            tracefiles,
            warnings,
            verified: SMALL,
            waypoints: OnceLock::new(),
            short_names: OnceLock::new(),
            occurrences: Occurrences::default(),
            kernel_symbols: None,
            thread_names: None,
            build_ids: Arc::default(),
            process_mappings: Arc::default(),
        }
    }

    /// Sets the build ids of files.
    pub(crate) fn with_build_ids(self, build_ids: Arc<[BuildId]>) -> Trace {
        Trace { build_ids, ..self }
    }

    /// Sets the memory of processes.
    pub(crate) fn with_process_mappings(self, process_mappings: Arc<[ProcessMapping]>) -> Trace {
        Trace { process_mappings, ..self }
    }

    /// Sets the names of the kernel's functions and those of threads.
    pub(crate) fn with_texts(
        self,
        kernel_symbols: Option<Arc<StoredText>>,
        thread_names: Option<Arc<StoredText>>,
    ) -> Trace {
        Trace { kernel_symbols, thread_names, ..self }
    }

    /// Creates the first version of a growing trace, without tracefiles.
    pub(crate) fn growing(path: PathBuf, decoder: Decoder, warnings: Vec<Diagnostic>) -> Trace {
        Trace::from_tracefiles(vec![path], decoder, Vec::new(), warnings)
    }

    /// Creates a version of the trace that has grown.
    pub(crate) fn grown(&self, decoder: Arc<Decoder>, tracefiles: Vec<Tracefile>) -> Trace {
        let (paths, warnings) = (self.paths.clone(), self.warnings.clone());
        Trace { verified: self.verified, ..Trace::from_parts(paths, decoder, tracefiles, warnings) }
    }

    /// Sets the size in bytes up to which all events are read to determine the times of
    /// packets.
    pub(crate) fn verified_up_to(self, bytes: u64) -> Trace {
        Trace { verified: bytes, ..self }
    }

    /// Returns a trace with the same data and other times: those of the clocks are transformed,
    /// each by the transform that `transform_of` returns for it. The data is shared.
    ///
    /// All times of the new trace are transformed: those of events, packets, indexes and
    /// notices, in reading, ordering and seeking alike. [`Event::cycles`](crate::Event::cycles)
    /// and [`Event::recorded_timestamp`](crate::Event::recorded_timestamp) still return what was
    /// recorded. The transforms take the place of earlier ones; they are not composed with them.
    /// A time out of the range of [`Timestamp`](crate::Timestamp) is an error where it occurs.
    ///
    /// ```
    /// use ltt_read::{ClockTransform, Timestamp, Trace, TracefileIndex};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
    /// let trace = Trace::open(path)?;
    /// let later = trace.with_clock_transforms(|_| ClockTransform::from_offset(1_000_000))?;
    /// let first = |trace| -> Result<_, ltt_read::Error> {
    ///     let mut cursor = Trace::cursor(trace, TracefileIndex(0));
    ///     let event = cursor.next()?.expect("an event");
    ///     Ok((event.timestamp(), event.recorded_timestamp()))
    /// };
    /// let (time, _) = first(&trace)?;
    /// assert_eq!(first(&later)?, (time.map(|time| time.saturating_add(1_000_000)), time));
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if no decoder can be compiled, which opening would have reported.
    pub fn with_clock_transforms(
        &self,
        transform_of: impl FnMut(&ClockClass) -> ClockTransform,
    ) -> Result<Arc<Trace>, Error> {
        let transforms = self.schema().clocks.iter().map(transform_of).collect();
        let unsupported = |kind| Error::Unsupported { path: self.paths[0].clone(), kind };
        let decoder = Arc::new(self.decoder.transformed(transforms).map_err(unsupported)?);
        let tracefiles = self.tracefiles.iter().map(Tracefile::with_other_times).collect();
        let (paths, warnings) = (self.paths.clone(), self.warnings.clone());
        let trace = Trace::from_parts(paths, decoder, tracefiles, warnings);
        let trace = trace.with_texts(self.kernel_symbols.clone(), self.thread_names.clone());
        let trace = trace.with_build_ids(self.build_ids.clone());
        let trace = trace.with_process_mappings(self.process_mappings.clone());
        Ok(Arc::new(trace.verified_up_to(self.verified)))
    }

    /// Returns the transforms of the clocks, in the order of
    /// [`Schema::clocks`](Schema::clocks). They are identities in a trace that was opened.
    pub fn clock_transforms(&self) -> &[ClockTransform] {
        &self.decoder.transforms
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

    /// Returns the tracefiles, sorted by channel and CPU. Their [`TracefileIndex`] is the
    /// index in this slice. Empty files are left out.
    pub fn tracefiles(&self) -> &[Tracefile] {
        &self.tracefiles
    }

    /// Returns a tracefile.
    ///
    /// # Panics
    ///
    /// If `index` is out of range.
    pub fn tracefile(&self, index: TracefileIndex) -> &Tracefile {
        &self.tracefiles[index.0]
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

    /// Returns the name of an event type without its system: `sched_switch` for
    /// `sched:sched_switch`. `None` if the trace is not one of ftrace or perf, whose names have
    /// this form, if the name has no system, or if several event types have this name.
    ///
    /// # Panics
    ///
    /// If the id is out of range.
    pub fn short_name(&self, id: EventTypeId) -> Option<&str> {
        let schema = self.schema();
        self.short_names.get_or_init(|| ShortNames::of(schema)).of_type(schema, id)
    }

    /// Returns the names of the kernel's functions that the recording contains, as in
    /// `/proc/kallsyms`: lines of an address in hexadecimal digits, the type, the name and, after a tab, the
    /// module in brackets. `None` if the recording contains none: only those of ftrace do.
    ///
    /// The text may have some megabytes. It is read from the file at each call.
    ///
    /// ```
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ftrace/synthetic.dat");
    /// let trace = ltt_read::Trace::open(path)?;
    /// let symbols = trace.kernel_symbols()?.expect("a recording of ftrace");
    /// // This small one was made without names.
    /// assert_eq!(symbols.len(), 0);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Section`] if the text was cut or cannot be decompressed.
    pub fn kernel_symbols(&self) -> Result<Option<Vec<u8>>, Error> {
        self.kernel_symbols.as_ref().map(|symbols| symbols.text()).transpose()
    }

    /// Returns the names of threads that the recording contains apart from its events: lines of the number of a thread
    /// and its name, which may contain blanks. They are the names that the threads had when the recording ended.
    /// `None` if the recording contains none: only those of ftrace do.
    ///
    /// ```
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ftrace/synthetic.dat");
    /// let trace = ltt_read::Trace::open(path)?;
    /// let names = trace.thread_names()?.expect("a recording of ftrace");
    /// assert!(names.starts_with(b"279 trace-cmd\n"));
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Section`] if the text was cut or cannot be decompressed.
    pub fn thread_names(&self) -> Result<Option<Vec<u8>>, Error> {
        self.thread_names.as_ref().map(|names| names.text()).transpose()
    }

    /// Returns the build ids of the files whose code is in samples, as far as the recording contains them: only
    /// those of perf do.
    pub fn build_ids(&self) -> &[BuildId] {
        &self.build_ids
    }

    /// Returns the files in the memory of processes, as far as the recording contains them apart from its events: those
    /// of ftrace do that were made with `trace-cmd record --proc-map`.
    pub fn process_mappings(&self) -> &[ProcessMapping] {
        &self.process_mappings
    }

    /// Returns the warnings about the metadata text.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Gives the memory of mapped files back to the operating system. What is read next is mapped
    /// again; the trace and its cursors stay valid.
    ///
    /// The pages of a file that were read stay in the memory of the process while the trace is
    /// open, until the system takes them away. A program that reads a long trace once, or that
    /// shows a trace for a long time, bounds its memory by calling this now and then, such as
    /// after each 100,000 events. The call takes some microseconds for each file.
    ///
    /// Files that were read into memory ([`Access::Read`](crate::Access::Read)) stay there. The
    /// call has no effect on systems other than Unix.
    ///
    /// ```
    /// use ltt_read::{Merge, Trace};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
    /// let trace = Trace::open(path)?;
    /// let mut merge = Merge::new(std::slice::from_ref(&trace));
    /// let mut events = 0_u64;
    /// while merge.next().is_some() {
    ///     events += 1;
    ///     if events.is_multiple_of(1000) {
    ///         trace.release_pages();
    ///     }
    /// }
    /// assert!(merge.finish().is_ok() && events > 5000);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn release_pages(&self) {
        for file in self.tracefiles.iter().flat_map(|tracefile| &tracefile.files) {
            file.source.release(0..u64::MAX);
        }
    }

    /// Gives the memory of a range of the bytes of a tracefile back, as [`release_pages`](Self::release_pages)
    /// does for all. The bytes are counted over all files of the tracefile. The range may exceed it.
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn release_bytes(&self, tracefile: TracefileIndex, bytes: Range<u64>) {
        for (source, range) in self.tracefile(tracefile).parts_of(bytes) {
            source.release(range);
        }
    }

    /// Lets seeks begin at waypoints, which another `Trace` of the same files with the same
    /// [transforms](Self::clock_transforms) has found. Returns `false` if they are those of
    /// another number of tracefiles, or if the trace has waypoints already.
    pub fn use_waypoints(&self, waypoints: Waypoints) -> bool {
        waypoints.tracefiles() == self.tracefiles.len() && self.waypoints.set(waypoints).is_ok()
    }

    /// Returns the waypoints of the trace, if it uses some.
    pub fn waypoints(&self) -> Option<&Waypoints> {
        self.waypoints.get()
    }

    /// Returns `true` if the trace is so small that packet times are read from its
    /// events.
    pub(crate) fn is_small(&self) -> bool {
        self.size <= self.verified
    }

    pub(crate) fn occurrences(&self) -> &Occurrences {
        &self.occurrences
    }

    pub(crate) fn decoder(&self) -> &Arc<Decoder> {
        &self.decoder
    }
}

fn size_of(tracefiles: &[Tracefile]) -> u64 {
    tracefiles.iter().map(Tracefile::size).sum()
}
