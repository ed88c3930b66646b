//! What a choice knows in advance, found in one step.

use std::sync::Arc;

use super::{Choice, Shortcut, Verdict};
use crate::event::Event;
use crate::schema::EventTypeId;
use crate::trace::Trace;

/// What a choice knows of all types of events, as a table.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// # let traces = ltt_read::open_all(path)?;
/// use ltt_read::choice::{Choice, Verdict, Verdicts};
///
/// struct None;
///
/// impl Choice for None {
///     fn chooses(&self, _: &ltt_read::Event<'_>) -> bool {
///         false
///     }
///
///     fn verdict(&self, _: usize, _: ltt_read::schema::EventTypeId) -> Verdict {
///         Verdict::Never
///     }
/// }
///
/// let verdicts = Verdicts::new(&None, &traces);
/// assert!(verdicts.are_all(Verdict::Never));
/// let mut merge = ltt_read::Merge::new(&traces);
/// while let Some(event) = merge.next() {
///     assert!(!verdicts.passes(&event, || unreachable!("no type leaves it open")));
/// }
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Verdicts {
    /// Where the types of each trace begin.
    bases: Box<[usize]>,
    /// By type: [`NEVER`], [`ALWAYS`], [`OPEN`], or the place of its shortcut behind the
    /// first two.
    codes: Box<[u32]>,
    shortcuts: Box<[Shortcut]>,
    /// Whether all types are wanted, which is known soonest.
    is_all: bool,
}

const NEVER: u32 = 0;
const ALWAYS: u32 = 1;
const SHORTCUTS: u32 = 2;
/// No shortcut has this place.
const OPEN: u32 = u32::MAX;

impl Verdicts {
    /// Asks a choice for those of the event types of some traces.
    pub fn new(choice: &(impl Choice + ?Sized), traces: &[Arc<Trace>]) -> Self {
        let (mut codes, mut shortcuts) = (Vec::new(), Vec::new());
        let mut bases = Vec::with_capacity(traces.len());
        for (number, trace) in traces.iter().enumerate() {
            bases.push(codes.len());
            for id in (0..trace.schema().event_types.len() as u32).map(EventTypeId) {
                codes.push(match (choice.verdict(number, id), choice.shortcut(number, id)) {
                    (Verdict::Never, _) => NEVER,
                    (Verdict::Always, _) => ALWAYS,
                    (Verdict::Depends, None) => OPEN,
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

    /// Whether an event of a merge of the traces is wanted. `rest` is asked only where
    /// verdicts and shortcuts leave it open.
    #[inline(always)]
    pub fn passes(&self, event: &Event<'_>, rest: impl FnOnce() -> bool) -> bool {
        if self.is_all {
            return true;
        }
        let code = self.bases.get(event.trace_index()).map_or(NEVER, |base| {
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

    /// Whether they are all the same.
    pub fn are_all(&self, verdict: Verdict) -> bool {
        self.codes.iter().all(|code| match *code {
            NEVER => verdict == Verdict::Never,
            ALWAYS => verdict == Verdict::Always,
            _ => verdict == Verdict::Depends,
        })
    }
}
