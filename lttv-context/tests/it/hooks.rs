//! The order of hooks, and the events and data that they are called with.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, MemoryTrace, presets};
use ltt_read::{Timestamp, Trace, TraceIndex, TracefileNumber};
use lttv_context::{
    Bounds, CheckpointPolicy, EndReason, EventCall, Extension, Handle, HookSet, Level, ReadCall,
    ReadEnd, ReadError, Scope, Setup, Subscription, Traceset, TracesetContext, TracesetPosition,
};
use lttv_hooks::{HookId, Priority};

/// Reads with a set of hooks.
fn read_with<'h>(
    context: &mut TracesetContext<'h>,
    hooks: HookSet<'h>,
    bounds: &Bounds,
) -> Result<ReadEnd, ReadError> {
    let id = context.begin_read(hooks);
    let read = context.read(bounds);
    context.end_read(id);
    read
}

/// The event type, and the time in ns since the trace's clock origin.
type Given = (&'static str, u64);

const TYPES: [(&str, &[&str]); 3] = [("a", &["x", "y"]), ("b", &["x"]), ("c", &[])];

/// Creates a kernel trace whose files contain these events. The field `x` of an event is its
/// place in its file, and `y` is larger by 100.
fn trace(files: &[(&str, &[Given])]) -> Arc<Trace> {
    let class = StreamClassId(0);
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    for (name, fields) in TYPES {
        let field = |name: &&'static str| (*name, FieldClass::uint(32, ByteOrder::Little));
        schema.add_event_type(class, name, FieldClass::structure(fields.iter().map(field)));
    }
    let mut trace = MemoryTrace::new(schema);
    for (name, events) in files {
        let id = name.bytes().fold(0, |id, byte| id * 31 + u64::from(byte));
        let (_, cpu) = name.rsplit_once('_').expect("a channel and a CPU");
        let cpu = cpu.parse::<u32>().expect("a number");
        let writer = trace.stream(class, name).expect("a writer").with_stream_id(id);
        let mut writer = writer.with_packet_context(FieldValue::fields([("cpu_id", cpu)]));
        for (number, (name, time)) in events.iter().enumerate() {
            let at = TYPES.iter().position(|t| t.0 == *name).expect("a type");
            let value = |field: &&str| (number + if *field == "y" { 100 } else { 0 }) as u32;
            let values: Vec<FieldValue> = TYPES[at].1.iter().map(|f| value(f).into()).collect();
            let event = writer.event(EventTypeId(at as u32), *time, FieldValue::structure(values));
            event.expect("an event");
        }
        trace.add(writer).expect("a file");
    }
    trace.open().expect("a trace")
}

/// Creates two traces of two tracefiles each. All times occur in both traces, and some in two
/// tracefiles of one trace.
fn two_by_two() -> Traceset {
    let first = trace(&[
        ("chan_10", &[("a", 20), ("b", 20), ("c", 30)]),
        ("chan_2", &[("a", 10), ("b", 20)]),
    ]);
    let second = trace(&[("other_0", &[("a", 10), ("c", 20)]), ("chan_1", &[("b", 20)])]);
    Traceset::from(vec![first, second])
}

fn place(call: &EventCall<'_, '_>) -> String {
    let (tracefile, name) = (call.tracefile.tracefile(), call.event.event_type().name());
    let ns = call.delivery_time().as_ns() - 1_600_000_000_000_000_000;
    format!("{}/{} {name}@{ns}", call.trace.index().0, tracefile.name())
}

const ORDER: [&str; 8] = [
    "0/chan_2 a@10",
    "1/other_0 a@10",
    "0/chan_2 b@20",
    "0/chan_10 a@20",
    "0/chan_10 b@20",
    "1/chan_1 b@20",
    "1/other_0 c@20",
    "0/chan_10 c@30",
];

fn read_all(mut context: TracesetContext<'_>) {
    let read = context.read(&Bounds::all()).expect("bounds have no position");
    assert_eq!((read.events, read.reason), (8, EndReason::EndOfTraceset));
}

#[test]
fn events_are_ordered_by_time_trace_channel_and_cpu() {
    let mut seen = Vec::new();
    let mut context = TracesetContext::new(two_by_two());
    context.on_event("*", |call| seen.push(place(call)));
    read_all(context);
    assert_eq!(seen, ORDER);
}

#[test]
fn hooks_before_and_after_reading_are_nested() {
    let log = RefCell::new(Vec::new());
    let mut context = TracesetContext::new(two_by_two());
    let note = |what: &'static str| {
        let log = &log;
        move |call: &mut ReadCall<'_, '_>| {
            let trace = call.trace.map_or(String::new(), |trace| trace.index().0.to_string());
            let file = call.tracefile.map_or("", |tracefile| tracefile.tracefile().name());
            log.borrow_mut().push(format!("{what} {trace} {file}"));
        }
    };
    let hooks = |scope| {
        let mut hooks = HookSet::within(scope);
        for level in [Level::Tracefile, Level::Traceset, Level::Trace] {
            hooks.after(level, note("after"));
            hooks.before(level, note("before"));
        }
        hooks.before_with(Level::Trace, Priority::FIRST, note("first"));
        hooks.on_event("*", |_| log.borrow_mut().push("event".to_owned()));
        hooks
    };
    let read = read_with(&mut context, hooks(Scope::Traceset), &Bounds::all().events(2));
    assert_eq!(read.ok().map(|read| read.reason), Some(EndReason::EventCount));
    let expected = [
        "before  ",
        "first 0 ",
        "before 0 ",
        "before 0 chan_2",
        "before 0 chan_10",
        "first 1 ",
        "before 1 ",
        "before 1 chan_1",
        "before 1 other_0",
        "event",
        "event",
        "after 0 chan_2",
        "after 0 chan_10",
        "after 0 ",
        "after 1 chan_1",
        "after 1 other_0",
        "after 1 ",
        "after  ",
    ];
    assert_eq!(log.take(), expected);

    // Only the last two events of trace 1 remain. The set can be used again.
    let id = context.begin_read(hooks(Scope::Trace(TraceIndex(1))));
    assert!(context.read(&Bounds::all()).is_ok());
    let again = context.end_read(id).expect("it has begun");
    assert!(context.end_read(id).is_none());
    let of_trace = [
        "first 1 ",
        "before 1 ",
        "before 1 chan_1",
        "before 1 other_0",
        "event",
        "event",
        "after 1 chan_1",
        "after 1 other_0",
        "after 1 ",
    ];
    assert_eq!(log.take(), of_trace);
    context.seek_time(Timestamp::MIN);
    assert!(read_with(&mut context, again, &Bounds::all().events(2)).is_ok());
    let first: Vec<_> = log.take().into_iter().filter(|line| line == "event").collect();
    assert_eq!(first.len(), 1);

    // No hook of the set remains.
    context.seek_time(Timestamp::MIN);
    assert!(context.read(&Bounds::all()).is_ok());
    assert_eq!(log.take(), [""; 0]);

    assert!(
        read_with(&mut context, hooks(Scope::Tracefile(TracefileNumber(3))), &Bounds::all())
            .is_ok()
    );
    assert_eq!(log.take(), ["before 1 other_0", "after 1 other_0"]);
}

