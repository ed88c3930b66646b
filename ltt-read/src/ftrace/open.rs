//! Opening of recordings: from a file to traces.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::buffer::{Buffer, CpuData, separate};
use super::chunk::{Chunk, Chunks};
use super::decode::{Decoder, FileKind};
use super::sections::{MAGIC, MAX_WARNINGS, Recording, TextPlace};
use crate::base::source::{Access, FileBytes, SharedBytes};
use crate::base::time::NS_PER_S;
use crate::files::findings::Findings;
use crate::files::once::FilesOnce;
use crate::format;
use crate::layout::record::{FieldPlace, FieldPlaces, RecordLayouts};
use crate::metadata::{Diagnostic, Span};
use crate::packet::Instance;
use crate::report::Error;
use crate::schema::{
    self, ClockClass, ClockOrigin, Dependency, DisplayBase, EnvValue, EventType, EventTypeId,
    FieldClass, Identity, Integer, Length, Member, Schema, StreamClass, StreamClassId,
};
use crate::trace::{Before, DataFile, FilePart, Indexes, StoredText, Trace, Tracefile};
use crate::tracepoint::classes::{Machine, PlacedMember, bytes, structure};
use crate::tracepoint::formats::{Field, Format};
use crate::tracepoint::input::{Fault, Input};

/// The name of the channel of the main buffer, which has none.
const MAIN: &str = "main";

/// The name of the type of events without a description.
const UNKNOWN: &str = "unknown";

/// The greatest number of event types of all buffers, each of which has a copy. Kernels have some
/// thousand types.
const MAX_TYPES: usize = 1 << 21;

/// The greatest size of a chunk of pages in bytes. A chunk has ten of them.
const MAX_CHUNK: u32 = 1 << 26;

/// The size of the number of chunks of a CPU in bytes.
const CHUNK_COUNT: u64 = 4;

/// Returns `true` if a file is a recording of ftrace. One that cannot be read is none.
pub(crate) fn is_recording(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    is_file
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && start == MAGIC
}

/// Returns `true` if a file is a recording that is complete. trace-cmd writes it when recording ends; while it does,
/// parts are missing.
pub(crate) fn is_complete(path: &Path) -> bool {
    let Ok(source) = FileBytes::open(path, Access::default()) else { return false };
    let len = source.bytes().len() as u64;
    let recording = Recording::read(source.bytes());
    recording.is_some_and(|recording| recording.is_ok_and(|recording| recording.is_complete(len)))
}

/// Opens the traces in a file, one for each buffer: first the main one, then the others in the order
/// of the file. There are none if the file is open already.
pub(crate) fn open(
    path: &Path,
    access: Access,
    once: &mut FilesOnce,
    findings: &mut Findings,
) -> Result<Vec<Trace>, Error> {
    match once.open(path, access, findings)? {
        Some(source) => assemble(path, Arc::new(source)),
        None => Ok(Vec::new()),
    }
}

/// Opens a recording whose file is in memory: a trace for each buffer, first the main one. For tests,
/// and for recordings from other sources than the file system.
///
/// # Errors
///
/// [`Error::NotATrace`] if this is no recording, [`Error::Section`] if it is damaged before its
/// pages, [`Error::Unsupported`] if no decoder can be compiled from it.
pub fn from_memory(file: Vec<u8>) -> Result<Vec<Arc<Trace>>, Error> {
    let traces = assemble(Path::new("trace.dat"), Arc::new(FileBytes::in_memory(file)))?;
    Ok(traces.into_iter().map(Arc::new).collect())
}

