//! Errors, and places in files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::metadata::MetadataError;

/// An error from opening a trace or from reading a tracefile.
///
/// An anomaly that does not stop reading is a [`Notice`](crate::Notice) instead.
///
/// An error of the operating system is the [`source`](std::error::Error::source), and not part of the text:
/// print errors by [`ErrorChain`](crate::ErrorChain). The reasons that this crate finds itself
/// ([`DecodeError`], [`LayoutError`], [`MetadataError`]) are part of the text.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system failed to open or read a file.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error from the operating system.
        #[source]
        error: std::io::Error,
    },
    /// A directory lies more than 16 directories below the given path and is not
    /// searched.
    #[error("{}: not searched for traces: more than 16 directories deep", path.display())]
    TooDeep {
        /// The path of the directory.
        path: PathBuf,
    },
    /// There is no trace at a path.
    #[error("{}: no trace here: {reason}", path.display())]
    NotATrace {
        /// The path in which the caller searched.
        path: PathBuf,
        /// The reason: the item that was not found.
        reason: &'static str,
    },
    /// The metadata of a trace is invalid.
    #[error("{}:{error}", path.display())]
    Metadata {
        /// The path of the metadata file.
        path: PathBuf,
        /// The error in the metadata.
        error: Box<MetadataError>,
    },
    /// The metadata is valid, but no decoder can be compiled from it.
    #[error("{}: {kind}", path.display())]
    Unsupported {
        /// The path of the trace directory.
        path: PathBuf,
        /// The unsupported property of the metadata.
        kind: LayoutError,
    },
    /// The metadata of a growing trace no longer declares what it declared before, so the ids of
    /// event types would change.
    #[error("{}: the metadata has changed: {reason}", path.display())]
    MetadataChanged {
        /// The path of the trace.
        path: PathBuf,
        /// The change.
        reason: &'static str,
    },
    /// A part of a recording before its packets is damaged.
    #[error("{}: {section}, byte {offset}: {reason}", path.display())]
    Section {
        /// The path of the file.
        path: PathBuf,
        /// The name of the part.
        section: &'static str,
        /// The place in the file, in bytes; the start of the part if it is compressed.
        offset: u64,
        /// The fault.
        reason: &'static str,
    },
    /// A data stream file cannot be decoded beyond a place.
    #[error("{place}: {kind}")]
    Decode {
        /// The place of the damage.
        place: Place,
        /// The kind of the damage.
        kind: DecodeError,
    },
}

crate::debug_as_chain!(Error, DecodeError, LayoutError);

impl Error {
    /// Returns the place in a data stream file; `None` unless this is [`Error::Decode`].
    pub fn place(&self) -> Option<&Place> {
        match self {
            Error::Decode { place, .. } => Some(place),
            _ => None,
        }
    }
}

/// A place in a data stream file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The path of the file.
    pub file: Arc<Path>,
    /// The number of the packet in its file, from 0.
    pub packet: u64,
    /// The offset from the start of the file, in bits.
    pub offset: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (byte, bit) = (self.offset / 8, self.offset % 8);
        write!(f, "{}: packet {}, byte {byte}", self.file.display(), self.packet)?;
        if bit != 0 { write!(f, " bit {bit}") } else { Ok(()) }
    }
}

