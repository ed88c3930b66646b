//! The viewer of statistics.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::support::Screen;
use ltt_read::{Merge, Timestamp, Trace};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::analysis::attach;
use lttv_state::kernel::KernelState;
use lttv_state::stats::{StatisticsAnalysis, TraceStatistics};
use lttv_tui::look::Look;
use ratatui::crossterm::event::{KeyCode, MouseEventKind};

/// Opens the statistics alone.
fn screen(height: u16) -> Screen {
    let mut screen = Screen::open(140, height, Look::True);
    screen.type_text("5m");
    screen
}

/// Returns the words of the line of a value.
fn value(screen: &Screen, name: &str) -> Vec<String> {
    let found = screen.lines().into_iter().find_map(|line| {
        let values: String = line.chars().skip(51).collect();
        values.trim_start().starts_with(name).then_some(values)
    });
    let line = found.unwrap_or_else(|| panic!("no {name} in\n{}", screen.text()));
    line.trim_start()[name.len()..].split_whitespace().map(str::to_owned).collect()
}

#[test]
fn statistics_are_a_tree_with_the_values_of_the_selected_node() {
    let mut screen = screen(40);
    // The figures of `lttv -m batchAnalysis` and of `a_filter_is_for_list_and_histogram`.
    assert_eq!(value(&screen, "events count"), ["6087"]);
    assert_eq!(value(&screen, "sched_switch"), ["497", "8.16", "%"]);
    let [number, unit, ns, _] = &value(&screen, "cpu time")[..] else { panic!("a rounded time") };
    let seconds: f64 = number.parse().expect("a number");
    let ns: f64 = ns.parse().expect("a number");
    assert!(unit == "s" && (seconds - ns / 1e9).abs() < 0.01, "{number} {unit} {ns}");
    // Expand the processes of the trace, and select the first one.
    assert!(screen.line_with("▾ 0 kernel").is_some(), "{}", screen.text());
    screen.press(KeyCode::End);
    screen.press(KeyCode::Enter);
    assert!(screen.line_with("▾ processes").is_some(), "{}", screen.text());
    assert!(screen.line_with("▸ 7-0.0").is_some(), "{}", screen.text());
    // A node without values of its own shows those of the nodes in it.
    let figures = value(&screen, "180-");
    assert_eq!(&figures[2..5], ["lttng-consumerd", "489.9", "ms"], "{figures:?}");
    assert_eq!(figures.last().map(String::as_str), Some("events"));
    screen.press(KeyCode::Enter);
    assert!(screen.line_with("▸ processes").is_some(), "{}", screen.text());
    // The tables follow.
    screen.type_text("S");
    assert!(screen.line_with("lttng-consumerd          180     173   82.75").is_some());
    screen.type_text("S");
    assert!(screen.line_with("CPU 7 ").is_some());
    screen.type_text("S");
    assert!(screen.line_with("EVENT").is_some());
    screen.type_text("S");
    assert!(screen.line_with("NODE").is_some());
}

#[test]
fn the_counts_of_the_tree_are_those_of_its_parts() {
    let mut screen = screen(60);
    screen.press(KeyCode::Down);
    // Only some of the types are on the screen; scroll through the others.
    let mut seen = std::collections::BTreeMap::new();
    screen.type_text("V");
    for _ in 0..20 {
        let lines = screen.lines();
        for line in lines.iter().skip(3) {
            let values: String = line.chars().skip(51).collect();
            let words: Vec<_> = values.split_whitespace().collect();
            if let [name, count, _, "%"] = words[..] {
                seen.insert(name.to_owned(), count.parse::<u64>().expect("a count"));
            }
        }
        screen.press(KeyCode::PageDown);
    }
    assert!(seen.len() > 60, "more than fit on the screen");
    assert_eq!(seen.values().sum::<u64>(), 6087, "{seen:?}");
}

#[test]
fn large_trees_scroll() {
    let mut screen = screen(12);
    screen.press(KeyCode::End);
    screen.type_text("*");
    screen.press(KeyCode::End);
    assert!(screen.line_with("▾ traceset").is_none(), "{}", screen.text());
    let node = |screen: &Screen, y: usize| {
        screen.lines()[y].chars().take(50).collect::<String>().trim_end().to_owned()
    };
    let first = node(&screen, 3);
    screen.mouse(MouseEventKind::ScrollUp, (3, 5));
    assert_eq!(node(&screen, 6), first);
    screen.press(KeyCode::Home);
    assert!(screen.line_with("▾ traceset").is_some(), "{}", screen.text());
    // A click selects, and another one expands or collapses.
    let at = screen.find("mode_types");
    screen.click(at);
    assert!(value(&screen, "SYSCALL").contains(&"events".to_owned()), "{}", screen.text());
    screen.click(at);
    assert!(screen.line_with("▾ mode_types").is_some(), "{}", screen.text());
}

