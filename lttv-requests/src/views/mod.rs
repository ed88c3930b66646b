//! Models that any user interface can draw, filled by requests.
//!
//! A model contains the data that a viewer shows: rows of a table, segments of a chart,
//! counts of a histogram. It creates the requests that fill it, and its hooks store their
//! results in it. The application submits the requests, and can draw the model at any
//! time, even while it is being filled. Models do not draw, do not block, and do not
//! depend on a toolkit.
//!
//! | model | content |
//! |---|---|
//! | [`Histogram`] | events per column of a time window |
//! | [`EventTable`] | a page of events, scrolled by events or by time |
//! | [`Timeline`] | rows of segments, down to a given resolution |
#![cfg_attr(
    feature = "state",
    doc = "| [`ControlFlow`] | the states of each process, in a [`Timeline`] |"
)]
#![cfg_attr(
    feature = "state",
    doc = "| [`Resources`] | the states of CPUs, interrupts and devices, in a [`Timeline`] |"
)]
//!
#![cfg_attr(
    feature = "state",
    doc = "[`Paint`] defines how states are drawn: colours, signs, legends."
)]
//! [`ViewerKinds`] is a registry of the kinds of viewers that an application can open.

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
