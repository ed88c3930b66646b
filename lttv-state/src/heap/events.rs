//! The events of the heap.

use ltt_read::schema::{EventTypeId, Scope};
use ltt_read::{Event, Field, Trace};

use crate::call_stacks::IdentityFields;

/// An event type of the heap, resolved for one trace.
#[derive(Debug)]
pub(super) struct HeapEvent {
    pub(super) identity: IdentityFields,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// The size, the number of elements if that is a factor, the block, and the error.
    Allocate {
        size: Field,
        elements: Option<Field>,
        block: Field,
        error: Option<Field>,
    },
    Reallocate {
        old: Field,
        size: Field,
        block: Field,
    },
    Free(Field),
}

/// The change of the heap by one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    /// The block that is freed; 0 for the null pointer.
    pub(super) freed: Option<u64>,
    /// The block that is allocated and its size; a block of 0 if that failed.
    pub(super) allocated: Option<(u64, u64)>,
}

/// Returns `true` if a trace declares events of the heap.
///
/// ```
/// use ltt_read::Trace;
/// use lttv_state::heap::declares_blocks;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
/// assert!(!declares_blocks(&*Trace::open(path)?));
/// # Ok::<(), ltt_read::Error>(())
/// ```
pub fn declares_blocks(trace: &Trace) -> bool {
    let mut types = (0..trace.schema().event_types.len()).map(|at| EventTypeId(at as u32));
    types.any(|id| HeapEvent::of(trace, id).is_some())
}

impl HeapEvent {
    /// Returns the fields of an event type; `None` if it is not about the heap.
    pub(super) fn of(trace: &Trace, id: EventTypeId) -> Option<Self> {
        let (provider, name) = trace.event_type(id).name().split_once(':')?;
        // LTTng 2.5 and earlier use the short name.
        if !matches!(provider, "lttng_ust_libc" | "ust_libc") {
            return None;
        }
        let field = |name: &str| trace.field(id, Scope::Payload, name);
        let kind = match name {
            "malloc" | "memalign" | "aligned_alloc" | "valloc" | "pvalloc" => Kind::Allocate {
                size: field("size")?,
                elements: None,
                block: field("ptr")?,
                error: None,
            },
            "calloc" => Kind::Allocate {
                size: field("size")?,
                elements: Some(field("nmemb")?),
                block: field("ptr")?,
                error: None,
            },
            "posix_memalign" => Kind::Allocate {
                size: field("size")?,
                elements: None,
                block: field("out_ptr")?,
                error: field("result"),
            },
            "realloc" => Kind::Reallocate {
                old: field("in_ptr")?,
                size: field("size")?,
                block: field("ptr")?,
            },
            "free" => Kind::Free(field("ptr")?),
            _ => return None,
        };
        Some(HeapEvent { identity: IdentityFields::of(trace, id), kind })
    }

    /// Returns `true` if the events free blocks.
    pub(super) fn frees(&self) -> bool {
        matches!(self.kind, Kind::Free(_))
    }

    /// Returns the change by an event.
    #[inline]
    pub(super) fn change(&self, event: &Event<'_>) -> Change {
        let read = |field: &Field| event.integer(field).unwrap_or(0);
        match &self.kind {
            Kind::Allocate { size, elements, block, error } => {
                let elements = elements.as_ref().map_or(1, read);
                let failed = error.as_ref().is_some_and(|error| read(error) != 0);
                let block = if failed { 0 } else { read(block) };
                Change {
                    freed: None,
                    allocated: Some((block, read(size).saturating_mul(elements))),
                }
            }
            Kind::Reallocate { old, size, block } => {
                let (old, size, block) = (read(old), read(size), read(block));
                let freed = (old != 0 && (block != 0 || size == 0)).then_some(old);
                // A size of 0 frees without allocating.
                let allocated = (block != 0 || size != 0).then_some((block, size));
                Change { freed, allocated }
            }
            Kind::Free(block) => Change { freed: Some(read(block)), allocated: None },
        }
    }
}
