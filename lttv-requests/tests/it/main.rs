//! The tests of this crate, in one program, since each program is linked on its own.

#[path = "../../../ltt-read/tests/support/arriving.rs"]
mod arriving;
#[path = "../../../lttv-context/tests/support/count.rs"]
mod count;
#[path = "../support/mod.rs"]
mod support;

mod auto_traits;
#[cfg(all(feature = "state", feature = "views"))]
mod charts;
#[cfg(feature = "views")]
mod event_times;
mod filters;
mod growing;
#[cfg(feature = "views")]
mod growing_views;
#[cfg(all(feature = "state", feature = "synchronize", feature = "views"))]
mod host_messages;
mod hostile_hooks;
mod level_hooks;
mod request_replay;
mod scenarios;
mod shared_background;
#[cfg(feature = "views")]
mod stop_and_continue;
#[cfg(feature = "async")]
mod task;
#[cfg(feature = "testing")]
mod testing;
mod together;
mod viewers;
#[cfg(feature = "views")]
mod views;
mod windows;
#[cfg(all(feature = "state", feature = "views"))]
mod without_state;
