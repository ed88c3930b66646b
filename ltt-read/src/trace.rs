//! Traces: a schema and the tracefiles that follow it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::field::{self, Field, FieldStep};
use crate::grouping::tracefiles;
use crate::index::{self, Index, PacketTimes};
use crate::layout::tables::Tables;
use crate::metadata::{self, Diagnostic};
use crate::open::OpenOptions;
use crate::schema::{EventType, EventTypeId, Schema, Scope};
use crate::source::Source;
use crate::tracefile::Tracefile;
use crate::uuid::Uuid;

/// A trace: what one tracer recorded in one session.
///
/// It is immutable and shared by reference count between all that read it:
/// any number of [`Cursor`]s, in any threads. Opening it reads the metadata; the
/// layouts of event types are compiled when their first event comes, packet
/// indexes when they are first needed.
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
    schema: Schema,
    tables: Tables,
    tracefiles: Vec<Tracefile>,
    warnings: Vec<Diagnostic>,
    /// Up to how many bytes it is read to know the times of its packets.
    verified: u64,
}

impl Trace {
    /// Opens the trace in one directory: the one with its `metadata` file, or
    /// that of a [legacy](crate::legacy) trace.
    ///
    /// Only the metadata and the first packet of each file are read. Damage
    /// in data stream files is reported when it is reached, not here. A file that
    /// several names in the directory lead to is read once.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if files cannot be opened, [`Error::Metadata`] if the
    /// metadata cannot be understood, [`Error::Unsupported`] if no decoder can
    /// be made for it.
    pub fn open(path: impl AsRef<Path>) -> Result<Arc<Trace>, Error> {
        OpenOptions::new().open(path)
    }

    /// A trace whose files are in memory: the bytes of its metadata, then name
    /// and bytes of each data stream file. For tests, and for traces that come
    /// from elsewhere than a file system.
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
    /// [`Error::Metadata`] if the metadata cannot be understood,
    /// [`Error::Unsupported`] if no decoder can be made for it.
    pub fn from_memory(
        metadata: &[u8],
        files: impl IntoIterator<Item = (String, Vec<u8>)>,
    ) -> Result<Arc<Trace>, Error> {
        let error = |e| Error::Metadata { path: "metadata".into(), source: Box::new(e) };
        let parsed = metadata::parse(metadata).map_err(error)?;
        let files = files.into_iter().filter(|(_, bytes)| !bytes.is_empty());
        let files = files.map(|(name, bytes)| (name.into(), Source::in_memory(bytes)));
        Trace::new(vec![PathBuf::new()], parsed, files).map(Arc::new)
    }

    /// A trace of what its metadata says, and of its files.
    pub(crate) fn new(
        paths: Vec<PathBuf>,
        parsed: metadata::Parsed,
        files: impl IntoIterator<Item = (PathBuf, Source)>,
    ) -> Result<Trace, Error> {
        let metadata::Parsed { schema, warnings, .. } = parsed;
        let tables = Tables::new(&schema, None)
            .map_err(|kind| Error::Unsupported { path: paths[0].clone(), kind })?;
        let tracefiles = tracefiles(&schema, &tables, files);
        Ok(Trace::from_tracefiles(paths, schema, tables, tracefiles, warnings))
    }

    /// A trace of these parts, all sorted.
    pub(crate) fn from_tracefiles(
        paths: Vec<PathBuf>,
        schema: Schema,
        tables: Tables,
        tracefiles: Vec<Tracefile>,
        warnings: Vec<Diagnostic>,
    ) -> Trace {
        Trace { paths, schema, tables, tracefiles, warnings, verified: index::SMALL }
    }

    /// Sets up to how many bytes it is read to know the times of its packets.
    pub(crate) fn verified_up_to(self, bytes: u64) -> Trace {
        Trace { verified: bytes, ..self }
    }

    /// What its metadata declares.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Its (first) directory.
    pub fn path(&self) -> &Path {
        &self.paths[0]
    }

    /// All directories that it is made of.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Its UUID, if the metadata has one.
    pub fn uuid(&self) -> Option<Uuid> {
        self.schema.uuid
    }

    /// Its tracefiles, sorted by channel and CPU. Their place in this slice is
    /// the number by which they are meant elsewhere. Empty files are left out.
    pub fn tracefiles(&self) -> &[Tracefile] {
        &self.tracefiles
    }

    /// An event type.
    ///
    /// # Panics
    ///
    /// If the id is of another trace, and this one has fewer types.
    pub fn event_type(&self, id: EventTypeId) -> &EventType {
        &self.schema.event_types[id.index()]
    }

    /// All event types of this name: each stream class may have one.
    pub fn event_types_named<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = EventTypeId> + 'a {
        let named = move |(_, e): &(u32, &EventType)| e.name() == name;
        (0..).zip(&self.schema.event_types).filter(named).map(|(i, _)| EventTypeId(i))
    }

    /// The handle of a field of an event type, by its path from the root of a
    /// scope: `name`, `outer.inner`, `array[2]`, `array[2].inner`. A variant's
    /// chosen field is reached by option name, or as if the variant were it.
    /// `None` if there is no such field.
    ///
    /// Names are those of [`schema`](crate::schema): in CTF 1.8 without the
    /// underscore that keeps them apart from keywords. Where formats before CTF have
    /// two fields of one name, it is the first of them.
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

    /// As [`field`](Self::field), with the path in steps: for names that hold a
    /// dot or a bracket, and for options of variants that have no name.
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
        field::find(&self.schema, &self.tables, event_type, scope, path)
    }

    /// Oddities of the metadata text that did not prevent understanding it.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// A cursor before the first event of a tracefile.
    ///
    /// # Panics
    ///
    /// If there is no tracefile of this number.
    pub fn cursor(self: &Arc<Self>, tracefile: usize) -> Cursor {
        Cursor::new(self.clone(), tracefile)
    }

    /// The packet index of a tracefile, made when first asked for (by seeking,
    /// too) and kept. Without an index file this reads header and context of each
    /// of its packets.
    ///
    /// # Panics
    ///
    /// If there is no tracefile of this number.
    pub fn packet_index(&self, tracefile: usize) -> &Index {
        let t = &self.tracefiles[tracefile];
        t.index.get(self, t)
    }

    /// Returns between which times the events of a tracefile's packets happened. Seeking
    /// relies on this. It is found out when first asked for, and kept: from the
    /// [packet index](Self::packet_index) if that can be believed, otherwise by reading all
    /// events of the tracefile.
    ///
    /// # Panics
    ///
    /// If there is no tracefile of this number.
    pub fn packet_times(self: &Arc<Self>, tracefile: usize) -> &PacketTimes {
        index::times(self, tracefile)
    }

    /// Whether it is so small that the times of its packets are those of their events.
    pub(crate) fn is_small(&self) -> bool {
        self.tracefiles.iter().map(Tracefile::size).sum::<u64>() <= self.verified
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.tables
    }
}
