//! The tests of this package, in one program, since each program is linked on its own.

#[path = "../../../../../ltt-read/tests/support/daemon.rs"]
mod daemon;
#[path = "../../../../../ltt-read/tests/support/quarters.rs"]
mod quarters;
#[path = "../../../../../ltt-read/tests/support/relay.rs"]
mod relay;
#[path = "../../../../../ltt-read/tests/support/scripted.rs"]
mod scripted;
mod support;

mod calls;
mod critical_path;
mod export;
mod filters;
mod histogram;
mod hostile;
mod instances;
mod keys;
mod layout;
mod look;
mod losses;
mod messages;
mod mouse;
mod notes;
mod periods;
mod popup;
mod prompts;
mod pty;
mod recording;
mod rows;
mod statistics;
mod stop;
mod tabs;
mod terminal;
mod terminal_sizes;
mod times;
mod traces;
mod user_docs;
mod user_space;
mod viewers;
