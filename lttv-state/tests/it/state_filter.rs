//! `state.` fields of filters on a real trace, compared with the state itself.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use ltt_read::TraceIndex;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_filter::{Environment, Expression};
use lttv_state::filter::KernelFilters;
use lttv_state::kernel::{ExecutionMode, KernelState, Process, ProcessStatus, TraceState};

use crate::support;

type Plain = fn(&TraceState, &Process, u32) -> bool;

#[test]
fn fields_are_those_of_the_running_process() {
    let cases: &[(&str, Plain)] = &[
        ("state.tid = 0", |_, p, _| p.tid() == Some(0)),
        ("state.tid > 100", |_, p, _| p.tid() > Some(100)),
        ("state.pid != 0", |_, p, _| p.pid().is_some_and(|pid| pid != 0)),
        ("state.tgid > 1", |_, p, _| p.pid() > Some(1)),
        ("state.ppid >= 2", |_, p, _| p.parent() >= Some(2)),
        ("state.cpu = 3", |_, _, cpu| cpu == 3),
        ("state.process_name = \"swapper/3\"", |s, p, _| s.name(p.name()) == "swapper/3"),
        ("state.process_name != \"client\"", |s, p, _| {
            p.name() != Default::default() && s.name(p.name()) != "client"
        }),
        ("state.execution_mode = SYSCALL", |_, p, _| p.mode() == ExecutionMode::Syscall),
        ("state.execution_mode = user_mode", |_, p, _| p.mode() == ExecutionMode::User),
        ("state.execution_mode != MODE_UNKNOWN", |_, p, _| p.mode() != ExecutionMode::Unknown),
        ("state.execution_submode = \"epoll_wait\"", |s, p, _| s.name(p.submode()) == "epoll_wait"),
        ("state.execution_submode = none", |s, p, _| s.name(p.submode()) == "NONE"),
        ("state.execution_submode = NONE", |s, p, _| s.name(p.submode()) == "NONE"),
        ("state.execution_submode != unknown", |s, p, _| s.name(p.submode()) != "UNKNOWN"),
        ("state.execution_submode in (none, unknown)", |s, p, _| {
            ["NONE", "UNKNOWN"].contains(&s.name(p.submode()))
        }),
        ("state.execution_submode not in (none, unknown, read)", |s, p, _| {
            !["NONE", "UNKNOWN", "read"].contains(&s.name(p.submode()))
        }),
        ("state.execution_submode =~ \"no*\"", |s, p, _| {
            s.name(p.submode()) == "NONE" || s.name(p.submode()).starts_with("no")
        }),
        ("state.execution_submode !~ \"none\"", |s, p, _| s.name(p.submode()) != "NONE"),
        ("state.process_status = RUN", |_, p, _| p.status() == ProcessStatus::Run),
        ("!(state.process_status = run)", |_, p, _| p.status() != ProcessStatus::Run),
        ("state.creation_time > 0", |_, p, _| p.creation().is_some()),
        ("state.insertion_time > 1970-01-02", |_, _, _| true),
    ];
    let traceset = Traceset::open(support::bundled()).expect("a trace");
    for (text, plain) in cases {
        let expression: Expression = text.parse().expect("an expression");
        let environment = Environment::new();
        let traces = traceset.traces();
        let filters = KernelFilters::new(&expression, traces, &environment)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(filters.uses_state());
        let passed = Cell::new(0);
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new());
        let (filters, passed) = (filters.with_state(kernel), &passed);
        context.on_event("*", move |call| {
            let kernel = &call.extensions[kernel];
            let passes = filters.matches(call);
            let state = kernel.trace(TraceIndex(0)).expect("one trace");
            let cpu = kernel.cpu_of(call).expect("a CPU");
            let expected = plain(state, state.running(cpu).expect("a known CPU"), cpu);
            assert_eq!(passes, expected, "{text} at {:?}", call.delivery_time());
            passed.set(passed.get() + u64::from(passes));
        });
        _ = context.read(&Bounds::all()).expect("bounds without a position");
        drop(context);
        // The trace has an event for each expression.
        assert!(passed.get() > 0, "{text}");
    }
}

