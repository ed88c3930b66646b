//! Errors of the writer.

use std::io;

/// An error from writing a trace.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A file operation failed.
    #[error("cannot write {file}")]
    Io {
        /// The path or name of the file.
        file: String,
        /// The error from the operating system or the output.
        #[source]
        error: io::Error,
    },
    /// The metadata language cannot express a part of the schema.
    #[error("{place}: {format} cannot express {what}")]
    Inexpressible {
        /// The path of the part of the schema.
        place: String,
        /// The metadata language.
        format: &'static str,
        /// The construct that the language cannot express.
        what: String,
    },
    /// A value does not fit its field class.
    #[error("{place}: {problem}")]
    Value {
        /// The path of the field, starting with its scope.
        place: String,
        /// The description of the problem.
        problem: String,
    },
    /// An index is outside of the schema's tables, or an event type belongs to another
    /// stream class.
    #[error("no {what} with index {index} in this stream")]
    NotInStream {
        /// The kind of object: event type or stream class.
        what: &'static str,
        /// The index in the schema.
        index: u32,
    },
    /// Readers could not identify the class: the headers have no field for the id, or
    /// none that is wide enough.
    #[error("headers cannot carry id {id} of this {what}")]
    NoRoomForId {
        /// The kind of object: event type or stream class.
        what: &'static str,
        /// The id of the event type or stream class.
        id: u64,
    },
    /// Readers could not decode the timestamp: the clock fields are too narrow for the
    /// distance from the previous timestamp, or the timestamp is before the previous one.
    #[error("headers cannot carry timestamp {to} after {from}")]
    ClockGap {
        /// The previous clock value.
        from: u64,
        /// The clock value of the event or packet.
        to: u64,
    },
    /// A single event record exceeds the packet size limit.
    #[error("event record {event:?} does not fit in a packet of {limit} bytes")]
    TooLarge {
        /// The name of the event type.
        event: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// An event record has no bits, so that readers could not find it.
    #[error("event record {event:?} has no bits")]
    Empty {
        /// The name of the event type.
        event: String,
    },
    /// The packet has to end inside of a byte, or needs padding, but its context has no
    /// fields for both the total and the content length.
    #[error("packet needs padding, but its context has no fields for total and content length")]
    Unpaddable,
    /// A second packet was started, but no field declares the length of the first one.
    #[error("stream cannot have a second packet: no packet context field declares a length")]
    OnePacket,
    /// A file of this name is in use by the metadata, a stream or an index of the same directory.
    #[error("{name}: the name is in use")]
    NameInUse {
        /// The path of the file.
        name: String,
    },
    /// Streams are not finished, so that the trace is not complete.
    #[error("streams are not finished: {}", streams.join(", "))]
    OpenStreams {
        /// The names of the streams, in the order of their creation.
        streams: Vec<String>,
    },
}

crate::debug_as_chain!(WriteError);

/// A problem with a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    /// The value is of another kind than the field class.
    #[error("expected {expected}, found {found}")]
    Kind {
        /// The kind that the field class expects.
        expected: &'static str,
        /// The kind of the value.
        found: &'static str,
    },
    /// The number is outside of the range of the class.
    #[error("{value} does not fit in {bits} {}bits", if *signed { "signed " } else { "" })]
    DoesNotFit {
        /// The number that is out of range.
        value: i128,
        /// The size of the class in bits.
        bits: u32,
        /// `true` if the class is signed.
        signed: bool,
    },
    /// The value has too many or too few members, elements or bytes.
    #[error("expected {expected}, found {found}")]
    Count {
        /// The number that the class expects.
        expected: u64,
        /// The number that the value has.
        found: u64,
    },
    /// The structure class has no member, or the scope no class, of this name.
    #[error("no member {0:?}")]
    NoMember(String),
    /// The variant class has fewer options.
    #[error("no option {0}")]
    NoOption(usize),
    /// The text of a null-terminated string contains a null code unit or a partial one.
    #[error("null-terminated string contains a null or partial code unit")]
    NullInText,
    /// An explicitly given length or selector contradicts the value that depends on it.
    #[error("{location} is {found}, but this value needs {wanted}")]
    Contradiction {
        /// The path of the length or selector field.
        location: String,
        /// The number in the field.
        found: i128,
        /// The number or ranges that the dependent value requires.
        wanted: String,
    },
    /// The length or selector field was not found before the field that depends on it.
    #[error("{0} does not lead to a length or selector")]
    Unresolved(String),
    /// The byte order changes inside of a byte.
    #[error("byte order changes inside of a byte")]
    ByteOrderChange,
    /// Fields of this size in bits are not supported.
    #[error("fields of {0} bits are not supported")]
    Size(u32),
    /// The field class is nested too deeply.
    #[error("nested too deeply")]
    TooDeep,
}

impl WriteError {
    pub(crate) fn io(file: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let file = file.into();
        move |error| WriteError::Io { file, error }
    }
}

/// A [`Problem`] with the path of its field, which is collected on the way to the root.
#[derive(Debug)]
pub(super) struct LocatedProblem {
    /// The steps of the path, innermost first.
    steps: Vec<String>,
    problem: Problem,
}

impl From<Problem> for LocatedProblem {
    fn from(problem: Problem) -> Self {
        LocatedProblem { steps: Vec::new(), problem }
    }
}

impl LocatedProblem {
    pub(super) fn within(mut self, step: &str) -> Self {
        self.steps.push(step.to_owned());
        self
    }

    /// Adds the index of an array element to the path.
    pub(super) fn at(self, index: usize) -> Self {
        self.within(&index.to_string())
    }

    /// Creates the error, with the path starting at a scope.
    pub(super) fn in_scope(mut self, scope: crate::schema::Scope) -> WriteError {
        self.steps.push(scope.ctf2_name().to_owned());
        self.steps.reverse();
        WriteError::Value { place: self.steps.join("."), problem: self.problem.to_string() }
    }
}

impl WriteError {
    /// Adds an outer part to the start of the error's place.
    pub(super) fn under(mut self, outer: &str) -> Self {
        if let WriteError::Inexpressible { place, .. } | WriteError::Value { place, .. } = &mut self
        {
            *place = format!("{outer}: {place}");
        }
        self
    }
}