#[test]
fn order_of_hooks_and_stopping() {
    let log = RefCell::new(Vec::new());
    let mut context = TracesetContext::new(two_by_two());
    let mut add = |name: &'static str, subscription: Subscription| {
        let log = &log;
        context.on_event(subscription, move |_| {
            log.borrow_mut().push(name);
            if name == "stops" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    };
    add("by name, default", Subscription::to("a"));
    add("last", Subscription::to_every_event().priority(Priority::LAST));
    add("main, default", Subscription::to_every_event());
    add("stops", Subscription::to("a").priority(Priority::STATE));
    add("by type, default", Subscription::to_type(TraceIndex(0), EventTypeId(0)));
    add("main of trace 0", Subscription::to_every_event().within(Scope::Trace(TraceIndex(0))));
    add("first", Subscription::to("?").priority(Priority::FIRST));
    let read = context.read(&Bounds::all()).expect("bounds have no position");
    assert_eq!((read.events, read.reason), (1, EndReason::Stopped));
    let expected = [
        "first",
        "stops",
        "main, default",
        "main of trace 0",
        "by name, default",
        "by type, default",
        "last",
    ];
    assert_eq!(log.take(), expected);
    // The event at which reading stopped is not delivered again.
    let read = context.read(&Bounds::all()).expect("bounds have no position");
    assert_eq!((read.events, read.reason), (1, EndReason::Stopped));
    assert_eq!(log.take(), ["first", "stops", "main, default", "by name, default", "last"]);
}

#[test]
fn commands_of_hooks_apply_before_the_next_event() {
    let log = RefCell::new(Vec::new());
    let mut context = TracesetContext::new(two_by_two());
    let log = &log;
    context.on_event("a", move |call| {
        log.borrow_mut().push(("a", place(call)));
        // The hook is added at each `a`, and removes itself at the next event.
        let own = HookId::unique();
        call.commands.on_event(Subscription::to("*").identity(own), move |call| {
            log.borrow_mut().push(("once", place(call)));
            call.commands.remove(own);
        });
    });
    let mut hooks = HookSet::new();
    hooks.before(Level::Trace, |call| {
        call.commands.on_event("c", |call| log.borrow_mut().push(("c", place(call))));
    });
    assert!(read_with(&mut context, hooks, &Bounds::all()).is_ok());
    // Hooks that were added later are called later.
    let expected = [
        ("a", 0),
        ("a", 1),
        ("once", 1),
        ("once", 2),
        ("a", 3),
        ("once", 4),
        ("c", 6),
        ("c", 6),
        ("c", 7),
        ("c", 7),
    ];
    assert_eq!(log.take(), expected.map(|(what, at)| (what, ORDER[at].to_owned())));
}

#[test]
fn subscriptions_select_by_name_channel_tracefile_and_fields() {
    let count = |subscription: Subscription| {
        let mut seen = Vec::new();
        let mut context = TracesetContext::new(two_by_two());
        context.on_event(subscription, |call| {
            let fields: Vec<_> = (0..call.fields.len()).map(|i| call.unsigned(i)).collect();
            seen.push((place(call), fields));
        });
        read_all(context);
        seen
    };
    let places = |subscription: Subscription| {
        count(subscription).into_iter().map(|seen| seen.0).collect::<Vec<_>>()
    };
    let some = |numbers: &[usize]| numbers.iter().map(|n| ORDER[*n].to_owned()).collect::<Vec<_>>();
    assert_eq!(places("nothing".into()), some(&[]));
    assert_eq!(places("c".into()), some(&[6, 7]));
    assert_eq!(places(Subscription::to("*").channel("ch*")), some(&[0, 2, 3, 4, 5, 7]));
    assert_eq!(places(Subscription::to_every_event().channel("other")), some(&[1, 6]));
    assert_eq!(
        places(Subscription::to("*").within(Scope::Tracefile(TracefileNumber(1)))),
        some(&[3, 4, 7])
    );
    assert_eq!(
        places(Subscription::to("*").within(Scope::Tracefile(TracefileNumber(9)))),
        some(&[])
    );
    assert_eq!(places(Subscription::to("a").domain("kernel")), some(&[0, 1, 3]));
    assert_eq!(places(Subscription::to("a").domain("ust")), some(&[]));
    assert_eq!(places(Subscription::to("a").provider("p")), some(&[]));
    // Event types without a wanted field are excluded. Fields are in the order of the
    // subscription.
    let found = count(Subscription::to("*").fields(["y", "x"]));
    let expected = [(0, 0), (1, 0), (3, 0)];
    let expected = expected.map(|(at, x)| (ORDER[at].to_owned(), vec![Some(x + 100), Some(x)]));
    assert_eq!(found, expected);
    let found = count(Subscription::to_every_event().fields(["x"]));
    assert_eq!(
        found.iter().map(|seen| seen.1[0]).collect::<Vec<_>>(),
        [0, 0, 1, 0, 1, 0].map(Some)
    );
}

/// Tracefiles share a table of hooks until a hook is for only one of them.
#[test]
fn hooks_for_one_tracefile_do_not_affect_others() {
    let log = RefCell::new(Vec::new());
    let mut context = TracesetContext::new(two_by_two());
    let log = &log;
    let mut add = |name: &'static str, subscription: Subscription| {
        context.on_event(subscription, move |call| log.borrow_mut().push((name, place(call))))
    };
    add("b", Subscription::to("b").fields(["x"]));
    let first = add("0", Subscription::to("b").within(Scope::Tracefile(TracefileNumber(0))));
    add("1", Subscription::to_every_event().within(Scope::Tracefile(TracefileNumber(1))));
    add("every", Subscription::to_every_event());
    assert!(context.remove(first) && !context.remove(first));
    read_all(context);
    let expected = [
        ("every", 0),
        ("every", 1),
        ("every", 2),
        ("b", 2),
        ("1", 3),
        ("every", 3),
        ("1", 4),
        ("every", 4),
        ("b", 4),
        ("every", 5),
        ("b", 5),
        ("every", 6),
        ("1", 7),
        ("every", 7),
    ];
    assert_eq!(log.take(), expected.map(|(name, at)| (name, ORDER[at].to_owned())));
}