/// The reason why bytes are not a sound packet or event record.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The packet header has the id of no stream class in the metadata.
    #[error("no stream class has the id {id}")]
    UnknownStreamClass {
        /// The id in the data.
        id: u64,
    },
    /// An event header has the id of no event type in the metadata.
    #[error("no event type of this stream has the id {id}")]
    UnknownEventType {
        /// The id in the data.
        id: u64,
    },
    /// A packet belongs to another stream than the tracefile. The streams of a file are told apart when it is
    /// opened, except where only the first packets are compared: in traces of LTTng of more than 16 MiB.
    #[error(
        "this packet is of another stream (class {class}{}{}) than those before it",
        named(", id ", *id),
        named(", CPU ", *cpu)
    )]
    OtherStream {
        /// The id of its stream class.
        class: u64,
        /// The id of its stream within the class, if it declares one.
        id: Option<u64>,
        /// Its CPU, if it declares one.
        cpu: Option<u32>,
    },
    /// The total size of a packet is not a multiple of 8 bits.
    #[error("packet size of {bits} bits is not a multiple of 8")]
    PacketSizeNotBytes {
        /// The declared size, in bits.
        bits: u64,
    },
    /// The declared size of a packet is less than the size of its header and context.
    #[error("packet size of {bits} bits is less than its header and context need ({needed} bits)")]
    PacketTooSmall {
        /// The declared size, in bits.
        bits: u64,
        /// The size of header and context, in bits.
        needed: u64,
    },
    /// The declared content size of a packet is greater than its total size.
    #[error("packet content of {content} bits is larger than the packet ({total} bits)")]
    ContentBeyondPacket {
        /// The declared content size, in bits.
        content: u64,
        /// The declared total size, in bits.
        total: u64,
    },
    /// The file ends before the packet does.
    #[error("the file ends {missing} bytes before the end of this packet")]
    TruncatedPacket {
        /// The number of missing bytes.
        missing: u64,
    },
    /// A field ends beyond the content of its packet.
    #[error("a field needs {needed} bits more than the packet content has")]
    BeyondContent {
        /// The number of missing bits.
        needed: u64,
    },
    /// A null-terminated string does not end within its packet.
    #[error("a string has no end within the packet content")]
    UnterminatedString,
    /// A variable-length integer is longer than 64 bits.
    #[error("a variable-length integer holds more than 64 bits")]
    OversizedInteger,
    /// The value of a selector selects no option of its variant.
    #[error("no option of the variant is selected by the value {value}")]
    NoVariantOption {
        /// The value of the selector, signed if its class is signed.
        value: i128,
    },
    /// Two successive fields with different byte orders share a byte.
    #[error("the byte order changes within a byte")]
    ByteOrderChange,
    /// The arrays in a region, such as the fields of an event, have many more fields than
    /// bits, so that decoding them would take unbounded time. The limit is one field per
    /// bit, and some ten thousand fields more.
    #[error("arrays have too many fields for their {bits} bits of data")]
    TooManyFields {
        /// The size from the start of the region to the end of the array, in bits.
        bits: u64,
    },
    /// A clock value is so large that its time is out of range.
    #[error("the clock value {cycles} is beyond the range of timestamps")]
    TimeOverflow {
        /// The clock value, in cycles.
        cycles: u64,
    },
    /// An event record has a size of 0 bits, so reading would never advance.
    #[error("an event record of this type has no bits")]
    EmptyEvent,
    /// The bytes are not the header of a sub-buffer (formats before CTF).
    #[error("not an LTTng 0.x sub-buffer")]
    NotASubBuffer,
    /// The version of a sub-buffer is not supported (formats before CTF).
    #[error("sub-buffers of version {major}.{minor} are not supported")]
    UnknownSubBufferVersion {
        /// The major version in the sub-buffer's header.
        major: u8,
        /// The minor version in the sub-buffer's header.
        minor: u8,
    },
    /// The version or byte order of a sub-buffer differs from that of the trace (formats
    /// before CTF).
    #[error("the version or byte order of this sub-buffer differs from that of the trace")]
    ForeignSubBuffer,
    /// The alignment in a sub-buffer's header is not a power of two (formats before CTF).
    #[error("an alignment of {alignment} bytes is not a power of two")]
    BadAlignment {
        /// The declared alignment, in bytes.
        alignment: u8,
    },
    /// The size of an event's fields differs from the size in its header (formats before
    /// CTF).
    #[error("event header declares {declared} bytes, its fields need {found}")]
    SizeMismatch {
        /// The size in the header, in bytes.
        declared: u64,
        /// The size of the fields, in bytes.
        found: u64,
    },
    /// The bytes are not the header of a record (perf).
    #[error("not a record")]
    NotARecord,
    /// Compressed packets cannot be decompressed.
    #[error("compressed data is damaged")]
    DamagedCompression,
    /// The method by which packets are compressed is not supported.
    #[error("this method of compression is not supported")]
    UnknownCompression,
    /// The metadata describes the bytes, but no decoder can be compiled from it.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// The reason why no decoder can be compiled from the metadata of an event type or stream
/// class.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A fixed-length field has an unsupported length.
    #[error("fixed-length fields of {bits} bits are not supported")]
    UnsupportedLength {
        /// The length of the field, in bits.
        bits: u32,
    },
    /// A length or selector is not resolved, because the schema was constructed without
    /// [`crate::metadata`].
    #[error("a length or selector location of this type is not resolved")]
    Unresolved,
    /// An array of constant length has far more fields than bits.
    #[error("an array of {len} elements does not fit in the packet")]
    ArrayTooLong {
        /// The number of elements.
        len: u64,
    },
    /// An event type has too many fields, or they are nested too deeply.
    #[error("the type has too many fields, or they are nested too deeply")]
    TooComplex,
}

/// Returns a number with the text before it; nothing without a number.
fn named(before: &str, number: Option<impl fmt::Display>) -> String {
    number.map_or_else(String::new, |number| format!("{before}{number}"))
}
