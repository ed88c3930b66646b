//! Spans of real traces: they add up to latencies, their events are those that begin and end them, and
//! they do not depend on threads and windows.

use std::collections::{BTreeMap, HashMap};

use crate::support;
use ltt_read::{TimeSpan, Timestamp, TracefileIndex};
use lttv_context::Traceset;
use lttv_filter::{Environment, Expression};
use lttv_state::analysis::read;
use lttv_state::latency::{GroupBy, Latency, LatencyAnalysis, Settings};
use lttv_state::spans::{
    Completeness, EventReader, Family, Period, Span, SpanAnalysis, SpanFilter, SpanNames,
    SpanSettings, SpanVisitor,
};

/// A span with its names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Named {
    pub(crate) span: Span,
    pub(crate) label: String,
    pub(crate) comm: String,
    pub(crate) priority: Option<i64>,
}

/// Collects all spans, by trace.
#[derive(Debug, Default)]
pub(crate) struct All(pub(crate) Vec<Named>);

impl All {
    /// Returns what can be seen of all spans.
    pub(crate) fn visible(&self) -> Vec<String> {
        let text = |of: &Named| {
            let Span { family, completeness, begin, end, cpu, thread, waker, .. } = of.span;
            let Span { file, result, first, last, .. } = of.span;
            let of_events = (file, result, first, last, &of.label, of.priority);
            format!(
                "{family} {completeness:?} {begin}..{end} {cpu} {thread:?} {waker:?} {of_events:?}"
            )
        };
        self.0.iter().map(text).collect()
    }
}

impl SpanVisitor for All {
    fn span(&mut self, span: &Span, names: &SpanNames<'_>) {
        self.0.push(Named {
            span: *span,
            label: names.label(span),
            comm: names.comm(span, &span.thread).to_owned(),
            priority: names.priority(span),
        });
    }
}

/// Returns the spans of all families, by trace, in the order of their ends.
pub(crate) fn spans(traceset: &Traceset, threads: usize, window: Option<TimeSpan>) -> Vec<Named> {
    let settings = SpanSettings::new().families(Family::ALL);
    let read = read(traceset).threads(threads);
    let read = match window {
        Some(window) => read.window(window.start..=window.end),
        None => read,
    };
    let mut all = read.run(SpanAnalysis::new(settings, All::default())).output.visitor.0;
    all.sort_by_key(|of| of.span.trace);
    all
}

fn latency(traceset: &Traceset) -> Latency {
    let settings = Settings::new().families(Family::ALL);
    read(traceset).run(LatencyAnalysis::new(settings)).output
}

/// Checks that the whole spans add up to the figures of latencies, by family, subject and thread.
pub(crate) fn check_sums(name: &str, traceset: &Traceset) -> usize {
    let found = sums_of(spans(traceset, 2, None));
    // Threads with one id after the other have rows of their own, which the key joins.
    assert_eq!(found, sums_of_figures(&latency(traceset)), "{name}");
    found.values().map(|sums| sums.0 as usize).sum()
}

/// The numbers, sums and greatest of durations in ns, by trace, family, subject and thread.
type Sums = BTreeMap<(usize, Family, String, Option<i32>), (u64, u128, u64)>;

/// Returns `true` if figures of a family are divided by thread.
fn has_thread(family: Family) -> bool {
    !matches!(family, Family::HardIrq | Family::Vector | Family::Softirq | Family::SoftirqRaise)
}

fn sums_of_figures(latency: &Latency) -> Sums {
    let mut expected = Sums::new();
    for (trace, of) in latency.traces().iter().enumerate() {
        for family in Family::ALL {
            for row in of.rows(family, GroupBy::ThreadAndSubject) {
                let thread = row.thread.and_then(|id| of.thread(id)).map(|of| of.tid);
                let subject = of.subject(row.subject.expect("by subject"));
                let key = (trace, family, subject, thread.filter(|_| has_thread(family)));
                let durations = row.figures.durations();
                // Rows of calls whose entry was not seen have bytes only.
                if durations.count() == 0 {
                    continue;
                }
                let sums = expected.entry(key).or_default();
                sums.0 += durations.count();
                sums.1 += u128::from(durations.spread().total());
                sums.2 = sums.2.max(durations.spread().greatest().value);
            }
        }
    }
    expected
}