#[test]
fn errors_name_the_wrong_part() {
    let traceset = Traceset::open(support::bundled()).expect("a trace");
    let fault = |text: &str| {
        let expression: Expression = text.parse().expect("an expression");
        let environment = Environment::new();
        let filters = KernelFilters::new(&expression, traceset.traces(), &environment);
        filters.expect_err(text).to_string()
    };
    assert!(fault("state.execution_mode = SYSCAL").contains("SYSCAL"));
    assert!(fault("state.process_nam = \"a\"").contains("process_nam"));
    assert!(fault("state.pid = \"a\"").contains('a'));
    assert!(fault("state.execution_mode < SYSCALL").contains("order"));
}

/// The process that an event is about is the one that its fields name.
#[test]
fn targets_are_the_processes_that_events_name() {
    let traceset = Traceset::open(support::bundled()).expect("a trace");
    let counts = |text: &str| {
        let expression: Expression = text.parse().expect("an expression");
        let filters = KernelFilters::new(&expression, traceset.traces(), &Environment::new());
        let passed = RefCell::new(BTreeMap::<String, u64>::new());
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new());
        let filters = filters.expect("valid").with_state(kernel);
        let counted = &passed;
        context.on_event("*", move |call| {
            if filters.matches(call) {
                *counted
                    .borrow_mut()
                    .entry(call.event.event_type().name().to_owned())
                    .or_default() += 1;
            }
        });
        _ = context.read(&Bounds::all()).expect("bounds without a position");
        drop(context);
        passed.into_inner()
    };
    let named = "(sched_switch && prev_tid == 210) || event.fields.sched_process_fork.child_tid == 210 \
                 || ((sched_waking || sched_wakeup || sched_wakeup_new || sched_migrate_task \
                 || sched_process_exit || sched_process_free || lttng_statedump_process_state) \
                 && event.fields.*.tid == 210)";
    let of_target = counts("state.target_tid == 210");
    assert_eq!(of_target, counts(named));
    assert!(of_target.len() > 3, "{of_target:?}");
    assert!(counts("state.target_process_name == \"diskio\"").values().sum::<u64>() > 0);
    let waiting = counts("state.target_process_status == wait && prev_state == 1");
    assert_eq!(waiting, counts("sched_switch && prev_state == 1"));
    assert!(!waiting.is_empty());
    let ready =
        counts("state.target_process_status == wait_cpu && prev_state == 0 && prev_tid != 0");
    assert_eq!(ready, counts("sched_switch && prev_state == 0 && prev_tid != 0"));
    assert_eq!(counts("state.target_tid == 210 && irq_handler_entry"), BTreeMap::new());
}

/// A comparison of the running process with the status of one that waits is noted, with the field for that.
#[test]
fn statuses_that_no_running_process_has_are_noted() {
    let traceset = Traceset::open(support::bundled()).expect("a trace");
    let notes = |text: &str| {
        let expression: Expression = text.parse().expect("an expression");
        let filters = KernelFilters::new(&expression, traceset.traces(), &Environment::new());
        filters.expect("valid").filters().notes().to_string()
    };
    for status in ["wait", "WAIT_CPU", "wait_fork", "zombie", "dead"] {
        let note = notes(&format!("cpu == 1 && state.process_status == {status}"));
        assert!(note.contains("`state.process_status` hardly ever has such a value"), "{note}");
        assert!(note.contains("state.target_process_status"), "{note}");
        assert_eq!(notes(&format!("state.target_process_status == {status}")), "");
        assert_eq!(notes(&format!("state.process_status != {status}")), "");
    }
    assert_eq!(notes("state.process_status == run"), "");
    assert_eq!(notes("state.process_status in (run, wait)"), "");
}
