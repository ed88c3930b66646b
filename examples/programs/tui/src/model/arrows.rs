//! Messages between processes of several hosts, as arrows between columns of the screen.

use std::collections::HashSet;

use lttv_context::Handle;
use lttv_context::Traceset;
use lttv_context::synchronize::matching::{Hosts, Rules};
use lttv_requests::views::{HostMessageEnd, HostMessages, ProcessKey};
use lttv_requests::{Owner, Scheduler, SubmitError};
use lttv_state::kernel::KernelState;

use super::axis::Axis;

/// The messages of a time window.
#[derive(Debug)]
pub struct Arrows {
    owner: Owner,
    now: Option<(Axis, HostMessages)>,
}

/// An arrow, or several messages that are one on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Arrow {
    /// The end at which the message was sent.
    pub from: ArrowEnd,
    /// The end at which the message was received.
    pub to: ArrowEnd,
}

/// An end of an [`Arrow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ArrowEnd {
    /// The process; `None` if there is none: see [`HostMessageEnd::process`].
    pub process: Option<ProcessKey>,
    /// The column of the axis.
    pub column: usize,
}

impl Arrows {
    /// Creates an empty model, whose requests are of an owner.
    pub fn new(owner: Owner) -> Self {
        Arrows { owner, now: None }
    }

    /// Starts to look for the messages in the window of an axis, unless it is the current one.
    ///
    /// # Errors
    ///
    /// Never: the request contains no position.
    pub fn set_axis(
        &mut self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
        traceset: &Traceset,
        axis: Axis,
    ) -> Result<(), SubmitError> {
        match &mut self.now {
            Some((known, _)) if *known == axis => return Ok(()),
            Some((known, messages)) => {
                *known = axis;
                messages.show(axis.window());
            }
            None => {
                let (hosts, rules) = (Hosts::of(traceset), Rules::built_in());
                let messages = HostMessages::new(traceset, &hosts, &rules, axis.window());
                self.now = Some((axis, messages));
            }
        }
        self.resume(scheduler, kernel)
    }

    /// Requests what is missing, after requests were cancelled.
    ///
    /// # Errors
    ///
    /// Never: the request contains no position.
    pub fn resume(
        &mut self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
    ) -> Result<(), SubmitError> {
        let Some((_, messages)) = &self.now else { return Ok(()) };
        scheduler.cancel_owner(self.owner);
        if messages.can_exist() && !messages.is_complete() {
            scheduler.submit(messages.request(self.owner, kernel))?;
        }
        Ok(())
    }

    /// Removes all messages and cancels requests.
    pub fn stop(&mut self, scheduler: &mut Scheduler<'static>) {
        scheduler.cancel_owner(self.owner);
        self.clear();
    }

    /// Removes all messages. The requests must have ended.
    pub fn clear(&mut self) {
        self.now = None;
    }

    /// Returns the number of messages in the window, if hosts may have exchanged any.
    pub fn count(&self) -> Option<u64> {
        let (_, messages) = self.now.as_ref().filter(|(_, messages)| messages.can_exist())?;
        Some(messages.messages().len() as u64 + messages.omitted())
    }

    /// Returns the arrows, each once.
    pub fn all(&self) -> Vec<Arrow> {
        let Some((axis, messages)) = &self.now else { return Vec::new() };
        let end = |end: &HostMessageEnd| {
            let column = axis.column(end.time)?;
            Some(ArrowEnd { process: end.process, column })
        };
        let mut known = HashSet::new();
        let messages = messages.messages();
        let arrows = messages
            .iter()
            .filter_map(|of| Some(Arrow { from: end(&of.sender)?, to: end(&of.receiver)? }));
        arrows.filter(|arrow| known.insert(*arrow)).collect()
    }
}
