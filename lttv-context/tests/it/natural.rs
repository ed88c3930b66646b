//! The code that is written first is right: ends of spans, slices, signs of integers, names.

use std::path::Path;

use ltt_read::{GrowingTrace, TimeSpan, Timestamp, Trace, TraceIndex};
use lttv_context::{
    Bounds, ParallelReader, Scope, Subscription, Traceset, TracesetContext, UnorderedReader,
};

fn bundled() -> Traceset {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces/kernel");
    Traceset::open(traces).expect("a bundled trace")
}

/// Returns the times of all events.
fn times(traceset: &Traceset) -> Vec<Timestamp> {
    let mut times = Vec::new();
    let mut context = TracesetContext::new(traceset);
    context.on_event(Subscription::to_every_event(), |call| times.push(call.event_time()));
    _ = context.read(&Bounds::all()).unwrap();
    drop(context);
    times
}

/// Every reader gives the same events for a range, and an end is in it or not as the range says.
#[test]
fn all_readers_agree_on_the_ends_of_ranges() {
    let traceset = bundled();
    let times = times(&traceset);
    let (first, last) = (times[0], *times.last().unwrap());
    let some = [times[0], times[700], times[3000], last];
    let count = |is: &dyn Fn(Timestamp) -> bool| times.iter().filter(|time| is(**time)).count();
    macro_rules! check {
        ($range:expr, $expected:expr) => {{
            let range = $range;
            let mut context = TracesetContext::new(&traceset);
            let read = context.read(&Bounds::all().within(range.clone())).unwrap();
            assert_eq!(read.events as usize, $expected, "{range:?}");
            let parallel =
                ParallelReader::new(&traceset).threads(2).slices(3).within(range.clone());
            let read = parallel.run(|slice| slice.read(&mut slice.context()).unwrap());
            assert_eq!(read.events as usize, $expected, "{range:?} in slices");
            let unordered = UnorderedReader::new(&traceset).within(range.clone());
            let read =
                unordered.read(|of: &mut u64, _| *of += 1, |_| std::ops::ControlFlow::Continue(()));
            assert_eq!(
                read.parts.into_iter().sum::<u64>() as usize,
                $expected,
                "{range:?} unordered"
            );
        }};
    }
    for start in some {
        for end in some {
            check!(start..end, count(&|time| start <= time && time < end));
            check!(start..=end, count(&|time| start <= time && time <= end));
            let span = TimeSpan { start, end };
            check!(span, count(&|time| span.contains(time)));
        }
        check!(start.., count(&|time| start <= time));
        check!(..start, count(&|time| time < start));
    }
    check!(.., times.len());
    check!(TimeSpan::ALL, times.len());
    check!(TimeSpan { start: first, end: last }, times.len());
    check!(first..=Timestamp::MAX, times.len());
}

/// A slice is read whole and alone by the usual read, in one call or several, and is over then.
#[test]
fn the_context_of_a_slice_ends_at_its_slice() {
    let traceset = bundled();
    for bounds in [Bounds::all(), Bounds::all().events(100), Bounds::all().until(Timestamp::MAX)] {
        let reader = ParallelReader::new(&traceset).threads(2).slices(8);
        let parts = reader.run(|slice| {
            let mut context = slice.context();
            let mut events = 0;
            loop {
                let read = context.read(&bounds).unwrap();
                events += read.events;
                if read.events == 0 {
                    break events;
                }
            }
        });
        assert!(parts.results.len() > 4);
        assert_eq!(parts.results.iter().sum::<u64>(), 6087);
        let own = reader.run(|slice| slice.read(&mut slice.context()).unwrap());
        assert_eq!(own.results, parts.results);
    }
}

/// A position after the slice is no way out of it, and a part of it stays a part.
#[test]
fn a_window_within_a_slice_is_a_part_of_it() {
    let traceset = bundled();
    let times = times(&traceset);
    let (from, to) = (times[1000], times[5000]);
    let reader = ParallelReader::new(&traceset).threads(2).slices(8);
    let read =
        reader.run(|slice| slice.context().read(&Bounds::all().within(from..to)).unwrap().events);
    let expected = times.iter().filter(|time| (from..to).contains(*time)).count();
    assert_eq!(read.results.iter().sum::<u64>() as usize, expected);
}

