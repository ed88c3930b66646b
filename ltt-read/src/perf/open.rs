//! Opening of recordings: from a file to a trace.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;

use super::attributes::Attribute;
use super::decode::{Decoder, FileKind, Parameters};
use super::header::{MAGIC, OLD_MAGIC, Recording};
use super::index::{Records, Run, Sequence, Source};
use super::kinds::Kind;
use super::samples::{PlacedType, record_type, sample_type};
use super::unpack::{Unpacked, unpack};
use crate::base::source::{Access, FileBytes, SharedBytes};
use crate::base::time::NS_PER_S;
use crate::files::findings::Findings;
use crate::files::once::FilesOnce;
use crate::format;
use crate::layout::record::RecordLayouts;
use crate::metadata::{Diagnostic, Span};
use crate::packet::Instance;
use crate::report::{DecodeError, Error};
use crate::schema::{
    self, ClockClass, ClockOrigin, EnvValue, EventTypeId, Schema, StreamClass, StreamClassId,
};
use crate::trace::{Before, DataFile, Duplicates, FilePart, Indexes, Trace, Tracefile};
use crate::tracepoint::classes::Machine;
use crate::tracepoint::input::Fault;

/// The name of the channel of all tracefiles.
const CHANNEL: &str = "perf";

/// The greatest number of fields of all samples, of which those of some thousand tracepoints have some
/// tens of thousands. The samples of further attributes are bytes.
const MAX_FIELDS: usize = 1 << 19;

/// The kind of records that stands for all that are not known.
const UNKNOWN: u32 = 0;

/// Returns `true` if a file is a recording of perf. One that cannot be read is none.
pub(crate) fn is_recording(path: &Path) -> bool {
    let mut start = [0; 8];
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    is_file
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && (MAGIC.contains(&&start) || start == *OLD_MAGIC)
}

/// Returns the path of the first recording of perf in a directory, by name; `None` if there is none.
pub(crate) fn recording_in(dir: &Path) -> Option<PathBuf> {
    let entries = crate::files::entries::entries(dir).ok()?;
    let paths = entries.into_iter().map(|entry| entry.path);
    paths.into_iter().find(|path| is_recording(path))
}

/// Opens the trace in a file, or in the directory that has it as its first file; `None` if the file is open
/// already.
pub(crate) fn open(
    path: &Path,
    access: Access,
    once: &mut FilesOnce,
    findings: &mut Findings,
) -> Result<Option<Trace>, Error> {
    let Some(source) = once.open(path, access, findings)? else { return Ok(None) };
    let mut parts = Vec::new();
    for path in paths_of_parts(path) {
        // A thread that has recorded nothing has an empty file.
        if let Some(source) = once.open(&path, access, findings)? {
            parts.push((path, Arc::new(source)));
        }
    }
    assemble_parts(path, Arc::new(source), parts).map(Some)
}

/// Returns `true` if a file is the first one of a recording of `perf record --threads`.
pub(crate) fn is_of_threads(first: &Path) -> bool {
    !paths_of_parts(first).is_empty()
}

/// Returns the paths of the further files of a recording of `perf record --threads`, in the order of their numbers.
fn paths_of_parts(first: &Path) -> Vec<PathBuf> {
    let is_first = first.file_name().is_some_and(|name| name == "data");
    let entries = first.parent().filter(|_| is_first).map(crate::files::entries::entries);
    let number = |path: &Path| -> Option<u32> {
        path.file_name()?.to_str()?.strip_prefix("data.")?.parse().ok()
    };
    let paths = entries.and_then(Result::ok).into_iter().flatten().map(|entry| entry.path);
    let mut parts: Vec<_> = paths.filter_map(|path| Some((number(&path)?, path))).collect();
    parts.sort();
    parts.into_iter().map(|(_, path)| path).collect()
}

/// Opens a recording whose file is in memory. For tests, and for recordings from other sources than the
/// file system, such as pipes.
///
/// # Errors
///
/// [`Error::NotATrace`] if this is no recording, [`Error::Section`] if it is damaged before its
/// records, [`Error::Unsupported`] if no decoder can be compiled from it.
pub fn from_memory(file: Vec<u8>) -> Result<Arc<Trace>, Error> {
    assemble(Path::new("perf.data"), Arc::new(FileBytes::in_memory(file))).map(Arc::new)
}

/// Creates the trace of a file.
pub(crate) fn assemble(path: &Path, file: Arc<FileBytes>) -> Result<Trace, Error> {
    assemble_parts(path, file, Vec::new())
}

/// A run of records: a part of a file, or unpacked from it.
struct Part {
    path: Arc<Path>,
    source: SharedBytes,
    /// The offset in the file of the first record; 0 if they were unpacked.
    begin: u64,
    /// The number of bytes that are known to be missing at the end.
    missing: u64,
    /// The damage that follows the records.
    damage: Option<DecodeError>,
}

