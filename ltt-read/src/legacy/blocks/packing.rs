//! The packing of the events of a block.

use super::block::TraceHeader;
use super::clock::TickClock;
use super::event_header::{Form, Ids};
use super::quick::Quick;
use super::version::Version;
use crate::schema::ByteOrder;

/// The packing of the events of one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packing {
    pub(crate) form: Form,
    /// The alignment of all payloads in bytes, minus 1 (before 2.0).
    pub(crate) payload_mask: u8,
    /// The fast path for most event headers (since 2.0).
    pub(crate) quick: Option<Quick>,
}

/// Returns the packing of the events of a block with this header.
pub(crate) fn packing(trace: &TraceHeader, compact: bool, clock: TickClock) -> Packing {
    let version = trace.version;
    let arch = trace.alignment.min(trace.arch_size).checked_next_power_of_two().unwrap_or(1);
    let mask = |size| version.align(trace.alignment, size) - 1;
    let (form, payload_mask) = match version {
        Version::Markers(_) => (Form::Markers { word: mask(4), tsc: mask(8) }, 0),
        _ if compact => {
            let align = if trace.alignment == 0 { 0 } else { 3 };
            (Form::Compact { bits: trace.compact, align }, 0)
        }
        _ => {
            let ids = if version.has_markers() { Ids::Marker } else { Ids::Facility };
            let (wide_tsc, align) = (!trace.has_heartbeat, arch.max(1) - 1);
            (Form::Heartbeat { wide_tsc, align, ids }, align)
        }
    };
    let quick = match form {
        Form::Markers { word, .. } => {
            let big = trace.order == ByteOrder::Big;
            Some(Quick { align_mask: 8 * u64::from(word) + 7, big, clock })
        }
        _ => None,
    };
    Packing { form, payload_mask, quick }
}