#[test]
fn integers_have_their_sign_or_are_no_such_number() {
    let mut seen = [0; 2];
    let mut context = TracesetContext::new(bundled());
    context.on_event(Subscription::to("syscall_exit_*").fields(["ret"]), |call| {
        let value = call.value(0).unwrap();
        assert_eq!((call.signed(0), call.unsigned(0)), (value.as_i64(), value.as_u64()));
        seen[0] += u32::from(call.signed(0).unwrap() < 0);
        seen[1] += u32::from(call.unsigned(0).is_none());
    });
    assert_eq!(context.read(&Bounds::all()).unwrap().errors, 0);
    drop(context);
    assert_eq!(seen, [67, 67]);
    let metadata = br#"/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
        event { name = "e"; fields := struct { integer { size = 64; align = 8; } n; }; };"#;
    let bytes = [0, 5, i64::MAX as u64, 1 << 63, u64::MAX].map(u64::to_le_bytes).concat();
    let trace = Trace::from_memory(metadata, [("s".to_owned(), bytes)]).unwrap();
    let (mut signed, mut unsigned) = (Vec::new(), Vec::new());
    let mut context = TracesetContext::new(Traceset::from(vec![trace]));
    context.on_event(Subscription::to("e").fields(["n"]), |call| {
        signed.push(call.signed(0));
        unsigned.push(call.unsigned(0));
    });
    assert_eq!(context.read(&Bounds::all()).unwrap().errors, 0);
    drop(context);
    assert_eq!(signed, [Some(0), Some(5), Some(i64::MAX), None, None]);
    assert_eq!(unsigned, [0, 5, i64::MAX as u64, 1 << 63, u64::MAX].map(Some));
}

fn unmatched(context: &TracesetContext<'_>) -> Vec<String> {
    context.unmatched().iter().map(ToString::to_string).collect()
}

#[test]
fn subscriptions_that_match_nothing_are_reported() {
    let of = |subscription: Subscription| {
        let mut context = TracesetContext::new(bundled());
        context.on_event(subscription, |_| ());
        unmatched(&context).into_iter().next()
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(of("sched_swich".into()), some("no event `sched_swich` (perhaps `sched_switch`)"));
    assert_eq!(of("entirely_unknown".into()), some("no event `entirely_unknown`"));
    assert_eq!(of("sched_sw?tch".into()), None);
    assert_eq!(of("shed_*".into()), some("no event `shed_*`"));
    let fields = |fields: &[&str]| Subscription::to("sched_switch").fields(fields.iter().copied());
    assert_eq!(of(fields(&["next_tid", "prev_state"])), None);
    let stat = "no event `sched_switch` has a field `prev_stat` (perhaps `prev_state`)";
    assert_eq!(of(fields(&["next_tid", "prev_stat"])), some(stat));
    let two = "no event `sched_switch` has the fields `next_tis`, `x` (perhaps `next_tid`)";
    assert_eq!(of(fields(&["next_tis", "x"])), some(two));
    assert_eq!(of(Subscription::to_every_event().fields(["next_tid"])), None);
    assert!(of(Subscription::to_every_event().fields(["no such field"])).is_some());
    assert_eq!(of(Subscription::to_every_event()), None);
    let elsewhere = "no event `sched_switch` in what the subscription is restricted to";
    let switch = || Subscription::to("sched_switch");
    assert_eq!(of(switch().domain("ust")), some(elsewhere));
    assert_eq!(of(switch().channel("no such channel")), some(elsewhere));
    assert_eq!(of(switch().domain("kernel")), None);
    assert_eq!(of(switch().within(Scope::Trace(TraceIndex(0)))), None);
}

/// While a trace grows, its event types may still be declared; then the subscription matches.
#[test]
fn what_is_not_declared_yet_is_told_from_what_does_not_exist() {
    let event = |name: &str, id| {
        format!(
            "event {{ name = {name}; id = {id}; fields := struct {{ integer {{ size = 8; }} n; }}; }};"
        )
    };
    let metadata = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
        stream { event.header := struct { integer { size = 8; } id; }; };"
        .to_owned()
        + &event("tick", 0);
    let mut growing = GrowingTrace::new("ticks", metadata.as_bytes()).unwrap();
    let mut traceset = Traceset::growing();
    let mut context = TracesetContext::new(&traceset);
    context.on_event("start", |_| ());
    traceset.continue_with(&[growing.version().clone()]);
    context.continue_with(&traceset).unwrap();
    let report = context.unmatched();
    assert!(report[0].may_come);
    assert_eq!(report[0].to_string(), "no event `start` so far");
    growing.extend_metadata((metadata + &event("start", 1)).as_bytes()).unwrap();
    traceset.continue_with(&[growing.version().clone()]);
    context.continue_with(&traceset).unwrap();
    assert_eq!(context.unmatched(), []);
}
