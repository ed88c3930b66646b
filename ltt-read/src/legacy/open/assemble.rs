//! Opening of a legacy trace: from files to a schema and tracefiles.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::facilities::{self, Descriptions, LoadedFacility};
use super::facility_class::Machine;
use super::files::{File, Files, SYSTEM, is_metadata};
use super::markers::{self, METADATA, Markers, Sizes};
use super::system::System;
use super::warn;
use crate::base::source::{Access, SharedBytes};
use crate::files::findings::Findings;
use crate::files::once::FilesOnce;
use crate::format;
use crate::legacy::blocks::block::{BlockHeader, TraceHeader};
use crate::legacy::blocks::clock::{Scale, TickClock};
use crate::legacy::blocks::version::Version;
use crate::legacy::decode::{Decoder, FileKind};
use crate::metadata::{Diagnostic, MetadataError};
use crate::packet::Instance;
use crate::report::Error;
use crate::schema::{
    ClockClass, ClockOrigin, EnvValue, Format, Identity, Schema, StreamClass, StreamClassId,
};
use crate::trace::{Before, DataFile, FilePart, Indexes, Trace, Tracefile};

/// Opens the trace in a directory.
pub(crate) fn open(
    root: &Path,
    access: Access,
    once: &mut FilesOnce,
    findings: &mut Findings,
) -> Result<Trace, Error> {
    assemble(root, Files::in_directory(root, access, once, findings)?)
}

/// Opens a legacy trace whose files are in memory, given as pairs of the path in the
/// trace's directory and the content. For tests, and for traces from other sources than
/// the file system.
///
/// # Errors
///
/// Returns the errors of [`Trace::open`], except those of the file system.
pub fn from_memory(
    files: impl IntoIterator<Item = (String, Vec<u8>)>,
) -> Result<Arc<Trace>, Error> {
    assemble(Path::new(""), Files::in_memory(files)?).map(Arc::new)
}

fn assemble(root: &Path, files: Files) -> Result<Trace, Error> {
    if let Some(system) = files.system() {
        let system = System::parse(&String::from_utf8_lossy(system))
            .map_err(|error| Error::Metadata { path: root.join(SYSTEM), error })?;
        return open_2003(root, files, &system);
    }
    let reason = "no metadata channel contains a valid sub-buffer";
    let Some(header) = first_header(&files) else {
        return Err(Error::NotATrace { path: root.to_owned(), reason });
    };
    let opening = Opening { root, header };
    match header.version.has_markers() {
        true => opening.markers(files),
        false => opening.facilities(files),
    }
}

/// Returns the first valid block header of a metadata channel, which applies to the whole
/// trace.
fn first_header(files: &Files) -> Option<TraceHeader> {
    let headers = files.tracefiles.iter().filter_map(|file| {
        let header = BlockHeader::read(file.source.bytes()).ok()?.trace;
        is_metadata(header.version, &file.name.channel).then_some(header)
    });
    headers.into_iter().next()
}

/// A trace that is being opened, with the header of its first block.
struct Opening<'a> {
    root: &'a Path,
    header: TraceHeader,
}

