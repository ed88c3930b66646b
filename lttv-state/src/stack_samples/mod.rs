//! Samples of call stacks: the stacks that the events of a trace contain, added up.
//!
//! Profilers record the stack of what runs now and then, and tracers can add the stack to each event.
//! [`StackSampleAnalysis`] adds up the stacks of the events of one type by their weight, or those of threads that are
//! switched out by the time until they run again. [`FlameGraph`](crate::flame_graph::FlameGraph) puts the
//! paths of threads together.
//!
//! ```
//! use lttv_context::Traceset;
//! use lttv_state::analysis::read;
//! use lttv_state::stack_samples::{SampleSettings, SampledEvents, StackSampleAnalysis, Weight};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let traceset = Traceset::open(path)?;
//! let settings = SampleSettings { events: SampledEvents::OffCpu, weight: Weight::Samples };
//! let found = read(&traceset).threads(2).run(StackSampleAnalysis::new(settings));
//! for trace in found.output.traces() {
//!     // The events of this trace have no stacks.
//!     assert_eq!(trace.samples(), 0);
//! }
//! # Ok::<(), ltt_read::Error>(())
//! ```
//!
//! # Stacks
//!
//! | tracer | stacks | weight |
//! |---|---|---|
//! | perf | `callchain` of samples (`perf record -g`) | `period`, of tracepoints usually 1 |
//! | LTTng | the contexts `callstack_kernel` and `callstack_user` | 1 |
//! | ftrace | the event `ftrace:kernel_stack` after each event (`trace-cmd record -T`) | 1 |
//!
//! # Rules
//!
//! * The thread is the one that the event names, else the one that runs on its CPU by the kernel state. Its name
//!   is that at the time of the event.
//! * An address of a program is one of a file by the mappings of its process at that time, which perf records. An
//!   address above the first frame is one that a call returns to: its frame has the address of the last byte of the call.
//! * Time off CPU lasts from the switch that takes a thread from its CPU to the one that brings it back. It counts
//!   where it ends, with the stack of its begin. Idle tasks have none.
//! * Memory is bounded: see the limits in [`SampleAnomalies`].

mod analysis;
mod chain;
mod events;
mod fields;
mod frames;
mod modules;
mod needs;
mod recorded;
mod samples;
mod spaces;
mod state;
mod threads;

pub use analysis::{SampleSettings, SampledEvents, StackSampleAnalysis, Weight};
pub use events::{StackEvent, StackEventKind, stack_events};
pub use frames::{CodeMode, Frame, FrameId};
pub use needs::NEEDS;
pub use samples::{SampleAnomalies, SampledPath, StackSamples, TraceSamples, WeightUnit};
pub use threads::SampledThread;
