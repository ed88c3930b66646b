//! Traces: a schema and the tracefiles that follow it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::cursor::Cursor;
use crate::discover::{data_files, find_traces};
use crate::error::Error;
use crate::field::{self, Field, FieldStep};
use crate::index::Index;
use crate::layout::program::Scratch;
use crate::layout::tables::Tables;
use crate::legacy;
use crate::metadata::{self, Diagnostic};
use crate::packet::Packet;
use crate::schema::{EventType, EventTypeId, Schema, Scope, StreamClassId};
use crate::source::{Access, Source};
use crate::time::Timestamp;
use crate::tracefile::{DataFile, Tracefile, split_name};
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
}

/// How to open traces.
///
/// ```
/// use ltt_read::{Access, OpenOptions};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// // The files of this trace may be overwritten while it is read.
/// let traces = OpenOptions::new().access(Access::Read).open_all(path)?;
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenOptions {
    access: Access,
}

impl OpenOptions {
    /// The defaults: files are mapped.
    pub fn new() -> Self {
        Self::default()
    }

    /// How to reach the bytes of data stream files.
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Opens the trace in one directory. See [`Trace::open`].
    ///
    /// # Errors
    ///
    /// As [`Trace::open`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Arc<Trace>, Error> {
        let path = path.as_ref();
        if is_legacy(path) {
            return legacy::open(path, self.access).map(Arc::new);
        }
        let parsed = parse_metadata(path, self.access)?;
        Ok(Arc::new(Trace::from_parts(vec![path.to_owned()], parsed, self.access)?))
    }

    /// Opens all traces at or below a directory. See [`open_all`].
    ///
    /// # Errors
    ///
    /// As [`open_all`].
    pub fn open_all(&self, path: impl AsRef<Path>) -> Result<Vec<Arc<Trace>>, Error> {
        let mut groups: Vec<(Vec<PathBuf>, metadata::Parsed)> = Vec::new();
        let mut traces = Vec::new();
        for dir in find_traces(path)? {
            if is_legacy(&dir) {
                traces.push(legacy::open(&dir, self.access).map(Arc::new)?);
                continue;
            }
            let parsed = parse_metadata(&dir, self.access)?;
            let uuid = parsed.schema.uuid;
            let same = groups.iter_mut().find(|(_, p)| uuid.is_some() && p.schema.uuid == uuid);
            match same {
                Some((dirs, known)) => {
                    dirs.push(dir);
                    // Metadata grows during a session: the longest knows all.
                    if parsed.schema.event_types.len() > known.schema.event_types.len() {
                        *known = parsed;
                    }
                }
                None => groups.push((vec![dir], parsed)),
            }
        }
        let open = |(dirs, parsed)| Trace::from_parts(dirs, parsed, self.access).map(Arc::new);
        for group in groups {
            traces.push(open(group)?);
        }
        traces.sort_by(|a, b| a.paths[0].cmp(&b.paths[0]));
        Ok(traces)
    }
}

/// Opens all traces at or below a directory, such as those of a whole LTTng
/// session.
///
/// Directories whose traces have the same UUID are one trace: LTTng makes
/// them when it rotates a session. The traces come sorted by path.
///
/// # Errors
///
/// [`Error::NotATrace`] if there is no trace, otherwise whatever keeps one of
/// them from being opened.
pub fn open_all(path: impl AsRef<Path>) -> Result<Vec<Arc<Trace>>, Error> {
    OpenOptions::new().open_all(path)
}