impl Opening<'_> {
    /// Opens a trace of markers.
    fn markers(&self, files: Files) -> Result<Trace, Error> {
        let TraceHeader { version, order, arch_size, alignment, .. } = self.header;
        let sizes = Sizes::of_machine(arch_size, alignment);
        let core = |schema: &mut Schema, stream| {
            for (id, name, format) in markers::core_events(version) {
                let known = |e: &_| is_type(e, stream, id);
                if !schema.event_types.iter().any(known) {
                    let event =
                        markers::event_type(stream, id, name, format, &sizes, version, order);
                    schema.event_types.push(event);
                }
            }
        };
        // First the channel that describes itself and the others.
        let mut schema = self.schema(&[METADATA.to_owned()]);
        core(&mut schema, StreamClassId(0));
        let described = files.tracefiles.iter();
        let described = described.filter(|f| is_metadata(version, &f.name.channel));
        let first = Arc::new(self.trace(schema, described.cloned(), |_| 0, Vec::new())?);
        let (mut markers, mut warnings) = (Markers::default(), Vec::new());
        for cursor in first.cursors() {
            markers.read(cursor, &mut warnings);
        }

        let channels = if version.has_channels() {
            let described = markers.all.iter().map(|m| m.channel.clone());
            let valid = files.tracefiles.iter().filter(|f| self.is_tracefile(f));
            let mut channels: Vec<_> =
                described.chain(valid.map(|f| f.name.channel.clone())).collect();
            channels.push(METADATA.to_owned());
            channels.sort();
            channels.dedup();
            channels
        } else {
            vec![String::new()]
        };
        // Before 2.3, all channels share one stream class.
        let stream_of = |channel: &str| match version.has_channels() {
            true => channels.binary_search_by(|c| c.as_str().cmp(channel)).ok(),
            false => Some(0),
        };
        let mut schema = self.schema(&channels);
        for marker in &markers.all {
            let Some(stream) = stream_of(&marker.channel) else { continue };
            let stream = StreamClassId(stream as u32);
            schema.event_types.push(markers.event_type(marker, stream, version, order));
        }
        core(&mut schema, StreamClassId(stream_of(METADATA).unwrap_or(0) as u32));
        let tracefiles = files.tracefiles.into_iter().filter(|file| {
            // A file without a valid block and outside of known channels does not
            // belong to the trace. Damaged files of known channels stay, so that the
            // damage is reported.
            let keep = self.is_tracefile(file)
                || version.has_channels() && stream_of(&file.name.channel).is_some();
            if !keep {
                warn(&mut warnings, format!("{}: not a tracefile", file.path));
            }
            keep
        });
        let tracefiles: Vec<_> = tracefiles.collect();
        let stream_of = |file: &File| stream_of(&file.name.channel).unwrap_or(0);
        self.trace(schema, tracefiles, stream_of, warnings)
    }

    /// Opens a trace of facilities.
    fn facilities(&self, files: Files) -> Result<Trace, Error> {
        let TraceHeader { version, order, arch_size, alignment, .. } = self.header;
        let machine = Machine {
            order,
            int: 4,
            long: arch_size,
            pointer: arch_size,
            size_t: arch_size,
            alignment,
        };
        let mut warnings = Vec::new();
        // First the channel whose events list the loaded facilities.
        let mut schema = self.schema(&[String::new()]);
        facilities::describe_core(version, &machine, &mut schema);
        let loading = files.tracefiles.iter();
        let loading = loading.filter(|f| is_metadata(version, &f.name.channel)).cloned();
        let first = Arc::new(self.trace(schema, loading, |_| 0, Vec::new())?);
        let mut loads = Vec::new();
        for cursor in first.cursors() {
            facilities::read_loads(cursor, version, &machine, &mut loads, &mut warnings);
        }

        let descriptions = Descriptions::read(&files, &mut warnings);
        let mut schema = self.schema(&[String::new()]);
        let arch = arch_name(self.header.arch_type);
        descriptions.describe(&loads, version, arch, &mut schema, &mut warnings);
        // The descriptions may lack some core events.
        let mut core = self.schema(&[]);
        facilities::describe_core(version, &machine, &mut core);
        for event in core.event_types {
            if !schema.event_types.iter().any(|e| e.id == event.id) {
                schema.event_types.push(event);
            }
        }
        let schema = resolved(self.root, schema)?;
        let tracefiles: Vec<_> =
            files.tracefiles.into_iter().filter(|f| self.is_tracefile(f)).collect();
        self.trace(schema, tracefiles, |_| 0, warnings)
    }

    /// Returns `true` if a file starts with a block of this trace's version and byte
    /// order.
    fn is_tracefile(&self, file: &File) -> bool {
        BlockHeader::read(file.source.bytes()).is_ok_and(|block| {
            (block.trace.version, block.trace.order) == (self.header.version, self.header.order)
        })
    }

    /// Creates a schema without event types, with a stream class for each channel.
    fn schema(&self, channels: &[String]) -> Schema {
        let header = &self.header;
        let (major, minor) = header.version.numbers();
        let integer = |value: u64| EnvValue::Int(value.into());
        let env = [
            ("tracer_name", EnvValue::Str("lttng 0.x".to_owned())),
            ("arch_size", integer(header.arch_size.into())),
            ("alignment", integer(header.alignment.into())),
            ("start_freq", integer(header.frequency)),
            ("freq_scale", integer(header.freq_scale.into())),
            ("start_tsc", integer(header.start_tsc)),
            ("start_time_sec", integer(header.start_seconds)),
            ("start_time_usec", integer(header.start_microseconds)),
        ];
        let scale = u64::from(header.freq_scale.max(1));
        let frequency = match self.scale() {
            Scale::Multiplies(_) => header.frequency / scale,
            Scale::Divides(_) => header.frequency.saturating_mul(scale),
        };
        let class = |(channel, id): (&String, u64)| StreamClass {
            identity: Identity {
                name: Some(channel.as_str().into()).filter(|_| !channel.is_empty()),
                ..Identity::default()
            },
            default_clock: Some(0),
            ..StreamClass::new(id)
        };
        Schema {
            version: (major.into(), minor.into()),
            native_byte_order: header.order,
            env: env.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            clocks: vec![ClockClass {
                frequency: frequency.max(1),
                origin: ClockOrigin::Unknown,
                ..ClockClass::new("tsc")
            }],
            stream_classes: channels.iter().zip(0..).map(class).collect(),
            ..Schema::new(Format::Legacy)
        }
    }

    fn scale(&self) -> Scale {
        match self.header.version {
            Version::Markers(3..) => Scale::Multiplies(self.header.freq_scale),
            _ => Scale::Divides(self.header.freq_scale),
        }
    }

    fn clock(&self) -> TickClock {
        let TraceHeader { version, frequency, start_tsc, .. } = self.header;
        match version {
            Version::Markers(5..) => TickClock::from_zero(frequency, self.scale()),
            _ => TickClock::from_start(frequency, self.scale(), start_tsc),
        }
    }

    /// Builds the trace from a schema and files. `stream_of` returns the index of a
    /// file's stream class.
    fn trace(
        &self,
        schema: Schema,
        files: impl IntoIterator<Item = File>,
        stream_of: impl Fn(&File) -> usize,
        warnings: Vec<Diagnostic>,
    ) -> Result<Trace, Error> {
        let decoder = Decoder::new(&schema, &self.header, self.clock());
        let compact =
            |file: &File| self.header.version == Version::OneZero && file.name.channel == "compact";
        let kind = |file: &File| FileKind {
            stream: StreamClassId(stream_of(file) as u32),
            compact: compact(file),
        };
        let files = files.into_iter().map(|file| (kind(&file), file));
        build(self.root, schema, decoder, files, warnings)
    }
}