impl Part {
    /// Reads the records in a range of a file.
    fn new(
        recording: &mut Recording,
        path: Arc<Path>,
        file: Arc<FileBytes>,
        range: &Range<u64>,
    ) -> Part {
        if let Some(Unpacked { bytes, damage }) = unpack(recording, file.bytes(), range) {
            let source = SharedBytes::in_memory(bytes);
            return Part { path, source, begin: 0, missing: 0, damage };
        }
        let len = file.bytes().len() as u64;
        let (begin, end) = (range.start.min(len), range.end.min(len));
        let source = SharedBytes::new(file).part(begin..end);
        Part { path, source, begin, missing: range.end.saturating_sub(len), damage: None }
    }
}

/// Creates the trace of a file and of further ones, which have records alone.
fn assemble_parts(
    path: &Path,
    file: Arc<FileBytes>,
    others: Vec<(PathBuf, Arc<FileBytes>)>,
) -> Result<Trace, Error> {
    let wrong = |fault| section_error(path, fault);
    let reason = "it is no recording of perf";
    let recording = Recording::read(file.bytes());
    let recording = recording.ok_or(Error::NotATrace { path: path.to_owned(), reason })?;
    let mut recording = recording.map_err(wrong)?;
    let range = recording.records.clone();
    let mut parts = vec![Part::new(&mut recording, path.into(), file, &range)];
    for (path, file) in others {
        let range = 0..file.bytes().len() as u64;
        parts.push(Part::new(&mut recording, path.into(), file, &range));
    }
    recording.check().map_err(wrong)?;
    let records = Records::new(recording.order, &recording.attributes);
    let mut kinds = Vec::new();
    let mut sequences = Vec::new();
    let mut numbers: HashMap<Source, u32> = HashMap::new();
    for part in &parts {
        let index = records.index(part.source.get(), part.missing, part.damage);
        if index.is_crowded {
            recording.warn("there are too many CPUs, or records without order".to_owned());
        }
        kinds.extend(index.kinds);
        for mut sequence in index.sequences {
            let next = numbers.entry(sequence.source).or_insert(0);
            sequence.number = *next;
            *next += 1;
            sequences.push((part, sequence));
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    sequences.sort_by_key(|(_, sequence)| (sequence.source, sequence.number));
    let mut tracefiles = Vec::new();
    let mut runs = Vec::new();
    for ((part, sequence), number) in sequences.iter().zip(0..) {
        let (first, last) = (sequence.runs.first(), sequence.runs.last());
        let Some((first, last)) = first.zip(last) else { continue };
        let start = first.offset;
        // Damage has no size, but a file has to reach it.
        let stop = last.offset + last.size.max(u64::from(last.damage.is_some()));
        let relative = sequence.runs.iter().map(|run| Run { offset: run.offset - start, ..*run });
        runs.push(relative.collect());
        let source = part.source.part(start..stop);
        let missing = (stop - start).saturating_sub(source.get().len() as u64);
        let file = DataFile {
            path: part.path.clone(),
            source,
            missing,
            packed: None,
            may_have_index: false,
            first_begin: None,
            kind: format::FileKind::Perf(FileKind::Indexed(number)),
            begin: FilePart { offset: part.begin + start, packet: 0 },
            before: Before::NOTHING,
        };
        let Sequence { source, number, .. } = *sequence;
        tracefiles.push(tracefile(source, number, vec![file]));
    }
    let has_untimed = sequences.iter().any(|(_, sequence)| sequence.source == Source::Untimed);
    let decoder = decoder(path, &recording, records, (kinds, has_untimed), runs)?;
    let build_ids = std::mem::take(&mut recording.features.build_ids);
    let warnings = warnings(&mut recording);
    let trace = Trace::from_tracefiles(vec![path.to_owned()], decoder, tracefiles, warnings);
    Ok(trace.with_build_ids(build_ids.into()))
}

/// Returns the error for a fault in a part of a file.
pub(super) fn section_error(path: &Path, fault: Fault) -> Error {
    let Fault { section, offset, reason } = fault;
    Error::Section { path: path.to_owned(), section, offset, reason }
}

/// Takes the warnings of a recording.
pub(super) fn warnings(recording: &mut Recording) -> Vec<Diagnostic> {
    let warnings = std::mem::take(&mut recording.warnings).into_iter();
    warnings.map(|text| Diagnostic::warning(Span::default(), text)).collect()
}

/// Creates the decoder of a recording. `kinds` are those of records that are no samples, with whether there are records
/// without a time; `runs` are those of each tracefile.
pub(super) fn decoder(
    path: &Path,
    recording: &Recording,
    records: Records,
    (kinds, has_untimed): (Vec<Kind>, bool),
    runs: Vec<Box<[Run]>>,
) -> Result<format::Decoder, Error> {
    let machine = recording.features.descriptions.as_ref().map(|known| known.machine);
    let machine = machine.unwrap_or(Machine { order: recording.order, long: 8 });
    // The records have the byte order of the file.
    let machine = Machine { order: recording.order, ..machine };
    // Their events have no time, so that their stream class has no clock.
    let untimed = StreamClassId(has_untimed.into());
    let types = event_types(machine, recording, &kinds, untimed);
    let unknown = [2, 1].map(|from_end| EventTypeId(types.len().saturating_sub(from_end) as u32));
    let (mut event_types, mut places, mut sections) = (Vec::new(), Vec::new(), Vec::new());
    for PlacedType { event_type, places: of_type, sections: in_type } in types {
        event_types.push(event_type);
        places.push(of_type);
        sections.push(in_type);
    }
    let layouts = RecordLayouts {
        order: recording.order,
        scale: None,
        have_headers: false,
        places: places.into(),
        sections: sections.into(),
    };
    let decoder = Decoder::new(Parameters {
        layouts: Arc::new(layouts),
        records,
        kinds: kinds.into(),
        samples: recording.attributes.len() as u32,
        unknown,
        untimed,
        runs: runs.into(),
    });
    let schema = Schema {
        native_byte_order: recording.order,
        env: environment(recording),
        clocks: vec![clock_class(recording)],
        stream_classes: (0..=untimed.0)
            .map(|id| StreamClass {
                default_clock: (id == 0).then_some(0),
                ..StreamClass::new(id.into())
            })
            .collect(),
        event_types,
        ..Schema::new(schema::Format::Perf)
    };
    format::Decoder::of_perf(schema, decoder)
        .map_err(|kind| Error::Unsupported { path: path.to_owned(), kind })
}

/// Returns the event types: those of the attributes, those of other kinds of records, and that of
/// unknown ones.
fn event_types(
    machine: Machine,
    recording: &Recording,
    kinds: &[Kind],
    untimed: StreamClassId,
) -> Vec<PlacedType> {
    let of_class = |mut of: PlacedType, has_time| {
        of.event_type.stream = if has_time { StreamClassId(0) } else { untimed };
        of
    };
    let descriptions = recording.features.descriptions.as_ref();
    let formats = descriptions.iter().flat_map(|known| &known.formats);
    let formats: HashMap<u64, _> = formats.map(|known| (known.1.id.into(), known)).collect();
    let described = |attribute: &Attribute| match attribute.is_tracepoint() {
        true => formats.get(&attribute.config).copied(),
        false => None,
    };
    let (mut types, mut fields) = (Vec::new(), 0);
    for attribute in &recording.attributes {
        let format = described(attribute);
        fields += format.map_or(0, |(_, format)| format.common.len() + format.fields.len());
        let format = format.filter(|_| fields <= MAX_FIELDS);
        let of_attribute = sample_type(machine, types.len() as u64, attribute, format);
        types.push(of_class(of_attribute, attribute.time_in_sample().is_some()));
    }
    if let Some(first) = recording.attributes.first() {
        let unknown = [true, false].map(|has_time| Kind::new(UNKNOWN, 0, has_time));
        for Kind { number, form, has_time } in kinds.iter().copied().chain(unknown) {
            let of_kind = record_type(machine, types.len() as u64, number, form, first);
            types.push(of_class(of_kind, has_time));
        }
    }
    types
}

/// Creates the tracefile of a sequence of a source.
pub(super) fn tracefile(source: Source, number: u32, files: Vec<DataFile>) -> Tracefile {
    let class = StreamClassId((source == Source::Untimed).into());
    Tracefile {
        name: source.name(number),
        channel: CHANNEL.to_owned(),
        cpu: source.cpu(),
        process: None,
        instance: Some(Instance { class, id: None, cpu: None }),
        files,
        growth: None,
        // No run is there twice.
        duplicates: OnceLock::from(Duplicates::default()),
        index: Indexes::default(),
    }
}

/// Returns the clock class of a recording.
fn clock_class(recording: &Recording) -> ClockClass {
    let name = match recording.features.date.and(recording.attributes.first()) {
        None => "perf",
        Some(attribute) => match attribute.clock {
            0 => "realtime",
            1 => "monotonic",
            4 => "monotonic_raw",
            7 => "boottime",
            11 => "tai",
            _ => "perf",
        },
    };
    let offset = recording.features.date.unwrap_or(0);
    ClockClass {
        offset_seconds: offset.div_euclid(NS_PER_S as i64),
        offset_cycles: offset.rem_euclid(NS_PER_S as i64),
        origin: match recording.features.date {
            Some(_) => ClockOrigin::UnixEpoch,
            None => ClockOrigin::Unknown,
        },
        ..ClockClass::new(name)
    }
}

/// Returns the environment, with the names of entries that LTTng uses.
fn environment(recording: &Recording) -> Vec<(Arc<str>, EnvValue)> {
    let features = &recording.features;
    let entries = [
        ("domain", "kernel"),
        ("sysname", "Linux"),
        ("hostname", &features.hostname),
        ("kernel_release", &features.release),
        ("machine", &features.machine),
        ("tracer_name", "perf"),
        ("tracer_version", &features.version),
        ("command_line", &features.command_line),
    ];
    let entries = entries.into_iter().filter(|(_, text)| !text.is_empty());
    entries.map(|(name, text)| (name.into(), EnvValue::Str(text.to_owned()))).collect()
}
