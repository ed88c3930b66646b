//! What decides events of several traces, in one table: found in one step.

use std::sync::Arc;

use ltt_read::choice::Verdict;
use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Trace};

use crate::filter::Filter;
use crate::quick::Quick;

/// What decides an event.
pub(crate) enum Decider<'d> {
    /// Its type: it passes.
    Always,
    /// Its type: it does not.
    Never,
    /// These tests, as far as they do.
    Tests(&'d Quick),
}

/// What decides the events of each type of some traces.
#[derive(Debug, Default)]
pub(crate) struct Deciders {
    /// Where the types of each trace begin.
    bases: Box<[usize]>,
    /// By type: [`NEVER`], [`ALWAYS`], or the place of its tests behind these.
    codes: Box<[u32]>,
    tests: Box<[Quick]>,
}

const NEVER: u32 = 0;
const ALWAYS: u32 = 1;
const TESTS: u32 = 2;

impl Deciders {
    /// For the traces that the filters are of.
    pub(crate) fn new(filters: &[Filter], traces: &[Arc<Trace>]) -> Self {
        let (mut bases, mut codes, mut tests) = (Vec::new(), Vec::new(), Vec::new());
        for (filter, trace) in filters.iter().zip(traces) {
            bases.push(codes.len());
            for id in (0..trace.schema().event_types.len() as u32).map(EventTypeId) {
                codes.push(match (filter.verdict(id), filter.quick(id)) {
                    (Verdict::Always, _) => ALWAYS,
                    (Verdict::Depends, Some(quick)) => {
                        tests.push(quick.clone());
                        TESTS + tests.len() as u32 - 1
                    }
                    (Verdict::Never, _) | (Verdict::Depends, None) => NEVER,
                });
            }
        }
        Deciders { bases: bases.into(), codes: codes.into(), tests: tests.into() }
    }

    /// What decides an event of a merge of the traces. Events of others do not pass.
    #[inline(always)]
    pub(crate) fn of(&self, event: &Event<'_>) -> Decider<'_> {
        let code = self.bases.get(event.trace_index()).map_or(NEVER, |base| {
            let code = self.codes.get(base + event.type_id().index());
            code.copied().unwrap_or(NEVER)
        });
        match code {
            NEVER => Decider::Never,
            ALWAYS => Decider::Always,
            code => match self.tests.get((code - TESTS) as usize) {
                Some(tests) => Decider::Tests(tests),
                None => Decider::Never, // there is no such code
            },
        }
    }

    /// Whether all types are known to pass.
    pub(crate) fn are_all_always(&self) -> bool {
        self.codes.iter().all(|code| *code == ALWAYS)
    }
}