fn trace() -> std::sync::Arc<Trace> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel/kernel");
    Trace::open(path).expect("a bundled trace")
}

/// Returns the statistics of a window of the bundled trace, read by a context of their own.
fn read((start, end): (i64, i64)) -> TraceStatistics {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
    let mut context = TracesetContext::new(Traceset::open(path).expect("a bundled trace"));
    let kernel = context.attach(KernelState::new());
    // The end is that of a half-open range.
    let window = Timestamp::from_ns(start)..=Timestamp::from_ns(end - 1);
    context.state().seek_time(*window.start());
    let statistics = attach(&mut context, kernel, window, StatisticsAnalysis::new());
    let read = context.read(&Bounds::all().until(Timestamp::from_ns(end)));
    assert_eq!(read.expect("no position").errors, 0);
    statistics.take(context.extensions_mut()).traces()[0].clone()
}

/// Returns the numbers of events of a window by type, without any statistics.
fn count((start, end): (i64, i64)) -> BTreeMap<String, u64> {
    let trace = trace();
    let mut merge = Merge::new(std::slice::from_ref(&trace));
    let mut counts = BTreeMap::new();
    while let Some(event) = merge.next() {
        let time = event.timestamp().expect("a clock").as_ns();
        if (start..end).contains(&time) {
            *counts.entry(event.event_type().name().to_owned()).or_default() += 1;
        }
    }
    counts
}

/// Checks the tree and the tables of the window against an independent read.
fn check_window(screen: &mut Screen) {
    let (window, counts) = (screen.window(), count(screen.window()));
    let expected = read(window);
    let total: u64 = counts.values().sum();
    assert!(screen.line_with("of the window: tree").is_some(), "{}", screen.text());
    assert_eq!(value(screen, "events count"), [total.to_string()], "{}", screen.text());
    let ns = expected.total().cpu_time;
    assert!(value(screen, "cpu time").contains(&ns.to_string()), "{ns} {}", screen.text());
    for name in ["sched_switch", "irq_handler_entry"] {
        if let Some(count) = counts.get(name) {
            assert_eq!(value(screen, name)[0], count.to_string(), "{name}");
        }
    }
    screen.type_text("S");
    for sum in expected.processes() {
        let facts = &expected.process_facts()[sum.process.index()];
        let (Some(tid), true) = (facts.tid.filter(|tid| *tid != 0), sum.cpu_time > 0) else {
            continue;
        };
        let percent = sum.cpu_time as f64 * 100.0 / expected.time() as f64;
        let line = screen.lines().into_iter().find(|line| {
            line.split_whitespace().any(|word| word == tid.to_string())
                && line.starts_with(&facts.name.chars().take(20).collect::<String>())
        });
        let line = line.unwrap_or_else(|| panic!("no {tid} {}", screen.text()));
        assert!(line.contains(&format!(" {percent:.2} ")), "{percent} {line}");
        assert!(line.split_whitespace().any(|word| word == sum.events.to_string()), "{line}");
    }
    screen.type_text("S");
    for cpu in expected.cpus() {
        let line = screen.line_with(&format!("CPU {} ", cpu.number)).expect("a CPU");
        let percent = cpu.busy_time as f64 * 100.0 / expected.time() as f64;
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words[2], format!("{percent:.2}"), "{line}");
        assert_eq!(words.last(), Some(&&*cpu.events.to_string()), "{line}");
    }
    screen.type_text("S");
    for (name, count) in counts.iter().take(20) {
        let line = screen.line_with(&format!("{name} ")).unwrap_or_default();
        assert!(line.split_whitespace().eq([&**name, &*count.to_string()]), "{line}");
    }
    screen.type_text("S");
}

/// Opens the statistics of the time window alone.
fn window_screen() -> Screen {
    let mut screen = screen(190);
    assert!(screen.line_with("of the whole traceset: tree").is_some(), "{}", screen.text());
    screen.type_text("A");
    screen.press(KeyCode::Home);
    screen
}

#[test]
fn a_key_shows_the_statistics_of_the_window() {
    let mut screen = window_screen();
    for range in ["+20ms..+120ms", "+300ms..+300.5ms", "..+1ms", "+500ms..", ".."] {
        screen.go_to(range);
        check_window(&mut screen);
    }
    // Scrolling and zooming change them, too.
    for keys in ["w", "w", "h", "L", "u"] {
        screen.type_text(keys);
        check_window(&mut screen);
    }
    // All again.
    screen.go_to("+20ms..+120ms");
    assert_ne!(value(&screen, "events count"), ["6087"]);
    screen.type_text("A");
    assert_eq!(value(&screen, "events count"), ["6087"], "{}", screen.text());
    assert!(screen.line_with("of the whole traceset: tree").is_some());
    screen.type_text("w");
    assert_eq!(value(&screen, "events count"), ["6087"]);
}

