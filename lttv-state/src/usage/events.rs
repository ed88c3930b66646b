//! The events that measure pages and packets.

use std::sync::Arc;

use ltt_read::schema::{EventTypeId, Scope};
use ltt_read::{Event, Field, Trace, Value};

use super::counts::Pages;
use crate::kernel::Transition::{Frequency, Migrate, Switch};
use crate::kernel::needs::EventKind::{Named, Transition};
use crate::kernel::needs::{Need, without_system};

/// A measurement by an event, with the name of an interface or what stands for it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Measure<N> {
    Pages(Pages),
    Sent { interface: N, bytes: u64 },
    Received { interface: N, bytes: u64 },
    Retransmission,
}

impl<N> Measure<N> {
    /// Replaces the name.
    pub(super) fn map<M>(self, of: impl FnOnce(N) -> M) -> Measure<M> {
        match self {
            Measure::Pages(pages) => Measure::Pages(pages),
            Measure::Sent { interface, bytes } => Measure::Sent { interface: of(interface), bytes },
            Measure::Received { interface, bytes } => {
                Measure::Received { interface: of(interface), bytes }
            }
            Measure::Retransmission => Measure::Retransmission,
        }
    }
}

/// The kinds of figures that need events of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Figure {
    /// The threads that run on CPUs, and the switches between them.
    Cpu,
    /// The migrations of threads to other CPUs.
    Migrations,
    /// The clock frequencies of CPUs.
    Frequencies,
    /// The memory pages.
    Pages,
    /// The packets that interfaces send.
    Sent,
    /// The packets that interfaces receive.
    Received,
    /// The TCP segments that are sent again.
    Retransmissions,
}

impl Figure {
    /// All figures.
    pub const ALL: [Figure; 7] = [
        Figure::Cpu,
        Figure::Migrations,
        Figure::Frequencies,
        Figure::Pages,
        Figure::Sent,
        Figure::Received,
        Figure::Retransmissions,
    ];

    /// Returns the events that it needs.
    pub const fn need(self) -> Need {
        NEEDS[self as usize]
    }
}

/// The needs of the usage of CPUs, memory and network: those of each [`Figure`], in their order.
pub const NEEDS: &[Need] = &[
    Need::all(&[Transition(Switch)], "sched_switch", "no CPU is known to be used").required(),
    Need::all(&[Transition(Migrate)], "sched_migrate_task", "migrations are unknown"),
    Need::all(
        &[Transition(Frequency)],
        "power_cpu_frequency",
        "the frequencies of CPUs are unknown",
    ),
    Need::all(&[Named(ALLOCATED)], "kmem_mm_page_alloc", "the use of memory is unknown"),
    Need::all(&[Named(SENT)], "net_dev_xmit", "sent packets are unknown"),
    Need::all(&[Named(RECEIVED)], "net_if_receive_skb", "received packets are unknown"),
    Need::all(&[Named(RETRANSMITTED)], "tcp_retransmit_skb", "retransmissions are unknown"),
];

/// The first names are preferred: if a trace has one of their events, the later ones are not
/// counted. Packets of the loopback device pass `net_if_rx` and then `net_if_receive_skb`.
const SENT: &[&str] = &["net_dev_xmit", "net_dev_queue"];
const RECEIVED: &[&str] = &["net_if_receive_skb", "netif_receive_skb", "net_if_rx", "netif_rx"];
const ALLOCATED: &[&str] = &["kmem_mm_page_alloc", "mm_page_alloc"];
const FREED: &[&str] = &["kmem_mm_page_free", "mm_page_free"];
const RETRANSMITTED: &[&str] = &["tcp_retransmit_skb"];

/// The result of a send that has to be tried again: no packet was sent.
const BUSY: u64 = 0x10;

/// An event type that measures something, with its fields.
#[derive(Debug)]
pub(super) enum Source {
    Allocation {
        order: Option<Field>,
        /// The number of the first page, and its value after a failure.
        page: Option<(Field, u64)>,
    },
    Free {
        order: Option<Field>,
    },
    Sent {
        name: Option<Field>,
        bytes: Option<Field>,
        result: Option<Field>,
    },
    Received {
        name: Option<Field>,
        bytes: Option<Field>,
    },
    Retransmission,
}

impl Source {
    /// Finds the event types of a trace that measure something.
    pub(super) fn all_of(trace: &Arc<Trace>) -> Vec<(EventTypeId, Source)> {
        let (sent, received) = (chosen(trace, SENT), chosen(trace, RECEIVED));
        let types = trace.schema().event_types.iter().enumerate();
        let sources = types.filter_map(|(number, event_type)| {
            let id = EventTypeId(number as u32);
            let field = |name: &str| trace.field(id, Scope::Payload, name);
            let name = without_system(event_type.name());
            let source = if ALLOCATED.contains(&name) {
                let by_number = field("pfn").map(|field| (field, u64::MAX));
                let page = by_number.or_else(|| field("page").map(|field| (field, 0)));
                Source::Allocation { order: field("order"), page }
            } else if FREED.contains(&name) {
                Source::Free { order: field("order") }
            } else if sent == Some(name) {
                Source::Sent { name: field("name"), bytes: field("len"), result: field("rc") }
            } else if received == Some(name) {
                Source::Received { name: field("name"), bytes: field("len") }
            } else if RETRANSMITTED.contains(&name) {
                Source::Retransmission
            } else {
                return None;
            };
            Some((id, source))
        });
        sources.collect()
    }

    /// Calls a function with what an event measures, if it measures something.
    pub(super) fn read(&self, event: &Event<'_>, found: impl FnOnce(Measure<&str>)) {
        let integer = |field: &Option<Field>| field.as_ref().and_then(|field| event.integer(field));
        let pages = |order: &Option<Field>| {
            // More than the memory of any machine is no order.
            let order = u32::try_from(integer(order).unwrap_or(0)).ok().filter(|order| *order < 48);
            order.map_or(0, |order| 1_u64 << order)
        };
        let text = |name: &Option<Field>| match name.as_ref().and_then(|name| event.get(name)) {
            Some(Value::Str(text)) => text.to_str_lossy(),
            _ => "".into(),
        };
        match self {
            Source::Allocation { order, page } => {
                let value = page.as_ref().and_then(|(field, _)| event.integer(field));
                let failed =
                    page.as_ref().zip(value).is_some_and(|((_, none), value)| value == *none);
                found(Measure::Pages(match failed {
                    true => Pages { failures: 1, ..Pages::default() },
                    false => Pages { allocated: pages(order), ..Pages::default() },
                }));
            }
            Source::Free { order } => {
                found(Measure::Pages(Pages { freed: pages(order), ..Pages::default() }));
            }
            Source::Sent { name, bytes, result } => {
                if integer(result) == Some(BUSY) {
                    return;
                }
                let (interface, bytes) = (&*text(name), integer(bytes).unwrap_or(0));
                found(Measure::Sent { interface, bytes });
            }
            Source::Received { name, bytes } => {
                let (interface, bytes) = (&*text(name), integer(bytes).unwrap_or(0));
                found(Measure::Received { interface, bytes });
            }
            Source::Retransmission => found(Measure::Retransmission),
        }
    }
}

/// Returns the first of some names that events of a trace may have.
fn chosen(trace: &Arc<Trace>, names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| {
        trace.may_have_events(|id| without_system(trace.event_type(id).name()) == *name)
    })
}
