//! Kernel states, statistics and histories of a trace that arrives in parts equal those of the
//! whole trace.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::arriving::Arriving;
use crate::support::same_history;
use ltt_read::{Merge, Trace, TraceIndex};
use lttv_context::attributes::{AttributeId, Attributes};
use lttv_context::{Bounds, EndReason, Traceset, TracesetContext};
use lttv_state::analysis::attach;
use lttv_state::history::{Builder, History};
use lttv_state::kernel::{KernelState, TraceState};
use lttv_state::kernel_history::KernelHistory;
use lttv_state::stats::{Statistics, StatisticsAnalysis};
use proptest::prelude::*;

/// Returns the state of a machine as text.
fn state_text(state: &TraceState) -> String {
    let mut lines: Vec<String> = state
        .processes()
        .map(|(_, process)| {
            let frames = process.stack().iter().map(|frame| {
                let submode = state.name(frame.submode()).to_owned();
                (frame.mode(), submode, frame.status(), frame.entry(), frame.cpu_time())
            });
            let (name, tid) = (state.name(process.name()), process.tid());
            format!("{tid:?} {name} {:?}", frames.collect::<Vec<_>>())
        })
        .collect();
    lines.sort();
    let cpus = state.cpus().map(|(number, _)| {
        let running = state.running(number).and_then(|process| process.tid());
        format!("CPU {number}: {running:?} {}", state.cpu_mode(number))
    });
    lines.extend(cpus);
    lines.join("\n")
}

fn statistics_text(statistics: &Statistics) -> String {
    let mut tree = Attributes::new();
    statistics.export(&mut tree, AttributeId::ROOT).expect("a new tree");
    tree.to_string()
}

/// The results of an analysis: states and statistics as text, and the history.
type Results = (String, String, History);

/// The analyses of a context.
struct Analyses {
    context: TracesetContext<'static>,
    kernel: lttv_context::Handle<KernelState>,
    statistics: lttv_state::analysis::Attached<StatisticsAnalysis>,
    history: Option<lttv_context::Handle<KernelHistory>>,
}

impl Analyses {
    fn new(traceset: &Traceset, looks_ahead: bool) -> Analyses {
        let mut context = TracesetContext::new(traceset);
        let kernel = match looks_ahead {
            true => KernelState::new(),
            false => KernelState::new().without_looking_ahead(),
        };
        let kernel = context.attach(kernel);
        let statistics = attach(&mut context, kernel, .., StatisticsAnalysis::new());
        Analyses { context, kernel, statistics, history: None }
    }

    /// Attaches the history, once its start is known.
    fn record(&mut self) {
        let start = KernelHistory::start_of(self.context.contexts());
        let history = KernelHistory::new(self.kernel, Builder::in_memory(start));
        self.history = Some(self.context.attach(history));
    }

    fn finish(mut self) -> Results {
        let extensions = self.context.extensions_mut();
        let statistics = statistics_text(&self.statistics.take(extensions));
        let state = extensions[self.kernel].trace(TraceIndex(0)).expect("one trace");
        let texts = (state_text(state), statistics);
        let history = self.history.expect("a history");
        let history = KernelHistory::finish(&mut self.context, history).expect("in memory");
        (texts.0, texts.1, history)
    }
}

fn whole(trace: &Arc<Trace>, looks_ahead: bool) -> Results {
    let mut analyses = Analyses::new(&Traceset::from(vec![trace.clone()]), looks_ahead);
    analyses.record();
    let read = analyses.context.read(&Bounds::all()).expect("no position");
    assert_eq!((read.errors, read.reason), (0, EndReason::EndOfTraceset));
    analyses.finish()
}

/// Delivers a trace whose first `types` event types are declared at first. `order` contains for each
/// packet the number of a tracefile, modulo those that are left. Each `every` packets, what is final
/// is read.
fn parts(
    trace: &Arc<Trace>,
    types: usize,
    order: &[usize],
    every: usize,
    looks_ahead: bool,
) -> Results {
    let mut arriving = Arriving::new(trace, types);
    arriving.add_tracefiles();
    let mut traceset = Traceset::growing();
    let mut analyses = Analyses::new(&traceset, looks_ahead);
    let total: usize = arriving.left.iter().map(VecDeque::len).sum();
    for at in 0..=total {
        let left = &arriving.left;
        let open: Vec<usize> = (0..left.len()).filter(|of| !left[*of].is_empty()).collect();
        if at == total / 2 {
            arriving.declare_all();
        }
        match open.len() {
            0 => arriving.complete(),
            len => arriving.append(open[order[at % order.len()] % len], 1),
        }
        traceset.continue_with(&[arriving.growing.version().clone()]);
        if at == total {
            traceset.complete();
        }
        analyses.context.continue_with(&traceset).expect("all can grow");
        if analyses.history.is_none() && Merge::new(traceset.traces()).next().is_some() {
            analyses.record();
        }
        if at % every == 0 || at == total {
            let read = analyses.context.read(&Bounds::all()).expect("no position");
            let end = if at == total { EndReason::EndOfTraceset } else { EndReason::Pending };
            assert_eq!((read.errors, read.reason), (0, end));
        }
    }
    analyses.finish()
}

fn compare(parts: &Results, whole: &Results) {
    assert_eq!(parts.0, whole.0);
    assert_eq!(parts.1, whole.1);
    same_history(&parts.2, &whole.2, "parts");
}

fn example() -> Arc<Trace> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    ltt_read::open_all(path).expect("an example").remove(0)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]

    #[test]
    fn parts_lead_to_the_results_of_the_whole(
        types in 0..600usize, order in prop::collection::vec(0..64usize, 1..40), every in 1..6usize,
    ) {
        let trace = example();
        compare(&parts(&trace, types, &order, every, false), &whole(&trace, false));
    }
}

#[test]
fn processes_at_the_start_are_found_in_what_is_there() {
    let trace = example();
    compare(&parts(&trace, usize::MAX, &[0], 1, true), &whole(&trace, true));
}
