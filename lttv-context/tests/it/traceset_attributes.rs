//! Attributes of tracesets and traces, and who shares them.

use std::sync::OnceLock;

use ltt_read::TraceIndex;
use lttv_context::attributes::{Attributes, SharedAttributes};
use lttv_context::{Level, Traceset, TracesetContext};
use proptest::prelude::*;

fn traceset() -> Traceset {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces");
    Traceset::open(path).expect("bundled traces")
}

fn text(attributes: &SharedAttributes) -> String {
    attributes.snapshot().to_string()
}

#[test]
fn contexts_of_one_traceset_share_attributes_also_between_threads() {
    let traceset = traceset();
    let first = TracesetContext::new(&traceset);
    first.traceset().attributes().update(|tree| tree.set_at("a", 1_u64)).expect("a new name");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut second = TracesetContext::new(&traceset);
            let mut hooks = lttv_context::HookSet::new();
            hooks.before(Level::Trace, |call| {
                let trace = call.trace.expect("a trace");
                let number = trace.index().0 as u64;
                trace.attributes().update(|tree| tree.set_at("number", number)).expect("new");
                let all = call.contexts.traceset().attributes();
                all.update(|tree| tree.set_at("b", 2_u64)).expect("a new name");
            });
            _ = second.begin_read(hooks);
        });
    });
    assert_eq!(text(first.traceset().attributes()), "a: 1\nb: 2\n");
    for context in first.contexts().traces() {
        let number = context.index().0;
        assert_eq!(text(context.attributes()), format!("number: {number}\n"));
    }
}

#[test]
fn a_snapshot_stays_and_handles_stay_valid() {
    let attributes = SharedAttributes::new();
    let key = attributes.update(|tree| tree.entry_at::<u64>("x/y")).expect("a new name");
    let before = attributes.snapshot();
    attributes.update(|tree| tree[key] += 5);
    attributes.update(|tree| tree[key] += 5);
    assert_eq!((before[key], attributes.snapshot()[key]), (0, 10));
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Clone(usize),
    Add(usize),
    Remove(usize, usize),
    /// Sets a value of the traceset, or of a trace.
    Set(usize, Option<usize>, u64),
}

fn step() -> impl Strategy<Value = Step> {
    let at = || 0..8usize;
    prop_oneof![
        at().prop_map(Step::Clone),
        at().prop_map(Step::Add),
        (at(), at()).prop_map(|(of, trace)| Step::Remove(of, trace)),
        (at(), prop::option::of(at()), any::<u64>())
            .prop_map(|(of, trace, value)| Step::Set(of, trace, value)),
    ]
}

/// Returns the attributes of a trace.
fn of_trace(traceset: &Traceset, at: usize) -> Option<SharedAttributes> {
    let context = TracesetContext::new(traceset);
    context.contexts().traces().get(at).map(|trace| trace.attributes().clone())
}

/// A traceset of the model: the cells of its value and of those of its traces.
#[derive(Clone)]
struct Model {
    own: usize,
    traces: Vec<usize>,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn attributes_are_shared_until_a_traceset_changes(steps in prop::collection::vec(step(), 0..40)) {
        static KERNEL: OnceLock<Traceset> = OnceLock::new();
        let trace = KERNEL.get_or_init(traceset).traces()[0].clone();
        let mut cells: Vec<Option<u64>> = vec![None];
        let mut all = vec![(Traceset::new(), Model { own: 0, traces: Vec::new() })];
        for step in steps {
            let count = all.len();
            match step {
                Step::Clone(of) => {
                    let copy = all[of % count].clone();
                    all.push(copy);
                }
                Step::Add(of) => {
                    let (traceset, model) = &mut all[of % count];
                    traceset.add(trace.clone());
                    cells.extend([cells[model.own], None]);
                    model.own = cells.len() - 2;
                    model.traces.push(cells.len() - 1);
                }
                Step::Remove(of, at) => {
                    let (traceset, model) = &mut all[of % count];
                    if traceset.remove(TraceIndex(at)).is_some() {
                        model.traces.remove(at);
                        cells.push(cells[model.own]);
                        model.own = cells.len() - 1;
                    }
                }
                Step::Set(of, at, value) => {
                    let (traceset, model) = &all[of % count];
                    let (attributes, cell) = match at {
                        None => (Some(traceset.attributes().clone()), Some(&model.own)),
                        Some(at) => (of_trace(traceset, at), model.traces.get(at)),
                    };
                    prop_assert_eq!(attributes.is_some(), cell.is_some());
                    if let Some((attributes, cell)) = attributes.zip(cell) {
                        let set = attributes.update(|tree| tree.set_at("value", value).is_ok());
                        prop_assert!(set);
                        cells[*cell] = Some(value);
                    }
                }
            }
            for (traceset, model) in &all {
                let expect = |cell: usize| cells[cell].map_or(String::new(), |v| format!("value: {v}\n"));
                prop_assert_eq!(text(traceset.attributes()), expect(model.own));
                for (at, cell) in model.traces.iter().enumerate() {
                    let attributes = of_trace(traceset, at).expect("a trace");
                    prop_assert_eq!(text(&attributes), expect(*cell));
                }
            }
        }
    }
}

#[test]
fn a_new_traceset_has_no_attributes() {
    assert_eq!(traceset().attributes().snapshot().len(), Attributes::new().len());
}

#[test]
fn tracefiles_of_all_contexts_share_attributes_also_when_a_traceset_grows() {
    let complete = traceset();
    let mut growing = Traceset::growing();
    growing.continue_with(&complete.traces()[..1]);
    for (traceset, later) in [(complete.clone(), None), (growing.clone(), Some(&mut growing))] {
        let first = TracesetContext::new(&traceset);
        for tracefile in first.contexts().tracefiles() {
            let number = tracefile.number().0 as u64;
            tracefile.attributes().update(|tree| tree.set_at("number", number)).expect("new");
        }
        let known = first.contexts().tracefiles().len();
        let second = match later {
            None => TracesetContext::new(&traceset),
            Some(later) => {
                later.continue_with(complete.traces());
                TracesetContext::new(&*later)
            }
        };
        assert!(known > 0 && known <= second.contexts().tracefiles().len());
        for tracefile in &second.contexts().tracefiles()[..known] {
            let number = tracefile.number().0;
            assert_eq!(text(tracefile.attributes()), format!("number: {number}\n"));
        }
    }
}