/// Creates the traces of a file.
pub(crate) fn assemble(path: &Path, file: Arc<FileBytes>) -> Result<Vec<Trace>, Error> {
    let wrong = |Fault { section, offset, reason }| Error::Section {
        path: path.to_owned(),
        section,
        offset,
        reason,
    };
    let reason = "it is no recording of ftrace";
    let recording = Recording::read(file.bytes());
    let recording = recording.ok_or(Error::NotATrace { path: path.to_owned(), reason })?;
    let mut recording = recording.map_err(wrong)?;
    let mut warnings = std::mem::take(&mut recording.warnings);
    warnings.extend(separate(&mut recording.buffers));
    let events = Events::new(&recording, &mut warnings);
    let most = (MAX_TYPES / events.types.len().max(1)).max(1);
    if recording.buffers.len() > most {
        warnings.insert(0, format!("there are too many buffers: only the first {most} are read"));
        recording.buffers.truncate(most);
    }
    warnings.truncate(MAX_WARNINGS);
    let text = |section, place: Option<TextPlace>, size_bytes| {
        place.map(|place| Arc::new(stored_text((section, place, size_bytes), path, &file)))
    };
    let kernel_symbols = text("kernel symbols", recording.kernel_symbols, 4);
    let thread_names = text("names of threads", recording.thread_names, 8);
    let mut opened = Vec::new();
    let chunks = Arc::new(Chunks::default());
    let mut assembly = Assembly { path: path.into(), file, chunks, next_chunk: 0 };
    for buffer in &recording.buffers {
        let warnings = if opened.is_empty() { std::mem::take(&mut warnings) } else { Vec::new() };
        opened.push(assembly.trace(&recording, &events, buffer, warnings)?);
    }
    if opened.is_empty() {
        let main = Buffer {
            name: String::new(),
            clock: None,
            page_size: 0,
            compression: None,
            cpus: Vec::new(),
        };
        opened.push(assembly.trace(&recording, &events, &main, warnings)?);
    }
    let mappings: Arc<[_]> = std::mem::take(&mut recording.options.process_mappings).into();
    let with_texts = |trace: Trace| {
        let trace = trace.with_texts(kernel_symbols.clone(), thread_names.clone());
        trace.with_process_mappings(mappings.clone())
    };
    Ok(opened.into_iter().map(with_texts).collect())
}

