//! Opening of recordings: from a file to a trace.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;

use super::attributes::Attribute;
use super::decode::{Decoder, FileKind, Parameters};
use super::header::{MAGIC, OLD_MAGIC, Recording};
use super::index::{Records, Run, Sequence, Source};
use super::samples::{PlacedType, record_type, sample_type};
use super::unpack;
use crate::base::source::{Access, FileBytes, SharedBytes};
use crate::base::time::NS_PER_S;
use crate::files::findings::Findings;
use crate::files::once::FilesOnce;
use crate::format;
use crate::layout::record::RecordLayouts;
use crate::metadata::{Diagnostic, Span};
use crate::packet::Instance;
use crate::report::Error;
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

/// Opens the trace in a file; `None` if the file is open already.
pub(crate) fn open(
    path: &Path,
    access: Access,
    once: &mut FilesOnce,
    findings: &mut Findings,
) -> Result<Option<Trace>, Error> {
    let is_of_directory = path.with_file_name("data.0").exists()
        && path.file_name().is_some_and(|name| name == "data");
    if is_of_directory {
        let reason = "directories of `perf record --threads` are not supported";
        return Err(Error::NotATrace { path: path.to_owned(), reason });
    }
    let Some(source) = once.open(path, access, findings)? else { return Ok(None) };
    assemble(path, Arc::new(source)).map(Some)
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
    let wrong = |Fault { section, offset, reason }| Error::Section {
        path: path.to_owned(),
        section,
        offset,
        reason,
    };
    let reason = "it is no recording of perf";
    let recording = unpack::read(file.bytes());
    let recording = recording.ok_or(Error::NotATrace { path: path.to_owned(), reason })?;
    let mut recording = recording.map_err(wrong)?;
    // The records are a part of the file, or in memory.
    let len = file.bytes().len() as u64;
    let (source, begin, end) = match recording.unpacked.take() {
        Some(records) => {
            let end = records.len() as u64;
            (SharedBytes::in_memory(records), 0, end)
        }
        None => {
            let records = recording.records.start.min(len)..recording.records.end.min(len);
            (SharedBytes::new(file), records.start, records.end)
        }
    };
    let missing = match begin == 0 {
        true => 0,
        false => recording.records.end.saturating_sub(len),
    };
    let records = Records::new(recording.order, &recording.attributes);
    let data = source.part(begin..end);
    let index = records.index(data.get(), missing, recording.damage);
    if index.is_crowded {
        recording.warn("there are too many CPUs, or records without order".to_owned());
    }
    let machine = recording.features.descriptions.as_ref().map(|known| known.machine);
    let machine = machine.unwrap_or(Machine { order: recording.order, long: 8 });
    // The records have the byte order of the file.
    let machine = Machine { order: recording.order, ..machine };
    let types = event_types(machine, &recording, &index.kinds);
    let samples = recording.attributes.len() as u32;
    let unknown = EventTypeId(types.len().saturating_sub(1) as u32);
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
    let mut tracefiles = Vec::new();
    let mut runs = Vec::new();
    let path_of_files: Arc<Path> = path.into();
    for (sequence, number) in index.sequences.iter().zip(0..) {
        let (first, last) = (sequence.runs.first(), sequence.runs.last());
        let Some((first, last)) = first.zip(last) else { continue };
        let start = first.offset;
        // Damage has no size, but a file has to reach it.
        let stop = last.offset + last.size.max(u64::from(last.damage.is_some()));
        let relative = sequence.runs.iter().map(|run| Run { offset: run.offset - start, ..*run });
        runs.push(relative.collect());
        let part = source.part(begin + start..(begin + stop).min(end));
        let missing = (stop - start).saturating_sub(part.get().len() as u64);
        let file = DataFile {
            path: path_of_files.clone(),
            source: part,
            missing,
            packed: None,
            may_have_index: false,
            first_begin: None,
            kind: format::FileKind::Perf(FileKind { tracefile: number }),
            begin: FilePart { offset: begin + start, packet: 0 },
            before: Before::NOTHING,
        };
        tracefiles.push(tracefile(sequence, file));
    }
    let decoder = Decoder::new(Parameters {
        layouts: Arc::new(layouts),
        records,
        kinds: index.kinds.into(),
        samples,
        unknown,
        runs: runs.into(),
    });
    let schema = Schema {
        native_byte_order: recording.order,
        env: environment(&recording),
        clocks: vec![clock_class(&recording)],
        stream_classes: vec![StreamClass { default_clock: Some(0), ..StreamClass::new(0) }],
        event_types,
        ..Schema::new(schema::Format::Perf)
    };
    let decoder = format::Decoder::of_perf(schema, decoder)
        .map_err(|kind| Error::Unsupported { path: path.to_owned(), kind })?;
    let build_ids = std::mem::take(&mut recording.features.build_ids);
    let warnings = recording.warnings.into_iter();
    let warnings = warnings.map(|text| Diagnostic::warning(Span::default(), text)).collect();
    let trace = Trace::from_tracefiles(vec![path.to_owned()], decoder, tracefiles, warnings);
    Ok(trace.with_build_ids(build_ids.into()))
}

/// Returns the event types: those of the attributes, those of other kinds of records, and that of
/// unknown ones.
fn event_types(machine: Machine, recording: &Recording, kinds: &[(u32, u16)]) -> Vec<PlacedType> {
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
        types.push(sample_type(machine, types.len() as u64, attribute, format));
    }
    if let Some(first) = recording.attributes.first() {
        for (kind, misc) in kinds.iter().copied().chain([(UNKNOWN, 0)]) {
            types.push(record_type(machine, types.len() as u64, kind, misc, first));
        }
    }
    types
}

/// Creates the tracefile of some records of a CPU.
fn tracefile(sequence: &Sequence, file: DataFile) -> Tracefile {
    let (name, cpu) = match sequence.source {
        Source::Cpu(cpu) => (format!("cpu{cpu}"), Some(cpu)),
        Source::Task => ("task".to_owned(), None),
        Source::Untimed => ("untimed".to_owned(), None),
    };
    let name = match sequence.number {
        0 => name,
        number => format!("{name}-{}", number + 1),
    };
    Tracefile {
        name,
        channel: CHANNEL.to_owned(),
        cpu,
        process: None,
        instance: Some(Instance { class: StreamClassId(0), id: None, cpu: None }),
        files: vec![file],
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
