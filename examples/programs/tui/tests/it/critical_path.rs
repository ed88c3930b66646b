//! The critical-path viewer, beside the wait graph of the same trace.

use crate::support::Screen;
use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, MemoryTrace, presets};
use ltt_read::{Timestamp, TraceIndex};
use lttv_common::critical_path::{busiest, label, words};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::analysis::attach;
use lttv_state::kernel::KernelState;
use lttv_state::waits::{Segment, WaitAnalysis, WaitGraph};
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use ratatui::crossterm::event::KeyCode;

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");

/// Opens the viewer alone, with all of the trace in the time window.
fn screen(width: u16, height: u16, look: Look) -> Screen {
    screen_of(Screen::open(width, height, look))
}

/// Opens the viewer alone on a screen, with all of the trace in the time window.
fn screen_of(mut screen: Screen) -> Screen {
    let kinds = screen.app.kinds();
    let place = kinds.iter().position(|kind| kind.name() == "critical-path").expect("the kind");
    screen.type_text(&format!("v{}", "j".repeat(place)));
    screen.press(KeyCode::Enter);
    screen.type_text("m0");
    screen
}

/// Builds the graph of the trace.
fn graph() -> WaitGraph {
    let mut context = TracesetContext::new(Traceset::open(TRACE).expect("the trace"));
    let kernel = context.attach(KernelState::new());
    let waits = attach(&mut context, kernel, .., WaitAnalysis::new());
    assert_eq!(context.read(&Bounds::all()).expect("a position").errors, 0);
    waits.take(context.extensions_mut())
}

/// Returns the segments of the path of the thread that runs longest.
fn segments(graph: &WaitGraph, from: Timestamp, to: Timestamp) -> Vec<Segment> {
    let thread = busiest(graph, &(from..to)).expect("a thread");
    graph.critical_path(thread, from..to).segments().to_vec()
}

fn current(screen: &Screen) -> Timestamp {
    screen.app.session().tab.time()
}

#[track_caller]
fn assert_shows(screen: &Screen, text: &str) {
    assert!(screen.line_with(text).is_some(), "{text}\n{}", screen.text());
}

#[test]
fn each_thread_on_the_path_has_a_row() {
    let graph = graph();
    let window = graph.begin()..graph.end();
    let thread = busiest(&graph, &window).expect("a thread");
    let path = graph.critical_path(thread, window);
    for (width, height) in [(160, 45), (80, 24)] {
        let screen = screen(width, height, Look::True);
        let heading = format!("Critical path  of {}", label(&graph, thread));
        assert_shows(&screen, &heading);
        let (kind, times) = path.by_kind()[0];
        let all = path.window().end.as_ns() - path.window().start.as_ns();
        let share = 100.0 * times.total() as f64 / all as f64;
        if width == 160 {
            assert_shows(&screen, &format!("{kind} {share:.1} %"));
        }
        // The path's thread first, then the others in the order in which the path reaches them.
        let mut threads = vec![thread];
        for segment in path.segments() {
            if !threads.contains(&segment.thread) {
                threads.push(segment.thread);
            }
        }
        let mut rows: Vec<u16> = Vec::new();
        for id in threads.iter().take(usize::from(height) - 12) {
            let name: String = label(&graph, *id).chars().take(12).collect();
            let lines = screen.lines();
            let is_row = |line: &String| line.starts_with(&name);
            let after = rows.last().map_or(0, |last| last + 1);
            let at = lines.iter().skip(after.into()).position(is_row);
            rows.push(at.unwrap_or_else(|| panic!("{name}\n{}", screen.text())) as u16 + after);
        }
        assert!(rows.windows(2).all(|pair| pair[1] == pair[0] + 1), "{rows:?}\n{}", screen.text());
    }
}

#[test]
fn keys_go_along_the_path() {
    let graph = graph();
    let all = segments(&graph, graph.begin(), graph.end());
    let mut screen = screen(160, 45, Look::True);
    screen.press(KeyCode::Home);
    let of_first = all.iter().filter(|segment| segment.thread == all[0].thread);
    let longest = of_first.rev().max_by_key(|segment| segment.time()).expect("a segment");
    screen.go_to("+0ns");
    let mut seen = Vec::new();
    while seen.len() < 30 {
        screen.type_text("V");
        seen.push(current(&screen));
    }
    let starts = all.iter().map(|segment| segment.start).filter(|at| *at > graph.begin());
    let starts: Vec<_> = starts.collect();
    assert_eq!(seen, starts[..30]);
    let at = all.iter().find(|segment| segment.start == seen[29]).expect("a segment");
    assert_shows(&screen, &words(&graph, at));
    screen.press(KeyCode::Backspace);
    assert_eq!(current(&screen), starts[28]);
    // The row of the segment is selected; the first row leads to its longest part.
    let row = screen.find(&label(&graph, all[0].thread));
    screen.click(row);
    screen.press(KeyCode::Enter);
    assert_eq!(current(&screen), longest.start);
    assert_shows(&screen, &words(&graph, longest));
}

