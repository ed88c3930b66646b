//! Reading traces while they are recorded.
//!
//! A context continues with a later version of its traceset: it extends the tables of hooks, its
//! filter and its extensions by the new event types, tracefiles and traces. What cannot be extended
//! is refused. A read that comes to the watermark ends with `EndReason::Pending`, at a
//! position before the first event to come. Until a new tracefile has its first packet, positions stand
//! before the first tracefile that can still deliver.

use std::any::type_name;
use std::{fmt, mem};

use ltt_read::{Merge, Timestamp};

use super::TracesetContext;
use crate::extension::{Fixed, Setup};
use crate::hooks::Commands;
use crate::traceset::{StalePosition, Traceset};

/// # Growing
///
/// A context of a [growing traceset](Traceset::growing) delivers events up to the
/// [`watermark`](Self::watermark): no event before it can still arrive, so the order of what was
/// delivered never changes. A read that comes to it ends with
/// [`EndReason::Pending`](crate::EndReason::Pending).
///
/// A [`Recording`](crate::Recording) follows directories or a live session, and makes the calls of this
/// example:
///
/// ```
/// use ltt_read::GrowingTrace;
/// use lttv_context::{Bounds, EndReason, TracesetContext, Traceset};
///
/// let metadata = br#"/* CTF 1.8 */
///     trace { major = 1; minor = 8; byte_order = le; };
///     event { name = "tick"; fields := struct { integer { size = 8; } n; }; };"#;
/// let mut trace = GrowingTrace::new("ticks", metadata)?;
/// let stream = trace.add_tracefile("stream");
/// let mut traceset = Traceset::growing();
/// let mut ticks = Vec::new();
/// let mut context = TracesetContext::new(&traceset);
/// context.on_event("tick", |call| ticks.extend(call.event.field("n").and_then(|n| n.as_u64())));
/// for part in [[1, 2], [3, 4]] {
///     trace.append(stream, part.to_vec());
///     traceset.continue_with(&[trace.version().clone()]);
///     context.continue_with(&traceset)?;
///     let read = context.read(&Bounds::all())?;
///     assert_eq!((read.events, read.reason), (2, EndReason::Pending));
///     trace.release(context.merge(), 0);
/// }
/// drop(context);
/// assert_eq!(ticks, [1, 2, 3, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl TracesetContext<'_> {
    /// Continues with a later state of the traceset. The position stays, and so do all hooks; those
    /// for events by name are also called for event types that are new. Extensions and the
    /// filter are prepared for new parts of the traces. Hooks before reading are not called for traces and
    /// tracefiles that are new.
    ///
    /// # Errors
    ///
    /// A [`GrowthError`] if something cannot be prepared for new parts of the traces. Nothing changes then.
    ///
    /// # Panics
    ///
    /// If a trace is no later version of the one in its place.
    pub fn continue_with(&mut self, traceset: &Traceset) -> Result<(), GrowthError> {
        let (position, own) = (traceset.revision(), self.traceset().revision());
        if position != own {
            return Err(GrowthError::OtherTraceset(StalePosition { position, traceset: own }));
        }
        let declares_more = self.contexts.is_extended_by(traceset);
        if declares_more {
            self.prepare_filter(traceset)?;
        }
        self.contexts.continue_with(traceset.clone());
        let tracefiles = traceset.tracefiles();
        self.reader.continue_with(traceset.traces(), &tracefiles, traceset.is_growing());
        if declares_more {
            self.hooks.grow(&self.contexts);
            for extension in &self.attached {
                let mut hooks = Commands::default();
                extension.grow(&mut Setup {
                    contexts: &self.contexts,
                    extensions: self.state.extensions_mut(),
                    hooks: &mut hooks,
                });
                self.hooks.add_extension(&self.contexts, hooks);
            }
        }
        let mut followers = mem::take(&mut self.followers);
        followers.0.iter().for_each(|follow| follow(self));
        // They may have added others.
        followers.0.append(&mut self.followers.0);
        self.followers = followers;
        Ok(())
    }

    /// Calls a function after each [`continue_with`](Self::continue_with), in which an analysis
    /// whose hooks and data are in this context follows what is new. Extensions are prepared
    /// by [`Extension::growth`](crate::Extension::growth) before.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    ///
    /// use lttv_context::{Traceset, TracesetContext};
    ///
    /// let found = Rc::new(Cell::new(0));
    /// let mut traceset = Traceset::growing();
    /// let mut context = TracesetContext::new(&traceset);
    /// let of_context = found.clone();
    /// context.on_growth(move |context| {
    ///     of_context.set(context.traceset().traces().len());
    /// });
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// # let traces = ltt_read::open_all(path)?;
    /// traceset.continue_with(&traces);
    /// context.continue_with(&traceset)?;
    /// assert_eq!(found.get(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_growth(&mut self, follow: impl Fn(&mut TracesetContext<'_>) + 'static) {
        self.followers.0.push(Box::new(follow));
    }

    /// Refuses event types, tracefiles and traces that are new from now on: the analysis `A`, whose
    /// hooks and data are in this context, cannot be prepared for them.
    /// [`continue_with`](Self::continue_with) returns [`GrowthError::Extensions`] with its name
    /// then.
    pub fn refuse_growth<A>(&mut self) {
        self.attached.push(Box::new(Fixed(type_name::<A>())));
    }

    /// Extends the filter, after checking that extensions can be extended as well.
    fn prepare_filter(&mut self, traceset: &Traceset) -> Result<(), GrowthError> {
        let extensions = self.state.extensions();
        let fixed = self.attached.iter().filter(|of| !of.can_grow(extensions));
        let fixed: Vec<_> = fixed.map(|of| of.type_name()).collect();
        if !fixed.is_empty() {
            return Err(GrowthError::Extensions(fixed));
        }
        match self.check.as_mut().is_none_or(|check| check.grow(traceset)) {
            true => Ok(()),
            false => Err(GrowthError::Filter),
        }
    }

    /// Returns the time up to which the order of the events is final, while the traceset is growing:
    /// see [`Merge::watermark`]. `None` if it is complete.
    pub fn watermark(&self) -> Option<Timestamp> {
        let is_growing = self.traceset().is_growing();
        is_growing.then(|| self.reader.merge().watermark().unwrap_or(self.reader.time()))
    }

    /// Returns the merge that reads, with which data that was delivered can be released: see
    /// [`GrowingTrace::release`](ltt_read::GrowingTrace::release). A context cannot return to
    /// data that is released.
    pub fn merge(&self) -> &Merge {
        self.reader.merge()
    }
}

/// A function that is called for new parts of the traces.
type Follow = dyn Fn(&mut TracesetContext<'_>);

/// The functions that are called for new parts of the traces.
#[derive(Default)]
pub(super) struct Followers(Vec<Box<Follow>>);

impl fmt::Debug for Followers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Followers").field(&self.0.len()).finish()
    }
}

/// An error from continuing with a later state of a traceset.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrowthError {
    /// The traceset is another one.
    #[error("the context reads another traceset")]
    OtherTraceset(#[source] StalePosition),
    /// Extensions and other analyses of these types cannot be prepared for event types, tracefiles
    /// or traces that are new: see [`Extension::growth`](crate::Extension::growth) and
    /// [`TracesetContext::refuse_growth`].
    #[error("these analyses cannot follow traces that grow: {}", .0.join(", "))]
    Extensions(Vec<&'static str>),
    /// The filter cannot be extended to new parts of the traces: see
    /// [`EventSelection::grow`](ltt_read::selection::EventSelection::grow). The caller may remove
    /// it, and set one for the later state.
    #[error("the filter cannot follow traces that grow")]
    Filter,
}

ltt_read::debug_as_chain!(GrowthError);
