//! What can go wrong, and where.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::metadata::MetadataError;

/// Why a trace could not be opened, or why reading a tracefile stopped.
///
/// What does not stop reading is a [`Notice`](crate::Notice).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to open or read a file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A directory lies more than 16 directories below the path that was given, and
    /// is not searched.
    #[error("{}: not searched for traces: more than 16 directories deep", path.display())]
    TooDeep {
        /// The directory.
        path: PathBuf,
    },
    /// A path holds no trace.
    #[error("{}: no trace here: {reason}", path.display())]
    NotATrace {
        /// The path that was given.
        path: PathBuf,
        /// What was looked for and not found.
        reason: &'static str,
    },
    /// The metadata of a trace cannot be used.
    #[error("{}:{source}", path.display())]
    Metadata {
        /// The metadata file.
        path: PathBuf,
        /// What is wrong in it.
        source: Box<MetadataError>,
    },
    /// The metadata is sound, but no decoder can be made for it.
    #[error("{}: {kind}", path.display())]
    Unsupported {
        /// The trace directory.
        path: PathBuf,
        /// What the obstacle is.
        kind: DecodeError,
    },
    /// A data stream file cannot be decoded beyond a place.
    #[error("{place}: {kind}")]
    Decode {
        /// Where.
        place: Place,
        /// Why.
        kind: DecodeError,
    },
}

impl Error {
    /// Where in a data stream file, if it is about one.
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
    /// The file.
    pub file: Arc<Path>,
    /// Number of the packet in its file, from 0.
    pub packet: u64,
    /// Offset in bits from the start of the file.
    pub offset: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (byte, bit) = (self.offset / 8, self.offset % 8);
        write!(f, "{}: packet {}, byte {byte}", self.file.display(), self.packet)?;
        if bit != 0 { write!(f, " bit {bit}") } else { Ok(()) }
    }
}

/// Why bytes are not a sound packet or event record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The packet header names a stream class that the metadata lacks.
    #[error("no stream class has the id {id}")]
    UnknownStreamClass {
        /// The id found.
        id: u64,
    },
    /// An event header names an event type that the metadata lacks.
    #[error("no event type of this stream has the id {id}")]
    UnknownEventType {
        /// The id found.
        id: u64,
    },
    /// A packet's total size is not whole bytes.
    #[error("packet size of {bits} bits is not a multiple of 8")]
    PacketSizeNotBytes {
        /// The size found.
        bits: u64,
    },
    /// A packet claims to be smaller than what was already read of it.
    #[error("packet size of {bits} bits is less than its header and context need ({needed} bits)")]
    PacketTooSmall {
        /// The size found.
        bits: u64,
        /// Bits of header and context.
        needed: u64,
    },
    /// A packet's content claims to be larger than the packet.
    #[error("packet content of {content} bits is larger than the packet ({total} bits)")]
    ContentBeyondPacket {
        /// Content size found.
        content: u64,
        /// Total size found.
        total: u64,
    },
    /// The file ends before the packet does.
    #[error("the file ends {missing} bytes before the end of this packet")]
    TruncatedPacket {
        /// How much is missing.
        missing: u64,
    },
    /// A field ends beyond the content of its packet.
    #[error("a field needs {needed} bits more than the packet content has")]
    BeyondContent {
        /// How much is missing.
        needed: u64,
    },
    /// A null-terminated string does not end within its packet.
    #[error("a string has no end within the packet content")]
    UnterminatedString,
    /// A variable-length integer is longer than 64 bits.
    #[error("a variable-length integer holds more than 64 bits")]
    OversizedInteger,
    /// No option of a variant is selected by the selector's value.
    #[error("no option of the variant is selected by the value {value}")]
    NoVariantOption {
        /// The selector, as a signed number if its class is signed.
        value: i128,
    },
    /// Two neighbouring fields share a byte but not the byte order.
    #[error("the byte order changes within a byte")]
    ByteOrderChange,
    /// An array has more elements than its data could hold.
    #[error("an array of {len} elements cannot be in this packet")]
    ArrayTooLong {
        /// Its length.
        len: u64,
    },
    /// The arrays of an event or a packet's header have many more fields than bits:
    /// reading them would take time that no data accounts for. Beyond one a bit, some
    /// ten thousand are read.
    #[error("the fields in arrays are too many for their {bits} bits of data")]
    TooManyFields {
        /// Bits from the start of the region, such as the fields of an event, to the end
        /// of the array.
        bits: u64,
    },
    /// A clock value is so large that its time cannot be told.
    #[error("the clock value {cycles} is beyond the range of times")]
    TimeOverflow {
        /// The clock's value.
        cycles: u64,
    },
    /// An event record of no bits at all: reading it would never end.
    #[error("an event record of this type has no bits")]
    EmptyEvent,
    /// A fixed-length field has a length that no decoder here can read.
    #[error("fixed-length fields of {bits} bits are not supported")]
    UnsupportedLength {
        /// Its length.
        bits: u32,
    },
    /// A length or selector was never resolved: the schema was made by hand
    /// and did not pass through [`crate::metadata`].
    #[error("a length or selector location of this type is not resolved")]
    Unresolved,
    /// There is no header of a sub-buffer here (legacy formats).
    #[error("this is no sub-buffer of an LTTng 0.x trace")]
    NotABlock,
    /// A sub-buffer is of a version that is not supported (legacy formats).
    #[error("sub-buffers of version {major}.{minor} are not supported")]
    UnknownBlockVersion {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// A sub-buffer differs in version or byte order from the others of its
    /// trace (legacy formats).
    #[error("version or byte order of this sub-buffer are not those of the trace")]
    ForeignBlock,
    /// The alignment of a sub-buffer is no power of two (legacy formats).
    #[error("an alignment of {alignment} bytes is no power of two")]
    BadAlignment {
        /// The alignment found.
        alignment: u8,
    },
    /// The fields of an event are not as large as its header says (legacy
    /// formats).
    #[error("the fields need {found} bytes, but the event header tells {declared}")]
    SizeMismatch {
        /// Bytes, as the header tells.
        declared: u64,
        /// Bytes that the fields need.
        found: u64,
    },
    /// An event type's fields are too many or too deeply nested.
    #[error("the fields of this type are too many or nested too deeply")]
    TooComplex,
}