fn sums_of(spans: Vec<Named>) -> Sums {
    let mut found = Sums::new();
    for Named { span, label, priority, .. } in spans {
        if span.completeness != Completeness::Whole {
            continue;
        }
        let label = match span.family {
            Family::WakeUp | Family::Preemption => {
                priority.map_or(String::new(), |priority| priority.to_string())
            }
            _ => label,
        };
        let thread = span.thread.tid.filter(|_| has_thread(span.family));
        let sums = found.entry((span.trace.0, span.family, label, thread)).or_default();
        let duration = span.duration().expect("a whole span");
        sums.0 += 1;
        sums.1 += u128::from(duration);
        sums.2 = sums.2.max(duration);
    }
    found
}

/// A visitor of the spans that pass a filter.
struct Passing<'t>(SpanFilter, EventReader<'t>, All);

impl SpanVisitor for Passing<'_> {
    fn span(&mut self, span: &Span, names: &SpanNames<'_>) {
        if self.0.matches(span, names, &mut self.1) {
            self.2.span(span, names);
        }
    }
}

#[test]
fn figures_of_a_selection_are_those_of_its_spans() {
    let texts = [
        "duration >= 20us",
        "cpu == 1",
        "comm =~ \"[a-k]*\"",
        "family == syscall && result < 0",
        "tid > 200 && duration < 1ms",
        "waker =~ \"*\" || name =~ \"*read*\"",
        "file =~ \"/*\"",
        "bytes >= 4096 || count >= 100",
        "nr_sector > 8 || family == wake-up",
    ];
    let mut compared = 0;
    for (name, traceset) in support::kernel_traces() {
        for text in texts {
            let expression = Expression::parse(text).expect("an expression");
            let filter = || SpanFilter::new(&expression, &traceset, &Environment::new());
            // Not all traces have all fields.
            let Ok(of_spans) = filter() else { continue };
            let visitor = Passing(of_spans, EventReader::new(&traceset), All::default());
            let settings = SpanSettings::new().families(Family::ALL);
            let read_spans = read(&traceset).threads(2).run(SpanAnalysis::new(settings, visitor));
            let passing = read_spans.output.visitor.2.0;
            let open: Vec<_> = passing
                .iter()
                .filter(|of| of.span.last.is_none() && of.span.completeness == Completeness::NoEnd)
                .filter(|of| [Family::Syscall, Family::DiskDevice].contains(&of.span.family))
                .map(|of| (of.span.begin, of.span.family, of.span.thread.tid))
                .collect();
            let expected = sums_of(passing);
            for threads in [1, 3] {
                let settings = Settings::new().families(Family::ALL).top(3);
                let settings = settings.select(filter().expect("as before"), &traceset);
                let read = read(&traceset).threads(threads).run(LatencyAnalysis::new(settings));
                let found = read.output;
                assert_eq!(sums_of_figures(&found), expected, "{name} {text}");
                for of in found.traces() {
                    assert_eq!((of.disks().count(), of.futexes().count()), (0, 0));
                    for listed in of.open().iter().filter(|of| of.family == Family::Syscall) {
                        let tid = of.thread(listed.thread).map(|of| of.tid);
                        assert!(
                            open.contains(&(listed.begin, listed.family, tid)),
                            "{name} {text}"
                        );
                    }
                    for family in Family::ALL {
                        let longest = of.top(family).first().map(|of| of.duration());
                        let total = of.total(family);
                        let greatest = Some(total.durations().spread().greatest().value)
                            .filter(|_| total.durations().count() > 0);
                        assert_eq!(longest, greatest, "{name} {text}");
                    }
                }
            }
            compared += expected.values().map(|sums| sums.0 as usize).sum::<usize>();
        }
    }
    support::report(&format!("{compared} spans of selections were compared"));
    assert!(compared > 1_000, "{compared}");
}

#[test]
fn spans_add_up_to_latencies() {
    let compared: usize =
        support::kernel_traces().iter().map(|(name, of)| check_sums(name, of)).sum();
    support::report(&format!("{compared} spans were compared"));
    assert!(compared > 2_500);
}

