//! What can go wrong while writing.

use std::io;

/// A trace that cannot be written, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The operating system refused.
    #[error("{file}: {source}")]
    Io {
        /// The file concerned.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// The metadata language has no words for a part of the schema.
    #[error("{place}: {format} cannot express {what}")]
    Inexpressible {
        /// Path of the part of the schema.
        place: String,
        /// The metadata language.
        format: &'static str,
        /// What it cannot express.
        what: String,
    },
    /// A value does not suit its field class.
    #[error("{place}: {problem}")]
    Value {
        /// Path of the field, from its scope on.
        place: String,
        /// What is wrong with it.
        problem: Problem,
    },
    /// An index is outside the schema's tables, or an event type belongs to
    /// another stream class.
    #[error("no {what} of index {index} in this stream")]
    NotInStream {
        /// The table.
        what: &'static str,
        /// The index.
        index: u32,
    },
    /// A reader could not tell which class was meant: the headers have no
    /// field for the id, or none that is wide enough.
    #[error("the headers cannot carry id {id} of this {what}")]
    NoRoomForId {
        /// Event type or stream class.
        what: &'static str,
        /// Its id.
        id: u64,
    },
    /// A reader could not tell this timestamp: the clock fields are too narrow
    /// for the distance to the one before.
    #[error("the headers cannot carry timestamp {to} after {from}")]
    ClockGap {
        /// Clock value before.
        from: u64,
        /// Clock value wanted.
        to: u64,
    },
    /// An event record alone exceeds the packet size limit.
    #[error("event record {event:?} does not fit in a packet of {limit} bytes")]
    TooLarge {
        /// Name of the event type.
        event: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// An event record of no bits cannot be told from none.
    #[error("event record {event:?} would take no space")]
    Empty {
        /// Name of the event type.
        event: String,
    },
    /// The packet has to end inside a byte, or shorter than its total length,
    /// but no field of its context could tell a reader so.
    #[error("the packet needs padding, but its context cannot tell where content ends")]
    Unpaddable,
    /// A second packet would begin, but no field could tell where the first
    /// one ends.
    #[error("the stream holds one packet only: no packet context field has its length")]
    OnePacket,
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The value is of another kind than the field class.
    #[error("expected {expected}, found {found}")]
    Kind {
        /// What the field class wants.
        expected: &'static str,
        /// What the value is.
        found: &'static str,
    },
    /// The number is outside the range of the class.
    #[error("{value} does not fit in {bits} {}bits", if *signed { "signed " } else { "" })]
    DoesNotFit {
        /// The number.
        value: i128,
        /// Bits of the class.
        bits: u32,
        /// Whether one of them is the sign.
        signed: bool,
    },
    /// Too many or too few members, elements or bytes.
    #[error("expected {expected}, found {found}")]
    Count {
        /// Number that the class wants.
        expected: u64,
        /// Number that the value has.
        found: u64,
    },
    /// The structure class has no member, or the scope no class, of this name.
    #[error("there is no {0:?}")]
    NoMember(String),
    /// The variant class has fewer options.
    #[error("there is no option {0}")]
    NoOption(usize),
    /// Text of a null-terminated string holds a null code unit, or part of one.
    #[error("a null-terminated string cannot hold a null or partial code unit")]
    NullInText,
    /// A length or selector field says something else than the value that
    /// depends on it.
    #[error("{location} is {found}, but this value needs {wanted}")]
    Contradiction {
        /// The length or selector field.
        location: String,
        /// What it holds.
        found: i128,
        /// What it should hold.
        wanted: String,
    },
    /// The length or selector field was not found before the dependent one.
    #[error("{0} does not lead to a length or selector")]
    Unresolved(String),
    /// Byte order changes inside a byte.
    #[error("the byte order cannot change inside a byte")]
    ByteOrderChange,
    /// Fields of this size are not supported.
    #[error("fields of {0} bits are not supported")]
    Size(u32),
    /// The field class is nested too deeply.
    #[error("nested too deeply")]
    TooDeep,
}

impl WriteError {
    pub(super) fn io(file: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let file = file.into();
        move |source| WriteError::Io { file, source }
    }
}

/// A [`Problem`] on its way up to the root, collecting the path.
#[derive(Debug)]
pub(super) struct Misfit {
    /// Path steps, innermost first.
    steps: Vec<String>,
    problem: Problem,
}

impl From<Problem> for Misfit {
    fn from(problem: Problem) -> Self {
        Misfit { steps: Vec::new(), problem }
    }
}

impl Misfit {
    pub(super) fn within(mut self, step: &str) -> Self {
        self.steps.push(step.to_owned());
        self
    }

    /// At an array element.
    pub(super) fn at(self, index: usize) -> Self {
        self.within(&index.to_string())
    }

    /// The finished error, rooted at a scope.
    pub(super) fn in_scope(mut self, scope: crate::schema::Scope) -> WriteError {
        self.steps.push(scope.ctf2_name().to_owned());
        self.steps.reverse();
        WriteError::Value { place: self.steps.join("."), problem: self.problem }
    }
}

impl WriteError {
    /// The same error, its place within another.
    pub(super) fn under(mut self, outer: &str) -> Self {
        if let WriteError::Inexpressible { place, .. } | WriteError::Value { place, .. } = &mut self
        {
            *place = format!("{outer}: {place}");
        }
        self
    }
}
