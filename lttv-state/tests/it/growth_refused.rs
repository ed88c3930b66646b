//! Analyses that cannot follow traces, tracefiles and event types to come refuse them: their results
//! would lack them otherwise.

use crate::arriving::Arriving;
use ltt_read::Timestamp;
use lttv_context::{GrowthError, Handle, Traceset, TracesetContext};
use lttv_state::analysis::attach;
use lttv_state::call_stacks::{CallRules, CallStackState};
use lttv_state::heap::HeapState;
use lttv_state::kernel::{KernelState, MemoryMaps};
use lttv_state::latency::{LatencyAnalysis, Settings};
use lttv_state::stats::StatisticsAnalysis;
use lttv_state::usage::{UsageAnalysis, UsageOptions};
use lttv_state::waits::WaitAnalysis;

type Attach = fn(&mut TracesetContext<'static>, Handle<KernelState>);

/// The analyses, by the name in the refusal.
const ANALYSES: [(&str, Attach); 7] = [
    ("UsageAnalysis", |context, kernel| {
        attach(context, kernel, .., UsageAnalysis::new(UsageOptions::new()));
    }),
    ("StatisticsAnalysis", |context, kernel| {
        attach(context, kernel, Timestamp::from_ns(0).., StatisticsAnalysis::new());
    }),
    ("LatencyAnalysis", |context, kernel| {
        attach(context, kernel, .., LatencyAnalysis::new(Settings::new()));
    }),
    ("WaitAnalysis", |context, kernel| {
        attach(context, kernel, .., WaitAnalysis::new());
    }),
    ("MemoryMaps", |context, kernel| {
        context.attach(MemoryMaps::new(kernel));
    }),
    ("CallStackState", |context, _| {
        context.attach(CallStackState::new(CallRules::default()));
    }),
    ("HeapState", |context, _| {
        let stacks = context.attach(CallStackState::new(CallRules::default()));
        context.attach(HeapState::new(stacks));
    }),
];

#[test]
fn what_is_new_is_refused_by_name() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    let trace = ltt_read::open_all(path).expect("an example").remove(0);
    for (name, attach) in ANALYSES {
        let mut arriving = Arriving::new(&trace, 0);
        let mut traceset = Traceset::growing();
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new());
        attach(&mut context, kernel);
        arriving.add_tracefiles();
        traceset.continue_with(&[arriving.growing.version().clone()]);
        let refused = context.continue_with(&traceset).expect_err(name);
        let GrowthError::Extensions(types) = &refused else { panic!("{name}: {refused}") };
        assert!(types.iter().any(|of| of.ends_with(&format!("::{name}"))), "{name}: {refused}");
    }
}