#[test]
fn the_events_of_spans_are_those_at_their_begin_and_end() {
    for (name, traceset) in support::kernel_traces() {
        let mut reader = EventReader::new(&traceset);
        let mut checked = 0;
        for Named { span, .. } in spans(&traceset, 1, None) {
            let mut of = |place| {
                reader.read(span.trace, place, |event| {
                    (event.timestamp(), event.event_type().name().to_owned())
                })
            };
            let first = span.first.map(|place| of(place).expect("an event"));
            let last = span.last.map(|place| of(place).expect("an event"));
            let whole = matches!(span.completeness, Completeness::Whole | Completeness::Lost);
            assert_eq!(first.is_some(), span.completeness != Completeness::NoBegin, "{span:?}");
            assert_eq!(last.is_some(), span.completeness != Completeness::NoEnd, "{span:?}");
            // Where a clock goes back, spans have the times of delivery, which never decrease.
            let times = [&first, &last].map(|of| of.as_ref().and_then(|(time, _)| *time));
            if whole && name != "ctf/tc-bug446190" {
                assert_eq!(times, [Some(span.begin), Some(span.end)], "{name}: {span:?}");
            }
            if span.family == Family::Run && whole {
                let names = [first, last].map(|of| of.map(|(_, name)| name));
                let switches = names.into_iter().flatten();
                assert!(switches.into_iter().all(|name| name.contains("sched_switch")), "{name}");
            }
            checked += 1;
        }
        assert!(checked > 0, "{name}");
    }
}

#[test]
fn spans_do_not_depend_on_the_number_of_threads() {
    for (name, traceset) in support::kernel_traces() {
        let one = spans(&traceset, 1, None);
        for threads in [2, 5] {
            assert!(one == spans(&traceset, threads, None), "{name} on {threads} threads");
        }
    }
}

#[test]
fn spans_of_a_window_are_those_that_end_in_it_and_those_that_are_open_at_its_end() {
    for (name, traceset) in support::kernel_traces() {
        let whole = spans(&traceset, 1, None);
        let ends: Vec<Timestamp> = whole.iter().map(|of| of.span.end).collect();
        let (Some(first), Some(last)) = (ends.iter().min(), ends.iter().max()) else { continue };
        let length = last.since(*first);
        let window = TimeSpan {
            start: Timestamp::from_ns(first.as_ns() + length as i64 / 3),
            end: Timestamp::from_ns(first.as_ns() + length as i64 / 2),
        };
        let found = spans(&traceset, 2, Some(window));
        let is_ended = |of: &&Named| of.span.completeness != Completeness::NoEnd;
        let within = |of: &&Named| of.span.end >= window.start && of.span.end <= window.end;
        let key =
            |of: &Named| (of.span.trace, of.span.family, of.span.begin, of.span.end, of.span.last);
        let ended = found.iter().filter(is_ended).map(key);
        let expected = whole.iter().filter(is_ended).filter(within).map(key);
        // Events of traces whose clock goes back are in the window by their own time.
        if name != "ctf/tc-bug446190" {
            assert!(ended.eq(expected), "{name}");
        }
        // What ends later and began before is open.
        let is_open = |of: &&Named| of.span.begin <= window.end && of.span.end > window.end;
        let open: HashMap<_, _> = found
            .iter()
            .filter(|of| of.span.completeness == Completeness::NoEnd)
            .map(|of| ((of.span.family, of.span.begin, of.span.thread.tid), of))
            .collect();
        let families = [Family::Syscall, Family::Run, Family::WakeUp, Family::DiskDevice];
        for of in whole.iter().filter(is_ended).filter(is_open) {
            let Named { span, .. } = of;
            let whole = span.completeness == Completeness::Whole;
            if whole && families.contains(&span.family) && name != "ctf/tc-bug446190" {
                let key = (span.family, span.begin, span.thread.tid);
                assert!(open.contains_key(&key), "{name}: {of:?}");
            }
        }
    }
}

