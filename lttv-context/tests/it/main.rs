//! The tests of this crate, in one program, since each program is linked on its own.

#[path = "../../../ltt-read/tests/support/arriving.rs"]
mod arriving;
#[cfg(feature = "synchronize")]
#[path = "../support/clocks.rs"]
mod clocks;
#[path = "../support/count.rs"]
mod count;
#[cfg(feature = "synchronize")]
#[path = "../support/recordings.rs"]
mod recordings;
#[path = "../support/mod.rs"]
mod support;

mod attributes;
#[cfg(all(feature = "checkpoint-files", feature = "framework"))]
mod auto_traits;
#[cfg(feature = "framework")]
mod batch;
mod check;
#[cfg(feature = "checkpoint-files")]
mod checkpoints;
mod choose_positions;
#[cfg(all(feature = "checkpoint-files", feature = "framework", feature = "live"))]
mod errors;
#[cfg(feature = "testing")]
mod events_in_slices;
mod fingerprints;
mod following;
mod foreign_checkpoints;
mod growing;
#[cfg(feature = "framework")]
mod hook_errors;
mod hooks;
mod model;
#[cfg(feature = "framework")]
mod modules;
mod natural;
#[cfg(feature = "framework")]
mod options;
mod packets;
mod parallel;
#[cfg(feature = "framework")]
mod session;
#[cfg(feature = "testing")]
mod slice_analysis;
mod slices_with_state;
#[cfg(feature = "synchronize")]
mod synchronize_events;
#[cfg(feature = "synchronize")]
mod synchronize_hosts;
#[cfg(feature = "synchronize")]
mod synchronize_lines;
#[cfg(feature = "synchronize")]
mod synchronize_messages;
#[cfg(feature = "synchronize")]
mod synchronize_recordings;
#[cfg(feature = "synchronize")]
mod synchronize_references;
mod traceset_attributes;
mod unordered;
mod windows;