#[test]
fn a_shared_id_is_called_once_until_all_sets_have_ended() {
    let calls = RefCell::new(0);
    let mut context = TracesetContext::new(two_by_two());
    let own = HookId::unique();
    let hooks = || {
        let mut hooks = HookSet::new();
        hooks.on_event(Subscription::to("*").identity(own), |_| *calls.borrow_mut() += 1);
        hooks
    };
    let (first, second) = (context.begin_read(hooks()), context.begin_read(hooks()));
    let read = |context: &mut TracesetContext<'_>| {
        assert!(context.read(&Bounds::all().events(1)).is_ok());
        calls.take()
    };
    assert_eq!(read(&mut context), 1);
    assert!(context.end_read(first).is_some());
    assert_eq!(read(&mut context), 1);
    assert!(context.end_read(second).is_some());
    assert_eq!(read(&mut context), 0);
}

#[test]
fn positions_of_other_tracesets_are_refused() {
    let traceset = two_by_two();
    let mut context = TracesetContext::new(&traceset);
    let position = context.position();
    let mut changed = traceset.clone();
    changed.add(traceset.traces()[0].clone());
    let mut other = TracesetContext::new(&changed);
    assert!(other.seek_position(&position).is_err());
    assert!(other.read(&Bounds::all().until_position(&position)).is_err());
    assert_eq!(other.position().partial_cmp(&position), None);
    assert!(other.position() != position);
    let read = other.read(&Bounds::all()).map(|read| read.events);
    assert_eq!(read.ok(), Some(13));
    // A clone is the same traceset, and so is that of another context.
    let mut same = TracesetContext::new(traceset.clone());
    assert!(same.seek_position(&position).is_ok());
    assert!(same.position() == position && position < TracesetPosition::end(&traceset));
}