#[test]
fn the_path_is_that_of_the_selected_thread_and_window() {
    let graph = graph();
    let mut screen = screen(160, 100, Look::True);
    screen.go_to("+400ms..+500ms");
    let (from, to) = screen.window();
    let (from, to) = (Timestamp::from_ns(from), Timestamp::from_ns(to));
    // All viewers again. The rows of the control flow select a thread.
    screen.type_text("m");
    let (x, y) = screen.find("COMMAND");
    for row in 1..4 {
        screen.click((x, y + row));
        let line = screen.lines()[usize::from(y + row)].clone();
        let tid = line.split_whitespace().find_map(|word| word.parse().ok()).expect("a TID");
        let id = graph.find(TraceIndex(0), tid, from).expect("a thread");
        assert_shows(&screen, &format!("Critical path  of {}:", label(&graph, id)));
        let path = graph.critical_path(id, from..to.min(graph.end()));
        let (kind, _) = path.by_kind()[0];
        let heading = screen.line_with("Critical path  of ").expect("the heading");
        assert!(heading.contains(&format!(": {kind} ")), "{heading} {kind}");
    }
}

#[test]
fn without_colours_signs_tell_states_apart() {
    let screen = screen(120, 40, Look::Mono);
    assert_shows(&screen, "Critical path  of ");
    let (x, y) = screen.find("THREAD");
    let row: String = (x..screen.buffer().area.width)
        .map(|x| screen.buffer()[(x, y + 1)].symbol().to_owned())
        .collect();
    assert!(row.chars().rev().take(60).any(|sign| sign != ' '), "{row}");
}

/// A trace in which a thread id is used again: thread 10 runs for 2 ms, ends, and another thread
/// 10 runs for 3 ms.
fn reused_id() -> Session {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    schema.clocks[0].offset_seconds = 0;
    let channel = StreamClassId(0);
    let mut declare = |name: &str, fields: &[&str]| {
        let fields = fields.iter().map(|name| (*name, FieldClass::sint(64, ByteOrder::Little)));
        schema.add_event_type(channel, name, FieldClass::structure(fields))
    };
    let switch = declare("sched_switch", &["prev_tid", "prev_state", "next_tid"]);
    let exit = declare("sched_process_exit", &["tid", "prio"]);
    let free = declare("sched_process_free", &["tid", "prio"]);
    let fork =
        declare("sched_process_fork", &["parent_tid", "parent_pid", "child_tid", "child_pid"]);
    let events: [(u64, EventTypeId, &[i64]); 9] = [
        (1, switch, &[0, 0, 5]),
        (2, fork, &[5, 5, 10, 10]),
        (3, switch, &[5, 1, 10]),
        (5, exit, &[10, 20]),
        (5, switch, &[10, 0x40, 5]),
        (6, free, &[10, 20]),
        (8, fork, &[5, 5, 10, 10]),
        (9, switch, &[5, 1, 10]),
        (12, switch, &[10, 1, 0]),
    ];
    let mut trace = MemoryTrace::new(schema.clone());
    let mut stream = trace
        .stream(channel, "channel0_0")
        .expect("a stream class")
        .with_packet_context(FieldValue::fields([("cpu_id", 0)]));
    for (ms, of, values) in events {
        let fields = values.iter().map(|value| FieldValue::from(*value));
        stream.event(of, ms * 1_000_000, FieldValue::structure(fields)).expect("an event");
    }
    trace.add(stream).expect("a stream");
    let traceset: Traceset = std::iter::once(trace.open().expect("a trace")).collect();
    Session::new("reused".to_owned(), traceset).expect("some events")
}

#[test]
fn threads_with_one_id_have_paths_of_their_own() {
    let mut screen = screen_of(Screen::of(reused_id(), 160, 80, Look::True));
    screen.type_text("m");
    let (x, y) = screen.find("COMMAND");
    let rows: Vec<u16> = (1..8)
        .filter(|row| {
            let line = screen.lines()[usize::from(y + row)].clone();
            line.split_whitespace().any(|word| word == "10")
        })
        .collect();
    assert_eq!(rows.len(), 2, "{}", screen.text());
    // All of the trace is 11 ms long. Before a fork, a path is on the parent.
    let shares = rows.iter().map(|row| {
        screen.click((x, y + row));
        // The time in the life of the other one does not matter.
        screen.go_to("+10ms");
        screen.type_text("0");
        screen.line_with("Critical path  of ").expect("the heading")
    });
    let shares: Vec<String> = shares.collect();
    let expected = ["unknown 63.6 %, running 27.3 %, woken 9.1 %", "running 72.7 %, blocked"];
    for (found, expected) in shares.iter().zip(expected) {
        assert!(found.contains(&format!("of (10): {expected}")), "{found}\n{}", screen.text());
    }
}