/// Returns a text of a section of a recording, after a size of some bytes, which is read when it is needed.
fn stored_text(
    (section, place, size_bytes): (&'static str, TextPlace, usize),
    path: &Path,
    file: &Arc<FileBytes>,
) -> StoredText {
    let TextPlace { offset, size, packed } = place;
    let end = offset.saturating_add(size);
    let len = file.bytes().len() as u64;
    let missing = end.saturating_sub(len);
    let source = SharedBytes::new(file.clone()).part(offset.min(len)..end.min(len));
    let packed = packed.map(|(compression, size)| Chunk {
        chunks: Arc::default(),
        compression,
        number: 0,
        size,
    });
    StoredText { section, path: path.to_owned(), offset, source, missing, packed, size_bytes }
}

/// The event types of a recording, the same in all buffers.
struct Events {
    common: Option<Arc<FieldClass>>,
    types: Vec<EventType>,
    places: Box<[FieldPlaces]>,
    unknown: EventTypeId,
}

impl Events {
    fn new(recording: &Recording, warnings: &mut Vec<String>) -> Events {
        let machine = recording.descriptions.machine;
        let common =
            recording.descriptions.formats.first().map(|(_, format)| common(&machine, format));
        let common = common.unwrap_or_default();
        let classes = |members: &[PlacedMember]| -> Vec<_> {
            members.iter().map(|(member, _)| member.clone()).collect()
        };
        let expected = classes(&common);
        let end_of_common =
            recording.descriptions.formats.first().map_or(2, |(_, format)| end(&format.common));
        let (mut types, mut places) = (Vec::new(), Vec::<FieldPlaces>::new());
        let mut known = vec![false; 1 << 16];
        for (system, format) in &recording.descriptions.formats {
            let name = format!("{system}:{}", format.name);
            let own = self::common(&machine, format);
            if classes(&own) != expected {
                warnings.push(format!("`{name}` has other common fields: its events are unknown"));
                continue;
            }
            if std::mem::replace(&mut known[usize::from(format.id)], true) {
                warnings.push(format!("`{name}` has the id {} of another event", format.id));
                continue;
            }
            let (payload, of_payload) = structure(machine.members(system, format));
            let of_common = own.into_iter().map(|(_, place)| place);
            places.push(of_common.chain(of_payload).collect());
            types.push(EventType {
                payload: Some(Arc::new(payload)),
                ..EventType::new(StreamClassId(0), format.id.into(), &name)
            });
        }
        let unknown = EventTypeId(types.len() as u32);
        let (payload, of_payload) = structure(unknown_fields(&machine, end_of_common));
        let of_common = common.iter().map(|(_, place)| *place);
        places.push(of_common.chain(of_payload).collect());
        types.push(EventType {
            payload: Some(Arc::new(payload)),
            ..EventType::new(StreamClassId(0), 1 << 16, UNKNOWN)
        });
        let (class, _) = structure(common);
        let common = (!class.members().is_empty()).then(|| Arc::new(class));
        Events { common, types, places: places.into(), unknown }
    }
}

/// Returns the members for the common fields of an event type, without the id.
fn common(machine: &Machine, format: &Format) -> Vec<PlacedMember> {
    let fields = format.common.iter().filter(|field| field.name != "common_type");
    fields.map(|field| machine.member(field, None)).collect()
}

/// Returns the end of some fields in bytes.
fn end(fields: &[Field]) -> u32 {
    fields.iter().map(|field| field.offset.saturating_add(field.size)).max().unwrap_or(2)
}

/// Returns the members of events without a description: the id, and the bytes from `begin` on.
fn unknown_fields(machine: &Machine, begin: u32) -> Vec<PlacedMember> {
    let member =
        |name: &str, class| Member { name: name.into(), class: Arc::new(class), attributes: None };
    let id = Integer { base: DisplayBase::Decimal, ..Integer::default() };
    let data = bytes(Length::Dynamic(Dependency::sibling("data_length")));
    vec![
        (member("id", FieldClass::integer(16, machine.order, id)), FieldPlace::At(0)),
        (member("data", data), FieldPlace::ToEnd(begin)),
    ]
}

/// The parts that the traces of a file share.
struct Assembly {
    path: Arc<Path>,
    file: Arc<FileBytes>,
    chunks: Arc<Chunks>,
    next_chunk: u64,
}

impl Assembly {
    /// Creates the trace of a buffer.
    fn trace(
        &mut self,
        recording: &Recording,
        events: &Events,
        buffer: &Buffer,
        mut warnings: Vec<String>,
    ) -> Result<Trace, Error> {
        let options = &recording.options;
        let clock = buffer.clock.as_deref().or(options.clock.as_deref()).unwrap_or("local");
        let scale = options.scale.filter(|_| matches!(clock, "tsc2nsec" | "x86-tsc"));
        let layouts = RecordLayouts {
            order: recording.descriptions.machine.order,
            scale,
            have_headers: true,
            places: events.places.clone(),
            sections: Box::new([]),
        };
        let long = recording.descriptions.machine.long.into();
        let decoder = Decoder::new(layouts, long, events.unknown);
        let schema = Schema {
            version: (recording.version, 0),
            identity: Identity {
                name: Some(buffer.name.as_str().into()).filter(|_| !buffer.name.is_empty()),
                ..Identity::default()
            },
            native_byte_order: recording.descriptions.machine.order,
            env: environment(recording, buffer),
            clocks: vec![clock_class(recording, clock, scale.is_some())],
            stream_classes: vec![StreamClass {
                default_clock: Some(0),
                common_context: events.common.clone(),
                ..StreamClass::new(0)
            }],
            event_types: events.types.clone(),
            ..Schema::new(schema::Format::Ftrace)
        };
        let path = self.path.to_path_buf();
        let decoder = format::Decoder::of_ftrace(schema, decoder)
            .map_err(|kind| Error::Unsupported { path: path.clone(), kind })?;
        let mut cpus = buffer.cpus.clone();
        cpus.sort_by_key(|data| data.cpu);
        let tracefiles = cpus.iter().map(|data| {
            let files = match buffer.compression {
                None => vec![self.plain(data, buffer.page_size)],
                Some(_) => self.packed(data, buffer, recording.descriptions.machine, &mut warnings),
            };
            let name = format!("cpu{}", data.cpu);
            let is_main = buffer.name.is_empty();
            Tracefile {
                name: if is_main { name } else { format!("{}/{name}", buffer.name) },
                channel: if is_main { MAIN } else { &buffer.name }.to_owned(),
                cpu: Some(data.cpu),
                process: None,
                instance: Some(Instance { class: StreamClassId(0), id: None, cpu: None }),
                files,
                growth: None,
                // No page is there twice.
                duplicates: OnceLock::from(crate::trace::Duplicates::default()),
                index: Indexes::default(),
            }
        });
        let tracefiles = tracefiles.collect();
        let warnings = warnings.into_iter();
        let warnings = warnings.map(|text| Diagnostic::warning(Span::default(), text)).collect();
        Ok(Trace::from_tracefiles(vec![path], decoder, tracefiles, warnings))
    }

    /// Creates the file of the pages of a CPU.
    fn plain(&self, data: &CpuData, page_size: u32) -> DataFile {
        self.data_file(data.offset, data.size, 0, page_size)
    }

    /// Creates the file of some bytes of the recording. Its first page has the number `packet`.
    fn data_file(&self, offset: u64, size: u64, packet: u64, page_size: u32) -> DataFile {
        let len = self.file.bytes().len() as u64;
        let begin = offset.min(len);
        let end = begin.saturating_add(size).min(len);
        DataFile {
            path: self.path.clone(),
            source: SharedBytes::new(self.file.clone()).part(begin..end),
            missing: size - (end - begin),
            packed: None,
            may_have_index: false,
            first_begin: None,
            kind: format::FileKind::Ftrace(FileKind { page_size }),
            begin: FilePart { offset, packet },
            before: Before::NOTHING,
        }
    }

    /// Creates the files of the compressed chunks of a CPU, as far as they can be found.
    fn packed(
        &mut self,
        data: &CpuData,
        buffer: &Buffer,
        machine: Machine,
        warnings: &mut Vec<String>,
    ) -> Vec<DataFile> {
        let mut files = Vec::new();
        let file = self.file.clone();
        let mut input = Input::at(file.bytes(), data.offset, machine.order, "chunks");
        // `trace-cmd convert` does not count the number of chunks.
        let end = data.offset.saturating_add(data.size).saturating_add(CHUNK_COUNT);
        let mut packet = 0;
        let result = (|| {
            for _ in 0..input.u32()? {
                let (packed, plain) = (input.u32()?, input.u32()?);
                let begin = input.offset();
                if plain > MAX_CHUNK {
                    return Err(input.fault("a chunk is too large"));
                }
                let mut chunk = self.data_file(begin, packed.into(), packet, buffer.page_size);
                if let Some(compression) = buffer.compression {
                    chunk.packed = Some(Chunk {
                        chunks: self.chunks.clone(),
                        compression,
                        number: self.next_chunk,
                        size: plain,
                    });
                }
                self.next_chunk += 1;
                packet += u64::from(plain / buffer.page_size.max(1));
                files.push(chunk);
                input.take(packed.into())?;
                if input.offset() > end {
                    return Err(input.fault("a chunk exceeds the data of its CPU"));
                }
            }
            Ok(())
        })();
        if let Err(Fault { section, offset, reason }) = result {
            warnings.push(format!("CPU {}: {section}, byte {offset}: {reason}", data.cpu));
        }
        files
    }
}

/// Returns the clock class of a buffer. `is_scaled` tells that its cycles are converted to ns.
fn clock_class(recording: &Recording, name: &str, is_scaled: bool) -> ClockClass {
    let options = &recording.options;
    let description = match name {
        "counter" => Some("counts events, not time"),
        "uptime" => Some("jiffies"),
        "x86-tsc" if !is_scaled => Some("cycles of unknown frequency, shown as ns"),
        _ => None,
    };
    ClockClass {
        description: description.map(Into::into),
        offset_seconds: options.offset.div_euclid(NS_PER_S as i64),
        offset_cycles: options.offset.rem_euclid(NS_PER_S as i64),
        origin: match options.has_date {
            true => ClockOrigin::UnixEpoch,
            false => ClockOrigin::Unknown,
        },
        ..ClockClass::new(name)
    }
}

/// Returns the environment, with the names of entries that LTTng uses.
fn environment(recording: &Recording, buffer: &Buffer) -> Vec<(Arc<str>, EnvValue)> {
    let options = &recording.options;
    let mut env = Vec::new();
    let mut add = |name: &str, text: &str| {
        if !text.is_empty() {
            env.push((name.into(), EnvValue::Str(text.to_owned())));
        }
    };
    add("domain", "kernel");
    let uname = options.uname.as_deref().unwrap_or("");
    let mut words = uname.split_whitespace();
    for name in ["sysname", "hostname", "kernel_release", "machine"] {
        add(name, words.next().unwrap_or(""));
    }
    add("tracer_name", "ftrace");
    add("tracer_version", options.version.as_deref().unwrap_or(""));
    add("buffer", &buffer.name);
    if let Some(id) = options.trace_id {
        add("trace_id", &format!("{id:#x}"));
    }
    env
}

/// Returns the path of the first recording of ftrace in a directory, by name; `None` if there is none.
pub(crate) fn recording_in(dir: &Path) -> Option<PathBuf> {
    let entries = crate::files::entries::entries(dir).ok()?;
    let paths = entries.into_iter().map(|entry| entry.path);
    paths.into_iter().find(|path| is_recording(path))
}