/// System calls by the thread that the last switch on their CPU names, in a plain list of events.
#[test]
fn system_calls_are_those_of_a_plain_pairing() {
    let traceset = Traceset::open(support::bundled()).expect("a trace");
    let trace = &traceset.traces()[0];
    let mut events = Vec::new();
    for tracefile in 0..trace.tracefiles().len() {
        let mut cursor = trace.cursor(TracefileIndex(tracefile));
        while let Some(event) = cursor.next().expect("a sound trace") {
            let field = |name: &str| event.field(name).and_then(|value| value.as_i64());
            let (time, name) = (event.timestamp(), event.event_type().name().to_owned());
            let cpu = event.packet().cpu;
            events.push((time, tracefile, cpu, name, field("next_tid"), field("ret")));
        }
    }
    events.sort_by_key(|event| (event.0, event.1));
    let (mut running, mut open) = (HashMap::new(), HashMap::new());
    let mut expected = Vec::new();
    for (time, _, cpu, name, next, result) in events {
        if name == "sched_switch" {
            running.insert(cpu, next.expect("a thread"));
        } else if let Some(call) = name.strip_prefix("syscall_entry_") {
            if let Some(tid) = running.get(&cpu) {
                open.insert(*tid, (call.to_owned(), time));
            }
        } else if let Some(call) = name.strip_prefix("syscall_exit_")
            && let Some(tid) = running.get(&cpu)
            && let Some((entered, begin)) = open.remove(tid)
            && entered == call
        {
            expected.push((begin, time, entered, Some(*tid as i32), result));
        }
    }
    let found = spans(&traceset, 2, None);
    let found = found.into_iter().filter(|of| {
        of.span.family == Family::Syscall && of.span.completeness == Completeness::Whole
    });
    let found: Vec<_> = found
        .map(|Named { span, label, .. }| {
            (Some(span.begin), Some(span.end), label, span.thread.tid, span.result)
        })
        .collect();
    assert!(found.len() > 500);
    assert_eq!(found, expected);
}

#[test]
fn filters_use_properties_and_fields_of_both_events() {
    let traceset = Traceset::open(support::bundled()).expect("a trace");
    let all = spans(&traceset, 1, None);
    let count = |text: &str, expected: &dyn Fn(&Named) -> bool| {
        let expression = Expression::parse(text).expect("an expression");
        let filter = SpanFilter::new(&expression, &traceset, &Environment::new());
        let reader = EventReader::new(&traceset);
        let visitor = Passing(filter.expect("a filter"), reader, All::default());
        let settings = SpanSettings::new().families(Family::ALL);
        let found = read(&traceset).run(SpanAnalysis::new(settings, visitor)).output.visitor.2;
        let found = found.0.len();
        let expected = all.iter().filter(|of| expected(of)).count();
        assert!(found > 0, "{text}");
        assert_eq!(found, expected, "{text}");
    };
    let syscall = |of: &Named| of.span.family == Family::Syscall;
    count("family == syscall", &syscall);
    count("family == syscall && duration > 10ms", &|of| {
        syscall(of) && of.span.duration().is_some_and(|ns| ns > 10_000_000)
    });
    count("error == ENOENT && name == openat && family == syscall", &|of| {
        syscall(of) && of.span.error() == Some(2) && of.label == "openat"
    });
    count("comm =~ \"work*\"", &|of| of.comm.starts_with("work"));
    count("result < 0 && family == syscall", &|of| {
        syscall(of) && of.span.result < Some(0) && of.span.result.is_some()
    });
    // A field of the event that begins the span, and one of the event that ends it.
    let mut reader = EventReader::new(&traceset);
    let matching: Vec<bool> = all
        .iter()
        .map(|of| {
            let span = &of.span;
            let mut field = |name: &str| {
                [span.first, span.last].into_iter().flatten().find_map(|place| {
                    reader.read(span.trace, place, |event| event.field(name)?.as_i64()).flatten()
                })
            };
            syscall(of) && field("count").is_some_and(|count| count >= 4096)
        })
        .collect();
    let wanted = matching.iter().filter(|is_it| **is_it).count();
    count("family == syscall && count >= 4096", &|of| {
        let at = all.iter().position(|other| std::ptr::eq(other, of)).expect("one of them");
        matching[at]
    });
    assert!(wanted > 0);
    let error = SpanFilter::new(
        &Expression::parse("durations > 1").expect("an expression"),
        &traceset,
        &Environment::new(),
    );
    let error = error.expect_err("no such property").to_string();
    assert!(error.contains("durations"), "{error}");
}

