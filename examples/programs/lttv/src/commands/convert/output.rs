//! The traces of one part of the result, and their streams.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ltt_read::schema::StreamClassId;
use ltt_read::writer::{
    FieldValue, StagedDirectory, StreamCopier, StreamFile, StreamWriter, TraceWriter, Transfer,
    WriteError,
};
use ltt_read::{Cursor, Event, Packet, Trace, TracefileIndex};
use lttv_common::report::Report;
use lttv_common::time::Window;

use super::Conversion;
use super::anonymise::{self, Anonymiser, Concerned, Known};
use super::statedump::{self, StateDump};

/// The traces of one part of the result.
#[derive(Debug)]
pub(super) struct Part<'c> {
    pub(super) traces: Vec<PartTrace<'c>>,
}

/// A trace of a part.
#[derive(Debug)]
pub(super) struct PartTrace<'c> {
    source: Arc<Trace>,
    writer: TraceWriter,
    transfer: Arc<Transfer>,
    packet_size: u64,
    /// The number of uses of each file name.
    names: Mutex<HashMap<String, u32>>,
    /// The replacements of names, and the fields of each event type that have some.
    anonymised: Option<(&'c Anonymiser, Vec<Concerned>)>,
    dump: Option<StateDump>,
    /// The numbers of events that are left out, since nothing remains of them, by name.
    empty: Mutex<BTreeMap<String, u64>>,
}

impl<'c> Part<'c> {
    /// Creates the traces of a part in a folder of the output.
    pub(super) fn create(
        conversion: &'c Conversion<'_>,
        staged: &StagedDirectory,
        folder: &Path,
        window: Window,
        report: &Report,
    ) -> Result<Self, Box<dyn Error>> {
        let args = conversion.args;
        let mut dumps = match window.begin.filter(|_| args.with_statedump) {
            Some(begin) => statedump::at(conversion, begin, report),
            None => Vec::new(),
        }
        .into_iter();
        let mut traces = Vec::new();
        for (source, target) in conversion.traces().iter().zip(&conversion.targets) {
            let anonymiser = conversion.anonymiser.as_ref();
            let concerned = || anonymise::concerned(source.schema());
            let anonymised = anonymiser.map(|names| (names, concerned()));
            let dump = dumps.next().flatten();
            let (path, schema) = (folder.join(&target.folder), target.transfer.target().clone());
            let writer = match &target.metadata {
                Some(metadata) => staged.trace_with_metadata(path, schema, metadata)?,
                None => staged.trace(path, schema)?,
            };
            let mut writer = writer.with_index();
            if let Some(limit) = args.file_size {
                writer = writer.with_file_limit(limit.0);
            }
            traces.push(PartTrace {
                source: source.clone(),
                writer,
                transfer: target.transfer.clone(),
                packet_size: args.packet_size.map_or(u64::MAX, |size| size.0),
                names: Mutex::default(),
                anonymised,
                dump,
                empty: Mutex::default(),
            });
        }
        Ok(Part { traces })
    }
}

impl Part<'_> {
    /// Returns the event types that are left out, since the target can express nothing of them, and
    /// the number of events of each.
    pub(super) fn left_out(self) -> impl Iterator<Item = (String, u64)> {
        self.traces.into_iter().flat_map(|trace| {
            let names = trace.empty.into_inner().unwrap_or_else(PoisonError::into_inner);
            let place = trace.source.path().display().to_string();
            names.into_iter().map(move |(name, count)| (format!("{place}: {name}"), count))
        })
    }
}

impl PartTrace<'_> {
    /// Returns the streams of a tracefile, which are created when they are needed.
    pub(super) fn streams(&self, tracefile: TracefileIndex) -> Streams<'_> {
        let known = self.anonymised.as_ref().map(|(names, _)| Known::new(names));
        Streams { trace: self, tracefile, open: Vec::new(), known }
    }

    /// Creates the stream of a tracefile for the packets of a class.
    fn stream(
        &self,
        tracefile: TracefileIndex,
        class: StreamClassId,
        id: Option<u64>,
    ) -> Result<StreamWriter<StreamFile>, WriteError> {
        let file = self.source.tracefile(tracefile);
        let is_alone =
            self.source.tracefiles().iter().filter(|t| t.name() == file.name()).count() < 2;
        let name = match (file.cpu(), file.files().count()) {
            _ if let Some((names, _)) = &self.anonymised => {
                names.stream(file.channel(), file.cpu())
            }
            (Some(cpu), files) if files > 1 || !is_alone => format!("{}_{cpu}", file.channel()),
            _ => file.name().to_owned(),
        };
        let name = self.unused(&name.replace(['/', '\\'], "-"));
        let mut stream = self.writer.stream(class, &name)?.with_packet_limit(self.packet_size);
        if let Some(id) = id {
            stream = stream.with_stream_id(id);
        }
        if !self.source.schema().format.is_ctf() {
            let cpu = file.cpu().unwrap_or(0);
            // Several tracefiles of a class can have the same CPU.
            stream = stream
                .with_stream_id(tracefile.0 as u64)
                .with_packet_context(FieldValue::fields([("cpu_id", cpu)]));
        }
        Ok(stream)
    }

    /// Returns a file name that no other stream has.
    fn unused(&self, name: &str) -> String {
        let name = match name {
            // Files of these names are not streams.
            "metadata" | "index" | "" => "stream",
            name => name,
        };
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let uses = names.entry(name.to_owned()).or_insert(0);
        *uses += 1;
        match *uses {
            1 => name.to_owned(),
            uses => format!("{name}-{uses}"),
        }
    }
}

