//! The time for which processes were blocked, by what they waited for.

use std::collections::BTreeMap;

use ltt_read::Timestamp;
use lttv_common::activity::{Doing, name_of};
use lttv_context::{Extensions, Handle, TracesetContext};
use lttv_state::kernel::{KernelState, TraceState};

use super::side::{Handled, UNKNOWN, command};
use crate::waits::{Lives, Waker};

/// A kind of waits: the command, and the cause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wait {
    pub(super) command: String,
    /// The system call in which they waited; empty if there was none.
    pub(super) place: String,
    /// The interrupt or command that ended the wait; empty if it is not known.
    pub(super) woken_by: String,
}

/// The collection of waits in a context.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waits(Handle<Vec<Lives>>);

impl Waits {
    /// Registers the collection from a time on, at which the context stands.
    pub(super) fn attach(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        start: Timestamp,
    ) -> Self {
        let lives = Lives::of_all(&context.extensions()[kernel], Some(start));
        let lives = context.attach_data(lives);
        context.on_event("*", move |call| Lives::record(call, lives, kernel));
        Waits(lives)
    }

    /// Ends the waits that are open at the end.
    pub(super) fn finish(self, extensions: &mut Extensions, end: Timestamp) {
        for lives in extensions.get_mut(self.0).into_iter().flatten() {
            lives.finish(end);
        }
    }

    /// Adds the waits of a trace.
    pub(super) fn add_to(
        self,
        sums: &mut BTreeMap<Wait, Handled>,
        extensions: &Extensions,
        trace: usize,
        state: &TraceState,
    ) {
        let Some(lives) = extensions[self.0].get(trace) else { return };
        for life in lives.threads().filter(|life| !life.is_idle()) {
            for episode in life.episodes() {
                let Doing::Blocked(submode) = episode.doing else { continue };
                let wait = Wait {
                    command: command(life.tid(), state.name(life.name())),
                    place: name_of(state, submode).unwrap_or_default().to_owned(),
                    woken_by: episode.waker.map_or_else(String::new, |by| waker(by, lives, state)),
                };
                sums.entry(wait).or_default().add(1, episode.time());
            }
        }
    }
}

/// Describes a waker: an interrupt with its name, or a command.
fn waker(waker: Waker, lives: &Lives, state: &TraceState) -> String {
    if waker.mode.is_interrupt() {
        let name = name_of(state, waker.submode).unwrap_or_default();
        return format!("{} {name}", waker.mode.as_str()).trim_end().to_owned();
    }
    match lives.thread(waker.thread) {
        Some(life) => command(life.tid(), state.name(life.name())),
        None => UNKNOWN.to_owned(),
    }
}
