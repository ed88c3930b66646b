//! The words `tid`, `pid` and `comm` at events that do not record them, compared with the
//! contexts of events that do, and with a small trace written for the purpose.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use ltt_read::schema::{ByteOrder, FieldClass, Format, Integer, Scope, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use lttv_context::{Bounds, EventCall, Traceset, TracesetContext};
use lttv_filter::{Environment, Expression, StateField, StateFields, StateView};
use lttv_state::filter::{KernelFields, KernelFilters, KernelView};
use lttv_state::kernel::KernelState;

use crate::support;

fn context<'a>(call: &EventCall<'a, '_>, name: &str) -> Option<ltt_read::Value<'a>> {
    let of = |scope| call.event.scope(scope)?.get(name);
    of(Scope::SpecificContext).or_else(|| of(Scope::CommonContext))
}

/// The state at an event names the thread that LTTng's contexts name, also at switches.
#[test]
fn words_are_what_contexts_record() {
    let mut checked = BTreeMap::new();
    for name in ["bundled", "ctf/k1-8cpu", "ctf/k1-ctx"] {
        let path = match name {
            "bundled" => Some(support::bundled()),
            shared => support::shared(shared),
        };
        let Some(path) = path else { continue };
        let traceset = Traceset::open(path).expect("a trace");
        let field = |word: &str| -> StateField {
            let name = KernelFields.field_of_word(word, &traceset.traces()[0]);
            KernelFields.find(name.expect("a kernel trace")).expect("a field").0
        };
        let [tid, pid, comm] = ["tid", "pid", "comm"].map(field);
        let counts = RefCell::new([(0_u64, 0_u64); 3]);
        let counted = &counts;
        let mut context_of = TracesetContext::new(&traceset);
        let kernel = context_of.attach(KernelState::new());
        context_of.on_event("*", move |call| {
            let view = KernelView::new(&call.extensions[kernel], call);
            let count = |word: usize, is_equal: Option<bool>| {
                let of = &mut counted.borrow_mut()[word];
                match is_equal {
                    Some(true) => of.0 += 1,
                    Some(false) => of.1 += 1,
                    None => {}
                }
            };
            let number = |name| context(call, name).and_then(|value| value.as_i64());
            let known = |field| view.integer(field, &call.event).map(|n| n as i64);
            count(0, number("tid").zip(known(tid)).map(|(a, b)| a == b));
            count(1, number("pid").zip(known(pid)).map(|(a, b)| a == b));
            let text = context(call, "procname").and_then(|value| value.as_str());
            let text = text.map(|text| text.to_str_lossy().into_owned());
            let own = view.text(comm, &call.event);
            let own = own.map(|text| String::from_utf8_lossy(&text).into_owned());
            count(2, text.zip(own).map(|(a, b)| a == b));
        });
        assert_eq!(context_of.read(&Bounds::all()).expect("bounds").errors, 0);
        drop(context_of);
        checked.insert(name, counts.into_inner());
    }
    for (name, [tid, pid, comm]) in &checked {
        eprintln!("{name}: {tid:?} {pid:?} {comm:?}");
        assert!(tid.0 > 1000 && tid.1 == 0, "{name}: tid {tid:?}");
        assert_eq!(pid.1, 0, "{name}: pid {pid:?}");
        // Events do not tell the state when a thread names itself.
        assert!(comm.1 * 5 <= comm.0, "{name}: comm {comm:?}");
    }
    assert!(checked["bundled"][2].0 > 100);
}