/// The streams of a tracefile: one for each stream class of its packets.
#[derive(Debug)]
pub(super) struct Streams<'p> {
    trace: &'p PartTrace<'p>,
    tracefile: TracefileIndex,
    open: Vec<(StreamClassId, StreamCopier<StreamFile>)>,
    known: Option<Known<'p>>,
}

impl Streams<'_> {
    /// Copies the current packet of a cursor as it is, if that is possible.
    pub(super) fn packet(&mut self, cursor: &Cursor) -> Result<bool, WriteError> {
        let Some(packet) = cursor.packet() else { return Ok(false) };
        let is_small = packet.size <= self.trace.packet_size;
        let is_same = is_small && self.trace.anonymised.is_none();
        if !is_same || !self.trace.transfer.copies_packets(packet.stream_class) {
            return Ok(false);
        }
        let packet = packet.clone();
        self.of(&packet)?.packet(cursor)
    }

    /// Copies an event.
    pub(super) fn event(&mut self, event: &Event<'_>) -> Result<bool, WriteError> {
        let trace = self.trace;
        let at = self.place(event.packet())?;
        let copier = &mut self.open[at].1;
        let concerned = trace.anonymised.as_ref().map(|(_, types)| &types[event.type_id().index()]);
        let done = match (&mut self.known, concerned) {
            // Each field is encoded, so that nothing is copied that lies between fields.
            (Some(known), Some(fields)) => {
                let known = RefCell::new(known);
                copier.event_with_headers(
                    event,
                    |scope, value| known.borrow_mut().header(event, scope, value),
                    |encoder| known.borrow_mut().encode(event, fields, encoder),
                )
            }
            _ => copier.event(event),
        };
        match done {
            // All of its fields are among those that the target cannot express.
            Err(WriteError::Empty { event }) => {
                let mut empty = trace.empty.lock().unwrap_or_else(PoisonError::into_inner);
                *empty.entry(event).or_insert(0) += 1;
                Ok(false)
            }
            done => done,
        }
    }

    /// Notes that nothing of a packet is copied.
    pub(super) fn skip_packet(&mut self, packet: &Packet) -> Result<(), WriteError> {
        match self.open.iter_mut().find(|(class, _)| *class == packet.stream_class) {
            Some((_, copier)) => copier.skip_packet(packet),
            None => Ok(()),
        }
    }

    /// Ends all streams. The state dump is written even if the stream has nothing else.
    pub(super) fn finish(mut self) -> Result<(), WriteError> {
        if let Some(dump) = &self.trace.dump
            && dump.tracefile == self.tracefile
        {
            let mut cursor = self.trace.source.cursor(self.tracefile);
            while cursor.next_packet().is_ok_and(|more| more) {
                let packet = cursor.packet().filter(|packet| packet.stream_class == dump.class);
                if let Some(packet) = packet {
                    self.of(packet)?;
                    break;
                }
            }
        }
        for (_, copier) in self.open {
            let stream = copier.into_stream()?;
            let name = stream.name().to_owned();
            let file = stream.finish()?;
            // Other threads copy meanwhile, so that little is left to do when all are ready.
            file.sync_data().map_err(|error| WriteError::Io { file: name, error })?;
        }
        Ok(())
    }

    fn of(&mut self, packet: &Packet) -> Result<&mut StreamCopier<StreamFile>, WriteError> {
        let at = self.place(packet)?;
        Ok(&mut self.open[at].1)
    }

    /// Returns the number of the stream for a packet.
    fn place(&mut self, packet: &Packet) -> Result<usize, WriteError> {
        let class = packet.stream_class;
        if let Some(at) = self.open.iter().position(|(of, _)| *of == class) {
            return Ok(at);
        }
        let stream = self.trace.stream(self.tracefile, class, packet.stream_id)?;
        let mut copier = StreamCopier::new(&self.trace.transfer, class, stream);
        if let Some(dump) = &self.trace.dump
            && (dump.tracefile, dump.class) == (self.tracefile, class)
        {
            let cpu = self.trace.source.tracefile(self.tracefile).cpu();
            let target = self.trace.transfer.target();
            let anonymised = self.known.as_mut().map(|known| (known, &**target));
            dump.write(&mut copier, packet.sequence, cpu, anonymised)?;
        }
        self.open.push((class, copier));
        Ok(self.open.len() - 1)
    }
}