impl Trace {
    /// Opens the trace in one directory: the one with its `metadata` file, or
    /// that of a [`legacy`] trace.
    ///
    /// Only the metadata and the first packet of each file are read. Damage
    /// in data stream files is reported when it is reached, not here.
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
        let files = files.map(|(name, bytes)| Ok((name.into(), Source::in_memory(bytes))));
        Trace::new(vec![PathBuf::new()], parsed, files).map(Arc::new)
    }

    fn from_parts(
        paths: Vec<PathBuf>,
        parsed: metadata::Parsed,
        access: Access,
    ) -> Result<Trace, Error> {
        let mut files = Vec::new();
        for path in &paths {
            files.append(&mut data_files(path)?);
        }
        let open = |path: PathBuf| Source::open(&path, access).map(|source| (path, source));
        Trace::new(paths, parsed, files.into_iter().map(open))
    }

    fn new(
        paths: Vec<PathBuf>,
        parsed: metadata::Parsed,
        files: impl Iterator<Item = Result<(PathBuf, Source), Error>>,
    ) -> Result<Trace, Error> {
        let metadata::Parsed { schema, warnings, .. } = parsed;
        let tables = Tables::new(&schema, None)
            .map_err(|kind| Error::Unsupported { path: paths[0].clone(), kind })?;
        let mut tracefiles: Vec<Tracefile> = Vec::new();
        for file in files {
            let (path, source) = file?;
            add_file(&mut tracefiles, &schema, &tables, &path, source);
        }
        for t in &mut tracefiles {
            t.files.sort_by(|a, b| a.key().cmp(&b.key()));
        }
        name_tracefiles(&mut tracefiles);
        tracefiles.sort_by(|a, b| {
            let key = |t: &Tracefile| (t.channel.clone(), t.cpu, t.files[0].path.clone());
            key(a).cmp(&key(b))
        });
        Ok(Trace { paths, schema, tables, tracefiles, warnings })
    }

    /// A trace of these parts, all sorted.
    pub(crate) fn from_tracefiles(
        paths: Vec<PathBuf>,
        schema: Schema,
        tables: Tables,
        tracefiles: Vec<Tracefile>,
        warnings: Vec<Diagnostic>,
    ) -> Trace {
        Trace { paths, schema, tables, tracefiles, warnings }
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
        t.index.get_or_init(|| Index::build(&self.schema, &self.tables, t))
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.tables
    }
}

/// Whether a directory is a trace of a format before CTF.
fn is_legacy(dir: &Path) -> bool {
    !dir.join("metadata").is_file() && legacy::is_trace(dir)
}

fn parse_metadata(dir: &Path, access: Access) -> Result<metadata::Parsed, Error> {
    let path = dir.join("metadata");
    let source = Source::open(&path, access)?;
    metadata::parse(source.bytes()).map_err(|e| Error::Metadata { path, source: Box::new(e) })
}

/// Sets name, channel and CPU of tracefiles by the names of their files.
fn name_tracefiles(tracefiles: &mut [Tracefile]) {
    let name =
        |file: &DataFile| file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut rotated = Vec::new();
    for t in &mut *tracefiles {
        t.name = name(&t.files[0]);
        if t.files.iter().any(|f| name(f) != t.name) {
            rotated.push(split_name(&t.name, true).0.to_owned());
        }
    }
    for t in tracefiles {
        // Of a channel whose files rotate, some streams may have only one yet.
        let (channel, cpu) = match split_name(&t.name, true) {
            (channel, cpu) if rotated.iter().any(|r| r == channel) => (channel, cpu),
            _ => split_name(&t.name, false),
        };
        (t.channel, t.cpu) = (channel.to_owned(), cpu);
    }
}

/// Adds a file to the tracefile that its first packet belongs to.
fn add_file(
    tracefiles: &mut Vec<Tracefile>,
    schema: &Schema,
    tables: &Tables,
    path: &Path,
    source: Source,
) {
    let first = Packet::read(schema, tables, source.bytes(), 0, 0, 0, &mut Scratch::default()).ok();
    let file_name = path.file_name().unwrap_or_default();
    let mut index_name = file_name.to_owned();
    index_name.push(".idx");
    let file = DataFile {
        path: path.into(),
        index_path: path.with_file_name("index").join(index_name),
        first_begin: first.as_ref().map(|p| p.begin.unwrap_or(Timestamp::MIN)),
        source: Arc::new(source),
        legacy: None,
    };
    let (class, id): (Option<StreamClassId>, _) =
        first.map_or((None, None), |p| (Some(p.stream_class), p.stream_id));
    // Without a stream id, nothing tells that two files are one stream.
    let same = |t: &&mut Tracefile| id.is_some() && t.stream_class == class && t.stream_id == id;
    match tracefiles.iter_mut().find(same) {
        Some(t) => t.files.push(file),
        None => tracefiles.push(Tracefile {
            name: String::new(),
            channel: String::new(),
            cpu: None,
            process: None,
            stream_class: class,
            stream_id: id,
            files: vec![file],
            index: OnceLock::new(),
        }),
    }
}
