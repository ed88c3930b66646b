//! The fields of events that actions read, as they are recorded.

use ltt_read::{Event, Field, Value};

use crate::kernel::RequestOperation;

/// A field that an action reads.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    field: Field,
    kind: Kind,
    /// Its place among the fields of its action.
    pub(crate) place: u8,
}

/// The way in which a field is read.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Integer,
    /// An element of an array of integers.
    Element(u8),
    Text,
    Operation,
}

impl Input {
    /// Creates the input of an integer.
    pub(crate) fn new(field: Field) -> Self {
        Input { field, kind: Kind::Integer, place: 0 }
    }

    /// Returns the input of a text.
    pub(crate) fn text(self) -> Self {
        Input { kind: Kind::Text, ..self }
    }

    /// Returns the input of an element of an array of integers.
    pub(crate) fn element(self, index: u8) -> Self {
        Input { kind: Kind::Element(index), ..self }
    }

    /// Returns the input of an operation of a disk.
    pub(crate) fn operation(self) -> Self {
        Input { kind: Kind::Operation, ..self }
    }
}

/// The values of the fields of many events.
#[derive(Debug, Default)]
pub(crate) struct RecordedInputs {
    /// For each event, the places with values as bits, and a word for each field.
    words: Vec<u64>,
    bytes: Vec<u8>,
    /// The number of words of the events whose values have been read.
    read: usize,
}

impl RecordedInputs {
    /// Adds the values of an event, given the fields of its action.
    #[inline]
    pub(crate) fn push(&mut self, inputs: &[Input], event: &Event<'_>) {
        let at = self.words.len();
        self.words.push(0);
        let mut known = 0;
        for (place, input) in inputs.iter().enumerate() {
            let word = match input.kind {
                Kind::Integer => event.integer(&input.field),
                Kind::Element(index) => match event.get(&input.field) {
                    Some(Value::Array(of)) => of.get(index.into()).and_then(|of| of.as_u64()),
                    _ => None,
                },
                Kind::Text => match event.get(&input.field) {
                    Some(Value::Str(text)) => Some(self.push_text(text.bytes)),
                    _ => None,
                },
                Kind::Operation => {
                    Some(RequestOperation::of(event.get(&input.field).as_ref()) as u64)
                }
            };
            known |= u64::from(word.is_some()) << place;
            self.words.push(word.unwrap_or(0));
        }
        self.words[at] = known;
    }

    fn push_text(&mut self, text: &[u8]) -> u64 {
        let (at, len) = (self.bytes.len() as u64, text.len() as u64);
        self.bytes.extend_from_slice(text);
        at << 32 | len
    }

    /// Returns the values of the next event, whose action has a number of fields.
    #[inline]
    pub(crate) fn next(&mut self, fields: usize) -> RecordedEvent<'_> {
        let words = self.words.get(self.read..=self.read + fields).unwrap_or_default();
        self.read += fields + 1;
        let (known, words) =
            words.split_first().map_or((0, words), |(known, words)| (*known, words));
        RecordedEvent { known, words, bytes: &self.bytes }
    }

    /// Removes all values and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.bytes.clear();
        self.read = 0;
    }
}

/// The recorded values of an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordedEvent<'r> {
    known: u64,
    words: &'r [u64],
    bytes: &'r [u8],
}

impl RecordedEvent<'_> {
    /// The values of an event whose action reads none.
    pub(crate) const NONE: RecordedEvent<'static> =
        RecordedEvent { known: 0, words: &[], bytes: &[] };

    /// Returns an integer; `None` if the event does not have it.
    #[inline]
    pub(crate) fn integer(&self, input: &Input) -> Option<u64> {
        if self.known >> input.place & 1 == 0 {
            return None;
        }
        self.words.get(usize::from(input.place)).copied()
    }

    /// Returns a text; empty if the event does not have it.
    pub(crate) fn text(&self, input: &Input) -> &[u8] {
        let word = self.integer(input).unwrap_or(0);
        let (at, len) = ((word >> 32) as usize, word as u32 as usize);
        self.bytes.get(at..at + len).unwrap_or(&[])
    }

    /// Returns the operation of a request, of an event that may have a field for it.
    pub(crate) fn operation(&self, input: Option<&Input>) -> RequestOperation {
        let code = input.and_then(|input| self.integer(input)).map(|code| code as usize);
        let operation = code.and_then(|code| RequestOperation::ALL.get(code).copied());
        operation.unwrap_or_else(|| RequestOperation::of(None))
    }
}
