//! Traces: a schema and the tracefiles that follow it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::cursor::Cursor;
use crate::discover::{data_files, find_traces};
use crate::error::Error;
use crate::field::{self, Field};
use crate::index::Index;
use crate::layout::program::Scratch;
use crate::layout::tables::Tables;
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
/// any number of [`Cursor`]s, in any threads.
#[derive(Debug)]
pub struct Trace {
    paths: Vec<PathBuf>,
    schema: Schema,
    tables: Tables,
    tracefiles: Vec<Tracefile>,
    warnings: Vec<Diagnostic>,
}

/// How to open traces.
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
        let parsed = parse_metadata(path)?;
        Ok(Arc::new(Trace::from_parts(vec![path.to_owned()], parsed, self.access)?))
    }

    /// Opens all traces at or below a directory. See [`open_all`].
    ///
    /// # Errors
    ///
    /// As [`open_all`].
    pub fn open_all(&self, path: impl AsRef<Path>) -> Result<Vec<Arc<Trace>>, Error> {
        let mut groups: Vec<(Vec<PathBuf>, metadata::Parsed)> = Vec::new();
        for dir in find_traces(path)? {
            let parsed = parse_metadata(&dir)?;
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
        groups.into_iter().map(open).collect()
    }
}

/// Opens all traces at or below a directory, e.g. of a whole LTTng session.
///
/// Directories whose traces have the same UUID are one trace: LTTng makes
/// them when it rotates a session.
///
/// # Errors
///
/// [`Error::NotATrace`] if there is no trace, otherwise whatever keeps one of
/// them from being opened.
pub fn open_all(path: impl AsRef<Path>) -> Result<Vec<Arc<Trace>>, Error> {
    OpenOptions::new().open_all(path)
}

impl Trace {
    /// Opens the trace in one directory: the one with its `metadata` file.
    ///
    /// Only the metadata and the first packet of each file are read. Damage
    /// in data stream files is reported when it is reached, not here.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if files cannot be opened, [`Error::Metadata`] if the
    /// metadata cannot be understood.
    pub fn open(path: impl AsRef<Path>) -> Result<Arc<Trace>, Error> {
        OpenOptions::new().open(path)
    }

    /// A trace whose files are in memory: the bytes of its metadata, then name
    /// and bytes of each data stream file. For tests, and for traces that come
    /// from elsewhere than a file system.
    ///
    /// # Errors
    ///
    /// [`Error::Metadata`] if the metadata cannot be understood.
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
        let tables = Tables::new(&schema)
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

    /// Its UUID.
    pub fn uuid(&self) -> Option<Uuid> {
        self.schema.uuid
    }

    /// Its tracefiles, sorted by channel and CPU.
    pub fn tracefiles(&self) -> &[Tracefile] {
        &self.tracefiles
    }

    /// An event type.
    pub fn event_type(&self, id: EventTypeId) -> &EventType {
        &self.schema.event_types[id.index()]
    }

    /// All event types of this name (streams may each have one).
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
    pub fn field(&self, event_type: EventTypeId, scope: Scope, path: &str) -> Option<Field> {
        field::find(&self.schema, &self.tables, event_type, scope, path)
    }

    /// Oddities of the metadata text.
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

    /// The packet index of a tracefile, made when first asked for.
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

fn parse_metadata(dir: &Path) -> Result<metadata::Parsed, Error> {
    let path = dir.join("metadata");
    let bytes = std::fs::read(&path).map_err(|source| Error::Io { path: path.clone(), source })?;
    metadata::parse(&bytes).map_err(|e| Error::Metadata { path, source: Box::new(e) })
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
            stream_class: class,
            stream_id: id,
            files: vec![file],
            index: OnceLock::new(),
        }),
    }
}