#[test]
fn time_spans() {
    let traceset = two_by_two();
    let context = TracesetContext::new(&traceset);
    let span = |span: Option<lttv_context::TimeSpan>| {
        span.map(|s| [s.start, s.end].map(|t| t.as_ns() - 1_600_000_000_000_000_000))
    };
    assert_eq!(span(context.contexts().time_span()), Some([10, 30]));
    assert_eq!(span(context.contexts().time_span_of(TraceIndex(1))), Some([10, 20]));
    assert_eq!(span(context.contexts().time_span_of(TraceIndex(2))), None);
    assert_eq!(span(TracesetContext::new(Traceset::new()).contexts().time_span()), None);
}

/// A state, and a second one computed from it, in separate extensions.
#[derive(Default)]
struct Last(Option<String>);
#[derive(Default)]
struct Pairs(Vec<(String, String)>);

impl Extension for Last {
    type Checkpoint = Option<String>;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        setup.hooks.on_event(
            Subscription::to_every_event().priority(Priority::LAST),
            move |call| {
                let here = place(call);
                call.extensions[handle].0 = Some(here);
            },
        );
    }

    fn reset(&mut self) {
        self.0 = None;
    }

    fn save(&self) -> Self::Checkpoint {
        self.0.clone()
    }

    fn restore(&mut self, saved: &Self::Checkpoint) {
        self.0.clone_from(saved);
    }

    fn checkpoint_bytes(saved: &Self::Checkpoint, _: Option<&Self::Checkpoint>) -> usize {
        size_of::<Self::Checkpoint>() + saved.as_ref().map_or(0, String::len)
    }
}