/// Writes a kernel trace without contexts: threads 5 and 6 of process 5, and thread 7.
fn write(dir: &std::path::Path) -> Traceset {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    schema.stream_classes[0].common_context = None;
    let number = || FieldClass::integer(32, ByteOrder::Little, Integer::default());
    let text = || presets::text_array(16);
    let class = StreamClassId(0);
    let switch = FieldClass::structure([
        ("prev_comm", text()),
        ("prev_tid", number()),
        ("prev_prio", number()),
        ("prev_state", number()),
        ("next_comm", text()),
        ("next_tid", number()),
        ("next_prio", number()),
    ]);
    let switch = schema.add_event_type(class, "sched_switch", switch);
    let names = [("child_tid", number()), ("parent_tid", number()), ("child_pid", number())];
    let fork = schema.add_event_type(class, "sched_process_fork", FieldClass::structure(names));
    let call = FieldClass::structure([("fd", number())]);
    let call = schema.add_event_type(class, "syscall_entry_read", call);
    let wakeup = FieldClass::structure([("tid", number()), ("target_cpu", number())]);
    let wakeup = schema.add_event_type(class, "sched_wakeup", wakeup);
    let trace = TraceWriter::create(dir, schema).expect("a directory to write to");
    let stream = trace.stream(class, "channel0_0").expect("a stream class");
    let mut stream = stream.with_packet_context(FieldValue::fields([("cpu_id", 0_u64)]));
    let name = |text: &str| FieldValue::Str(text.to_owned());
    let uint = FieldValue::Uint;
    let mut now = 0;
    let mut event = |id, fields: Vec<(&'static str, FieldValue)>| {
        now += 10;
        stream.event(id, now, FieldValue::fields(fields)).expect("an event");
    };
    let switched = |from: (u64, &str), to: (u64, &str)| {
        vec![
            ("prev_comm", name(from.1)),
            ("prev_tid", uint(from.0)),
            ("prev_prio", uint(20)),
            ("prev_state", uint(1)),
            ("next_comm", name(to.1)),
            ("next_tid", uint(to.0)),
            ("next_prio", uint(20)),
        ]
    };
    event(switch, switched((0, "swapper/0"), (5, "server")));
    event(call, vec![("fd", uint(1))]);
    event(fork, vec![("child_tid", uint(6)), ("parent_tid", uint(5)), ("child_pid", uint(5))]);
    event(wakeup, vec![("tid", uint(7)), ("target_cpu", uint(0))]);
    event(switch, switched((5, "server"), (6, "server")));
    event(call, vec![("fd", uint(2))]);
    event(call, vec![("fd", uint(3))]);
    event(switch, switched((6, "server"), (7, "client")));
    event(call, vec![("fd", uint(4))]);
    event(switch, switched((7, "client"), (0, "swapper/0")));
    stream.finish().expect("a sound stream");
    Traceset::open(dir).expect("a trace")
}

#[test]
fn words_follow_the_state_where_no_context_is_recorded() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let traceset = write(&dir.path().join("trace"));
    // At a switch, the thread is the one that is switched out.
    for (text, uses_state, expected) in [
        ("tid == 5", true, 4),
        ("tid == 6", true, 3),
        ("tid == 7", true, 2),
        ("tid == 0", true, 1),
        ("tid == 5 && !sched_*", true, 1),
        ("pid == 5", true, 3), // of thread 6; that of thread 5 is not in the trace
        ("comm == client", true, 2),
        ("comm =~ s* && syscall_*", true, 3),
        ("sched_switch && tid in (5, 6)", true, 2),
        ("state.tid == 5", true, 4), // after the event
        ("state.tid == 7", true, 2),
        ("state.pid == 5", true, 3),
        ("state.tgid == 5", true, 3),
        ("event.fields.*.tid == 7", false, 1),
        ("sched_wakeup && event.fields.*.tid == 7", false, 1),
        ("cpu == 0", false, 10),
        ("name == sched_switch", false, 4),
        ("nothing_like_this && tid == 5", false, 0),
    ] {
        let expression: Expression = text.parse().expect(text);
        let environment = Environment::new();
        let filters = KernelFilters::new(&expression, traceset.traces(), &environment);
        let filters = filters.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(filters.uses_state(), uses_state, "{text}");
        let passed = Cell::new(0);
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new().without_looking_ahead());
        let (filters, counter) = (filters.with_state(kernel), &passed);
        context.on_event("*", move |call| {
            counter.set(counter.get() + usize::from(filters.matches(call)));
        });
        _ = context.read(&Bounds::all()).expect("bounds without a position");
        drop(context);
        assert_eq!(passed.get(), expected, "{text}");
    }
}

/// Without a state, a word that no event records is a field of the payload, which is noted.
#[test]
fn without_a_state_a_word_is_a_field() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let traceset = write(&dir.path().join("trace"));
    let filters = |text: &str| {
        let expression: Expression = text.parse().expect(text);
        lttv_filter::Filters::new(&expression, traceset.traces())
    };
    assert_eq!(
        filters("tid == 7").expect("a field").notes().to_string(),
        "column 1: `tid` is a field of the payload here \
         (the thread that the event belongs to is not known)"
    );
    assert_eq!(
        filters("comm == client").expect_err("no field").to_string(),
        "column 1: no event has a field `comm` \
         (the command of the thread that the event belongs to is not known)"
    );
}
