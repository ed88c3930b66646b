//! Traces that arrive in parts.

use std::collections::VecDeque;
use std::sync::Arc;

use ltt_read::schema::Schema;
use ltt_read::writer::metadata_text;
use ltt_read::{GrowingTrace, Trace, TracefileIndex};

/// A trace that arrives in parts.
pub(crate) struct Arriving {
    pub(crate) growing: GrowingTrace,
    schema: Schema,
    tracefiles: Vec<TracefileIndex>,
    pub(crate) names: Vec<String>,
    /// The packets of each tracefile that have not arrived.
    pub(crate) left: Vec<VecDeque<Vec<u8>>>,
}

impl Arriving {
    /// Creates a trace of which `types` event types are declared, and no tracefile is there.
    pub(crate) fn new(whole: &Arc<Trace>, types: usize) -> Self {
        let schema = whole.schema().clone();
        let growing = GrowingTrace::new("growing", metadata(&schema, types).as_bytes());
        let names = whole.tracefiles().iter().map(|tracefile| tracefile.name().to_owned());
        Arriving {
            growing: growing.expect("valid metadata"),
            schema,
            tracefiles: Vec::new(),
            names: names.collect(),
            left: packets(whole),
        }
    }

    /// Adds the next tracefile.
    pub(crate) fn add_tracefile(&mut self) {
        if let Some(name) = self.names.get(self.tracefiles.len()) {
            self.tracefiles.push(self.growing.add_tracefile(name));
        }
    }

    pub(crate) fn add_tracefiles(&mut self) {
        (0..self.names.len()).for_each(|_| self.add_tracefile());
    }

    /// Appends packets of a tracefile, whose number is taken modulo the number of all.
    pub(crate) fn append(&mut self, tracefile: usize, count: usize) {
        let at = tracefile % self.left.len();
        let Some(tracefile) = self.tracefiles.get(at) else { return };
        let count = count.min(self.left[at].len());
        self.growing.append(*tracefile, self.left[at].drain(..count).flatten().collect());
    }

    /// Declares all event types.
    pub(crate) fn declare_all(&mut self) {
        let text = metadata(&self.schema, usize::MAX);
        self.growing.extend_metadata(text.as_bytes()).expect("longer metadata");
    }

    /// Adds everything that has not arrived.
    pub(crate) fn complete(&mut self) {
        self.declare_all();
        self.add_tracefiles();
        (0..self.names.len()).for_each(|tracefile| self.append(tracefile, usize::MAX));
        self.growing.complete_all();
    }
}

/// Returns the metadata of a trace with only its first event types.
pub(crate) fn metadata(schema: &Schema, types: usize) -> String {
    let mut schema = schema.clone();
    schema.event_types.truncate(types);
    metadata_text(&schema).expect("metadata")
}

/// Returns the packets of each tracefile.
pub(crate) fn packets(trace: &Arc<Trace>) -> Vec<VecDeque<Vec<u8>>> {
    let of = |(at, tracefile): (usize, &ltt_read::Tracefile)| {
        let files: Vec<_> = tracefile.parts().map(|(_, bytes)| bytes).collect();
        let entries = trace.packet_index(TracefileIndex(at)).entries();
        let bytes = |entry: &ltt_read::index::IndexEntry| {
            let begin = entry.offset as usize;
            files[entry.file as usize][begin..begin + entry.size as usize].to_vec()
        };
        entries.iter().map(bytes).collect()
    };
    trace.tracefiles().iter().enumerate().map(of).collect()
}