#[test]
fn expanded_and_selected_nodes_stay_in_another_window() {
    let mut screen = window_screen();
    screen.go_to("+20ms..+120ms");
    let at = screen.find("▸ processes");
    screen.click(at);
    screen.click(at);
    let at = screen.find("▸ 180-");
    screen.click(at);
    screen.click(at);
    screen.press(KeyCode::Down);
    let shown = |screen: &Screen| {
        let lines = screen.lines().into_iter().map(|line| line.chars().take(50).collect());
        lines.filter(|line: &String| line.contains("▾")).collect::<Vec<_>>()
    };
    let before = shown(&screen);
    assert!(before.iter().any(|line| line.contains("▾ 180-")), "{before:?}");
    let selected = selected_node(&screen);
    for range in ["+30ms..+110ms", "..", "+20ms..+120ms"] {
        screen.go_to(range);
        assert_eq!(shown(&screen), before, "{range}");
        assert_eq!(selected_node(&screen), selected, "{range}");
    }
    screen.type_text("A");
    assert_eq!((shown(&screen), selected_node(&screen)), (before, selected));
}

/// Returns the text of the selected node.
fn selected_node(screen: &Screen) -> String {
    let buffer = screen.buffer();
    let is_selected =
        |y: &u16| buffer[(1, *y)].modifier.contains(ratatui::style::Modifier::REVERSED) && *y > 2;
    let y = (0..buffer.area.height).find(is_selected).expect("a selected node");
    screen.lines()[usize::from(y)].chars().take(50).collect::<String>().trim().to_owned()
}

/// A window without events, in which a process runs.
#[test]
fn a_window_within_a_busy_period_has_all_of_its_time() {
    // The time between two events of any CPU, and the processes that were switched in before.
    let trace = trace();
    let mut merge = Merge::new(std::slice::from_ref(&trace));
    let mut running = BTreeSet::new();
    let (mut before, mut found) = (None, None);
    while let Some(event) = merge.next() {
        let time = event.timestamp().expect("a clock").as_ns();
        let gap = before.filter(|before| time - before > 200_000).map(|before| (before + 1, time));
        if let Some(gap) = gap.filter(|_| !running.is_empty()) {
            found = Some((gap, running.clone()));
        }
        if event.event_type().name() == "sched_switch" {
            let tid = |name: &str| event.field(name).and_then(|tid| tid.as_i64()).expect("a TID");
            running.remove(&tid("prev_tid"));
            running.extend(Some(tid("next_tid")).filter(|tid| *tid != 0));
        }
        before = Some(time);
    }
    let ((start, end), busy) = found.expect("a busy period without events");
    let mut screen = window_screen();
    let text = |ns: i64| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    screen.go_to(&format!("{}..{}", text(start), text(end - 1)));
    assert_eq!(screen.window(), (start, end));
    assert_eq!(value(&screen, "events count"), ["0"]);
    // All CPUs together, with the idle ones.
    let ns = 8 * (end - 1 - start);
    assert!(value(&screen, "cpu time").contains(&ns.to_string()), "{ns}\n{}", screen.text());
    screen.type_text("S");
    for tid in busy {
        let is_of = |line: &String| line.split_whitespace().any(|word| word == tid.to_string());
        let line = screen.lines().into_iter().find(is_of).expect("a busy process");
        let words: Vec<_> = line.split_whitespace().collect();
        assert!(words.contains(&"100.00"), "{line}");
    }
}

#[test]
fn statistics_of_a_window_are_stopped_and_continued() {
    let mut screen = window_screen();
    screen.press_only(KeyCode::Char('w'));
    // Results are taken only while requests are served.
    screen.press_only(KeyCode::Esc);
    screen.settle();
    let heading = screen.line_with("of the window").expect("a heading");
    assert!(heading.contains("incomplete, r continues"), "{heading}");
    std::thread::sleep(Duration::from_millis(200));
    screen.settle();
    assert!(!screen.text().contains("events count"), "{}", screen.text());
    screen.type_text("r");
    assert!(screen.line_with("incomplete").is_none(), "{}", screen.text());
    check_window(&mut screen);
    // Another window needs no key.
    screen.press_only(KeyCode::Char('w'));
    screen.press_only(KeyCode::Esc);
    screen.type_text("h");
    assert!(screen.line_with("incomplete").is_none(), "{}", screen.text());
    check_window(&mut screen);
}

#[test]
fn the_statistics_are_those_of_the_last_of_many_windows() {
    let mut screen = window_screen();
    for key in "wwlLhwsHlwlhw".chars() {
        screen.press_only(KeyCode::Char(key));
    }
    screen.settle();
    check_window(&mut screen);
}
