//! The advance knowledge of a selection about all event types, as a table.

use std::sync::Arc;

use super::{EventSelection, Shortcut, Verdict};
use crate::event::Event;
use crate::schema::EventTypeId;
use crate::trace::{Trace, TraceIndex};

/// A table of the verdicts and shortcuts of a selection for all event types of some traces.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// # let traces = ltt_read::open_all(path)?;
/// use ltt_read::selection::{EventSelection, Verdict, Verdicts};
///
/// struct None;
///
/// impl EventSelection for None {
///     fn matches(&self, _: &ltt_read::Event<'_>) -> bool {
///         false
///     }
///
///     fn verdict(&self, _: ltt_read::TraceIndex, _: ltt_read::schema::EventTypeId) -> Verdict {
///         Verdict::Never
///     }
/// }
///
/// let verdicts = Verdicts::new(&None, &traces);
/// assert!(verdicts.are_all(Verdict::Never));
/// let mut merge = ltt_read::Merge::new(&traces);
/// while let Some(event) = merge.next() {
///     assert!(!verdicts.passes(&event, || unreachable!("all verdicts are `Never`")));
/// }
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Verdicts {
    /// For each trace, the index of its first event type in `codes`.
    bases: Box<[usize]>,
    /// For each event type [`NEVER`], [`ALWAYS`] or [`UNDECIDED`], or the index of its
    /// shortcut plus [`SHORTCUTS`].
    codes: Box<[u32]>,
    shortcuts: Box<[Shortcut]>,
    /// `true` if all events are wanted; tested first.
    is_all: bool,
}

const NEVER: u32 = 0;
const ALWAYS: u32 = 1;
const SHORTCUTS: u32 = 2;
/// The code of a type that depends on the event and has no shortcut.
const UNDECIDED: u32 = u32::MAX;

impl Verdicts {
    /// Creates the table for the event types of some traces.
    pub fn new(choice: &(impl EventSelection + ?Sized), traces: &[Arc<Trace>]) -> Self {
        let (mut codes, mut shortcuts) = (Vec::new(), Vec::new());
        let mut bases = Vec::with_capacity(traces.len());
        for (number, trace) in traces.iter().enumerate() {
            let number = TraceIndex(number);
            bases.push(codes.len());
            for id in (0..trace.schema().event_types.len() as u32).map(EventTypeId) {
                codes.push(match (choice.verdict(number, id), choice.shortcut(number, id)) {
                    (Verdict::Never, _) => NEVER,
                    (Verdict::Always, _) => ALWAYS,
                    (Verdict::Depends, None) => UNDECIDED,
                    (Verdict::Depends, Some(shortcut)) => {
                        shortcuts.push(shortcut.clone());
                        SHORTCUTS + shortcuts.len() as u32 - 1
                    }
                });
            }
        }
        Verdicts {
            bases: bases.into(),
            is_all: !codes.is_empty() && codes.iter().all(|code| *code == ALWAYS),
            codes: codes.into(),
            shortcuts: shortcuts.into(),
        }
    }

    /// Returns `true` if an event from a merge of the traces is wanted. Calls `rest`, the
    /// full test, only if verdicts and shortcuts leave the event undecided.
    #[inline(always)]
    pub fn passes(&self, event: &Event<'_>, rest: impl FnOnce() -> bool) -> bool {
        if self.is_all {
            return true;
        }
        let code = self.bases.get(event.trace_index().0).map_or(NEVER, |base| {
            let code = self.codes.get(base + event.type_id().index());
            code.copied().unwrap_or(NEVER)
        });
        match code {
            NEVER => false,
            ALWAYS => true,
            code => match self.shortcuts.get((code - SHORTCUTS) as usize) {
                Some(shortcut) => shortcut.passes(event, rest),
                None => rest(),
            },
        }
    }

    /// Returns `true` if all event types have the verdict `verdict`.
    pub fn are_all(&self, verdict: Verdict) -> bool {
        self.codes.iter().all(|code| match *code {
            NEVER => verdict == Verdict::Never,
            ALWAYS => verdict == Verdict::Always,
            _ => verdict == Verdict::Depends,
        })
    }
}
