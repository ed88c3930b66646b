//! Models that any user interface can draw, filled by requests.
//!
//! A model knows what a viewer shows: rows of a table, segments of a chart, counts
//! of a histogram. It makes the requests that fill it, and keeps what their hooks
//! find; the application submits them, and draws the model whenever it likes, while
//! it is being filled too. No model draws, waits, or knows a widget.
//!
//! | model | what it holds |
//! |---|---|
//! | [`Histogram`] | events per column of a time window |
//! | [`EventTable`] | a page of events, to be scrolled by events and by time |
//! | [`Timeline`] | rows of segments, no finer than wanted |
#![cfg_attr(feature = "state", doc = "| [`ControlFlow`] | what each process did: a [`Timeline`] |")]
#![cfg_attr(
    feature = "state",
    doc = "| [`Resources`] | what CPUs, interrupts, devices did: another |"
)]
//!
#![cfg_attr(
    feature = "state",
    doc = "[`Paint`] says how states are drawn: colours, signs, legends."
)]
//! [`ViewerKinds`] is where an application learns which viewers it can open.

#[cfg(feature = "state")]
mod chart;
mod color;
#[cfg(feature = "state")]
mod control_flow;
mod event_table;
mod histogram;
mod kinds;
#[cfg(feature = "state")]
mod paint;
#[cfg(feature = "state")]
mod resources;
mod row;
mod timeline;

#[cfg(feature = "state")]
pub use chart::{KernelChart, KernelRows};
pub use color::Color;
#[cfg(feature = "state")]
pub use control_flow::{ControlFlow, ProcessKey, ProcessLabel, ProcessRows, ProcessState};
pub use event_table::{EventTable, TableRow};
pub use histogram::Histogram;
pub use kinds::{DuplicateKind, ViewerKind, ViewerKinds};
#[cfg(feature = "state")]
pub use paint::Paint;
#[cfg(feature = "state")]
pub use resources::{Resource, ResourceKey, ResourceRows, ResourceState, Resources, SoftirqMode};
pub use row::{Row, Segment, SegmentState};
pub use timeline::Timeline;