#[test]
fn extensions_can_access_each_other() {
    let mut context = TracesetContext::new(two_by_two());
    let last = context.attach(Last::default());
    let pairs = context.attach_data(Pairs::default());
    context.on_event("c", move |call| {
        let here = place(call);
        let (last, pairs) = call.extensions.get_pair_mut(last, pairs).expect("both are attached");
        pairs.0.extend(last.0.clone().map(|before| (before, here)));
    });
    assert!(context.read(&Bounds::all()).is_ok());
    let expected = [(5, 6), (6, 7)].map(|(a, b)| (ORDER[a].to_owned(), ORDER[b].to_owned()));
    assert_eq!(context.extensions()[pairs].0, expected);
    assert!(context.extensions().find::<Last>().is_some());
    assert!(context.extensions().find::<String>().is_none());
    assert_eq!(TracesetContext::new(two_by_two()).extensions().get(last).map(|_| ()), None);
}

/// A handle refers to nothing in another context, also if data of its type is at the same place.
#[test]
fn handles_of_another_context_are_refused() {
    let mut contexts = [(); 3].map(|()| TracesetContext::new(two_by_two()));
    let handles = contexts.each_mut().map(|context| {
        (context.attach(Last(Some("mine".to_owned()))), context.attach_data(Pairs::default()))
    });
    for (own, context) in contexts.iter_mut().enumerate() {
        for (of, (last, pairs)) in handles.into_iter().enumerate() {
            let extensions = context.extensions_mut();
            assert_eq!(extensions.get(last).is_some(), of == own);
            assert_eq!(extensions.get_mut(pairs).is_some(), of == own);
            let (own_last, own_pairs) = handles[own];
            assert_eq!(extensions.get_pair_mut(last, own_pairs).is_some(), of == own);
            assert_eq!(extensions.get_pair_mut(own_pairs, last).is_some(), of == own);
            assert_eq!(extensions.get_pair_mut(pairs, own_last).is_some(), of == own);
            assert_eq!(extensions.get_pair_mut(last, pairs).is_some(), of == own);
        }
        assert!(
            context
                .extensions()
                .find::<Last>()
                .is_some_and(|found| { context.extensions()[found].0.as_deref() == Some("mine") })
        );
    }
}

#[test]
#[should_panic = "the handle belongs to another context"]
fn indexing_with_a_handle_of_another_context_panics() {
    let mut context = TracesetContext::new(two_by_two());
    let mut other = TracesetContext::new(two_by_two());
    let last = context.attach(Last::default());
    other.attach(Last::default());
    let _ = other.extensions()[last].0.as_deref();
}