/// Recorders of the kernel's tracepoints have up to two events for the same entry and exit.
#[test]
fn a_call_with_two_events_for_each_end_is_one_span() {
    let line = |time: u64, name: &str, fields: &str| {
        format!("[0.{time:09}] h {name}: {{ cpu_id = 0 }}, {{ {fields} }}")
    };
    let switch = "prev_comm = \"a\", prev_tid = 0, prev_prio = 20, prev_state = 0, \
                  next_comm = \"b\", next_tid = 7, next_prio = 20";
    let mut lines = vec![line(5, "sched:sched_switch", switch)];
    for (begin, raw_first) in [(10, true), (20, false), (30, true)] {
        let (raw, named) = if raw_first { (begin, begin + 1) } else { (begin + 1, begin) };
        let mut ends = [
            (raw, "raw_syscalls:sys_enter", "id = 5"),
            (named, "syscalls:sys_enter_newfstat", "fd = 3"),
            (raw + 5, "raw_syscalls:sys_exit", "id = 5, ret = 0"),
            (named + 5, "syscalls:sys_exit_newfstat", "ret = 0"),
        ];
        ends.sort_by_key(|(time, ..)| *time);
        lines.extend(ends.map(|(time, name, fields)| line(time, name, fields)));
    }
    // Alone, each kind is enough.
    lines.push(line(40, "raw_syscalls:sys_enter", "id = 5"));
    lines.push(line(41, "raw_syscalls:sys_exit", "id = 5, ret = 0"));
    lines.push(line(42, "syscalls:sys_enter_newfstat", "fd = 3"));
    lines.push(line(43, "syscalls:sys_exit_newfstat", "ret = 0"));
    let trace = support::event_text::trace_of(lines.iter().map(String::as_str));
    let traceset = Traceset::from(vec![trace]);
    let calls = spans(&traceset, 1, None);
    let calls = calls.iter().filter(|of| of.span.family == Family::Syscall);
    let found: Vec<_> = calls
        .map(|of| (of.span.begin.as_ns(), of.span.duration(), &*of.label, of.span.completeness))
        .collect();
    let whole = Completeness::Whole;
    assert_eq!(
        found,
        [
            (10, Some(5), "newfstat", whole),
            (20, Some(5), "newfstat", whole),
            (30, Some(5), "newfstat", whole),
            (40, Some(1), found[3].2, whole),
            (42, Some(1), "newfstat", whole),
        ]
    );
    let unmatched = *latency(&traceset).traces()[0].unmatched();
    assert_eq!(unmatched.entries_over_entry + unmatched.exits_without_entry, 0, "{unmatched:?}");
}

#[test]
fn periods_of_several_traces_have_their_trace_and_thread() {
    let lines = |offset: u64, tid: i32| -> Vec<String> {
        let line = |time: u64, name: &str, fields: &str| {
            format!("[0.{:09}] h {name}: {{ cpu_id = 0 }}, {{ {fields} }}", time + offset)
        };
        let mut all = Vec::new();
        for round in 0..20 {
            let (from, to) = if round % 2 == 0 { (0, tid) } else { (tid, 0) };
            let switch = format!(
                "prev_comm = \"x\", prev_tid = {from}, prev_prio = 20, prev_state = 0, \
                 next_comm = \"t{to}\", next_tid = {to}, next_prio = 20"
            );
            let time = 100 * (round + 1);
            all.push(line(time, "sched_switch", &switch));
            // These change no state, so that they are applied with a later event of any trace.
            if round % 2 == 0 {
                all.push(line(time + 10, "mine_begin", "n = 1"));
                all.push(line(time + 40, "mine_end", "n = 1"));
            }
        }
        all
    };
    let trace =
        |lines: Vec<String>| support::event_text::trace_of(lines.iter().map(String::as_str));
    let traceset = Traceset::from(vec![trace(lines(0, 7)), trace(lines(25, 9))]);
    let expression = |name: &str| Expression::parse(&format!("event.name == {name}")).expect("one");
    let period = Period::new("mine", expression("mine_begin"), expression("mine_end"));
    for threads in [1, 3] {
        let settings = SpanSettings::new()
            .families([Family::Period])
            .periods([period.clone()], traceset.traces(), &Environment::new())
            .expect("periods that fit");
        let analysis = SpanAnalysis::new(settings, All::default());
        let found = read(&traceset).threads(threads).run(analysis).output.visitor.0;
        assert_eq!(found.len(), 20);
        for (trace, tid, comm) in [(0, 7, "t7"), (1, 9, "t9")] {
            let own: Vec<_> = found.iter().filter(|of| of.span.trace.0 == trace).collect();
            assert_eq!(own.len(), 10, "trace {trace}");
            for of in own {
                assert_eq!(of.span.thread.tid, Some(tid), "{of:?}");
                assert_eq!((of.span.duration(), &*of.comm), (Some(30), comm), "{of:?}");
            }
        }
    }
}