/// Returns the name of an architecture number as in the names of description files.
fn arch_name(number: u32) -> &'static str {
    match number {
        1 => "i386",
        2 => "ppc",
        3 => "sh",
        4 => "s390",
        5 => "mips",
        6 => "arm",
        7 => "ppc64",
        8 => "x86_64",
        9 => "c2",
        10 => "powerpc",
        11 => "x86",
        _ => "unknown",
    }
}

/// Resolves the lengths of a schema.
fn resolved(root: &Path, mut schema: Schema) -> Result<Schema, Error> {
    match crate::metadata::resolve(&mut schema) {
        Ok(()) => Ok(schema),
        Err(diagnostics) => {
            let error = Box::new(MetadataError::new("", diagnostics));
            Err(Error::Metadata { path: root.to_owned(), error })
        }
    }
}

/// Opens a trace of 2003.
fn open_2003(root: &Path, files: Files, system: &System) -> Result<Trace, Error> {
    let version = Version::Of2003;
    let machine = &system.machine;
    let env = system.attributes.iter();
    let empty = Schema {
        version: (0, 0),
        native_byte_order: machine.order,
        env: env.map(|(n, v)| (n.as_str().into(), EnvValue::Str(v.clone()))).collect(),
        clocks: vec![ClockClass::new("tsc")],
        stream_classes: vec![StreamClass { default_clock: Some(0), ..StreamClass::new(0) }],
        ..Schema::new(Format::Legacy)
    };
    let build = |schema: Schema, files: Vec<File>, warnings| {
        let decoder = Decoder::of_2003(machine.order, system.block_size);
        let kind = FileKind { stream: StreamClassId(0), compact: false };
        build(root, schema, decoder, files.into_iter().map(|file| (kind, file)), warnings)
    };
    let mut warnings = Vec::new();
    // All facilities except the core facility are loaded by core events.
    let mut schema = empty.clone();
    facilities::describe_core(version, machine, &mut schema);
    let core = LoadedFacility {
        name: facilities::CORE.to_owned(),
        checksum: None,
        first_id: 0,
        machine: *machine,
    };
    let mut loads = vec![core];
    let loading = |file: &&File| file.path == "control/facilities";
    let loading: Vec<_> = files.tracefiles.iter().filter(loading).cloned().collect();
    let first = Arc::new(build(schema, loading, Vec::new())?);
    for cursor in first.cursors() {
        facilities::read_loads(cursor, version, machine, &mut loads, &mut warnings);
    }
    let descriptions = Descriptions::read(&files, &mut warnings);
    let mut schema = empty;
    descriptions.describe(&loads, version, "", &mut schema, &mut warnings);
    build(resolved(root, schema)?, files.tracefiles, warnings)
}

/// Returns `true` if an event type has this stream class and id.
fn is_type(event: &crate::schema::EventType, stream: StreamClassId, id: u64) -> bool {
    event.stream == stream && event.id == id
}

/// Builds a trace from its parts.
pub(super) fn build(
    root: &Path,
    schema: Schema,
    decoder: Decoder,
    files: impl Iterator<Item = (FileKind, File)>,
    warnings: Vec<Diagnostic>,
) -> Result<Trace, Error> {
    let decoder = format::Decoder::of_legacy(schema, decoder)
        .map_err(|kind| Error::Unsupported { path: root.to_owned(), kind })?;
    let tracefile = |(kind, file): (FileKind, File)| Tracefile {
        channel: file.name.channel,
        cpu: file.name.process.is_none().then_some(file.name.cpu),
        process: file.name.process,
        instance: Some(Instance { class: kind.stream, id: None, cpu: None }),
        files: vec![DataFile {
            path: root.join(&file.path).into(),
            source: SharedBytes::new(file.source),
            missing: 0,
            packed: None,
            may_have_index: false,
            first_begin: None,
            kind: format::FileKind::Legacy(kind),
            begin: FilePart::default(),
            before: Before::NOTHING,
        }],
        growth: None,
        duplicates: OnceLock::new(),
        index: Indexes::default(),
        name: file.path,
    };
    let tracefiles = files.map(tracefile).collect();
    Ok(Trace::from_tracefiles(vec![root.to_owned()], decoder, tracefiles, warnings))
}
