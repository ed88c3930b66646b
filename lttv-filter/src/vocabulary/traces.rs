//! The traces that a vocabulary describes, and the fields of a state.

use std::sync::Arc;

use ltt_read::Trace;

use crate::model::FieldType;
use crate::trace::{StateField, StateFields, TraceModel, Word, Words};

/// Traces whose event types are numbered together.
#[derive(Debug)]
pub(super) struct Traces {
    traces: Vec<Arc<Trace>>,
    words: Vec<Words>,
    /// For each trace the number of its first event type.
    starts: Vec<u32>,
    types: u32,
    state: State,
}

/// The fields of a state, with their descriptions.
#[derive(Debug)]
struct State {
    fields: Vec<(String, StateField, FieldType)>,
    /// The fields that short words stand for, which have no name of their own in lists.
    of_words: Vec<(String, StateField, FieldType)>,
}

impl Traces {
    pub(super) fn new(traces: &[Arc<Trace>], state_fields: &dyn StateFields) -> Self {
        let (mut starts, mut types) = (Vec::new(), 0_u32);
        for trace in traces {
            starts.push(types);
            types += trace.schema().event_types.len() as u32;
        }
        let field = |name: String| state_fields.find(&name).map(|(field, of)| (name, field, of));
        let of_word = |word: Word| {
            let mut names =
                traces.iter().filter_map(|trace| state_fields.field_of_word(word.as_str(), trace));
            names.next().map(str::to_owned)
        };
        let state = State {
            fields: state_fields.names().into_iter().filter_map(field).collect(),
            of_words: Word::ALL.into_iter().filter_map(of_word).filter_map(field).collect(),
        };
        let words = traces.iter().map(|trace| Words::of(trace, state_fields)).collect();
        Traces { traces: traces.to_vec(), words, starts, types, state }
    }

    /// Returns `true` if a word has a meaning of its own in any trace.
    pub(super) fn know(&self, word: Word) -> bool {
        self.words.iter().any(|words| words.know(word))
    }

    /// Returns the models of all traces.
    pub(super) fn models(&self) -> Vec<TraceModel<'_>> {
        (0..self.traces.len()).map(|trace| self.model(trace)).collect()
    }

    fn model(&self, trace: usize) -> TraceModel<'_> {
        let words = self.words[trace];
        TraceModel { trace: &self.traces[trace], state: &self.state, words }
    }

    /// Returns the number of event types of all traces.
    pub(super) fn types(&self) -> u32 {
        self.types
    }

    /// Returns the number of an event type of a trace.
    pub(super) fn number(&self, trace: usize, id: u32) -> u32 {
        self.starts[trace] + id
    }

    /// Returns the model of an event type's trace, and the id in this trace.
    pub(super) fn model_of(&self, record_type: u32) -> Option<(TraceModel<'_>, u32)> {
        let trace = self.starts.partition_point(|start| *start <= record_type).checked_sub(1)?;
        Some((self.model(trace), record_type - self.starts[trace]))
    }

    pub(super) fn traces(&self) -> &[Arc<Trace>] {
        &self.traces
    }

    /// Iterates over the fields of the state.
    pub(super) fn state_fields(&self) -> impl Iterator<Item = (&str, &FieldType)> {
        self.state.fields.iter().map(|(name, _, of)| (&**name, of))
    }
}

impl StateFields for State {
    fn find(&self, name: &str) -> Option<(StateField, FieldType)> {
        let mut fields = self.fields.iter().chain(&self.of_words);
        let (_, field, of) = fields.find(|(known, ..)| known.eq_ignore_ascii_case(name))?;
        Some((*field, of.clone()))
    }

    fn names(&self) -> Vec<String> {
        self.fields.iter().map(|(name, ..)| name.clone()).collect()
    }
}