/// Only hooks of extensions change state: others are not called when it is updated.
#[test]
fn state_is_updated_without_other_hooks() {
    let mut others = 0;
    let mut context = TracesetContext::new(two_by_two());
    let last = context.attach(Last::default());
    context.state().set_policy(CheckpointPolicy::every(2));
    context.on_event("*", |_| others += 1);
    assert!(context.read(&Bounds::all()).is_ok());
    assert_eq!(context.checkpoints().len(), 4);
    let time = Timestamp::from_ns(1_600_000_000_000_000_030);
    // Two of the events before the position are after the nearest checkpoint.
    assert_eq!(context.state().seek_time(time), 1);
    assert_eq!(context.extensions()[last].0.as_deref(), Some(ORDER[6]));
    let end = TracesetPosition::end(context.traceset());
    context.seek_position(&end).unwrap();
    assert!(!context.is_state_current());
    assert_eq!(context.state().update(), 0);
    assert_eq!(context.extensions()[last].0.as_deref(), Some(ORDER[7]));

    // Another context of the traceset uses the same checkpoints.
    let mut other = TracesetContext::new(context.traceset());
    let other_last = other.attach(Last::default());
    assert_eq!(other.state().set_checkpoints(context.checkpoints().clone()), Ok(()));
    assert_eq!(other.state().seek_time(time), 1);
    assert_eq!(other.extensions()[other_last].0.as_deref(), Some(ORDER[6]));
    drop(context);
    assert_eq!(others, 8);
}

#[test]
fn damage_affects_only_the_damaged_part() {
    let sound = two_by_two();
    let broken = {
        let metadata = b"/* CTF 1.8 */
            trace { major = 1; minor = 8; byte_order = le; };
            stream { packet.context := struct { integer { size = 8; } packet_size; }; };
            event { name = e; fields := struct { integer { size = 8; } n; }; };";
        // A packet of 2 bytes, and one that declares more bytes than the file has.
        let files = [("s".to_owned(), vec![16, 1, 200])];
        Trace::from_memory(metadata, files).expect("a trace")
    };
    let mut traceset = sound.clone();
    traceset.add(broken);
    let mut seen = 0;
    let mut context = TracesetContext::new(&traceset);
    context.on_event("*", |_| seen += 1);
    for _ in 0..2 {
        assert_eq!(context.read(&Bounds::all()).map(|read| read.events).ok(), Some(9));
        // The same damage is reported once.
        assert_eq!(context.merge().errors().len(), 1);
        context.seek_time(Timestamp::MIN);
    }
    assert!(context.finish().is_err());
    assert_eq!(seen, 18);

    // The result of a read shows the damage until the errors have been taken.
    let errors = |context: &mut TracesetContext<'_>| {
        let read = context.read(&Bounds::all()).expect("bounds without a position");
        assert_eq!(read.reason, EndReason::EndOfTraceset);
        read.errors
    };
    assert_eq!(errors(&mut TracesetContext::new(&sound)), 0);
    let mut context = TracesetContext::new(&traceset);
    for _ in 0..2 {
        assert_eq!(errors(&mut context), 1);
        assert_eq!(errors(&mut context), 1, "nothing more is read");
        assert_eq!(context.take_errors().len(), 1);
        assert_eq!(errors(&mut context), 0);
        context.seek_time(Timestamp::MIN);
    }
}

#[test]
fn traces_of_different_formats_are_merged() {
    let open = |name: &str| {
        Traceset::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces").join(name))
            .expect("a bundled trace")
    };
    let (kernel, ust, ctf2) = (open("kernel"), open("ust"), open("ust-ctf2"));
    let all = [&kernel, &ust, &ctf2].into_iter().flat_map(|set| set.traces().to_vec());
    let all = Traceset::from_iter(all);
    let events = |traceset: &Traceset| {
        let mut seen = Vec::new();
        let mut context = TracesetContext::new(traceset);
        context.on_event("*", |call| {
            seen.push((call.delivery_time(), call.trace.index(), call.tracefile.index()));
        });
        assert!(context.read(&Bounds::all()).is_ok());
        drop(context);
        seen
    };
    let seen = events(&all);
    let alone: usize = [&kernel, &ust, &ctf2].iter().map(|set| events(set).len()).sum();
    assert_eq!(seen.len(), alone);
    assert!(seen.is_sorted());
}
