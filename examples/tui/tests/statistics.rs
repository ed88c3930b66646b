//! The viewer of statistics.

mod support;

use lttv_tui::look::Look;
use ratatui::crossterm::event::{KeyCode, MouseEventKind};
use support::Screen;

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
    // Without values of its own, a node shows those of the nodes in it.
    let figures = value(&screen, "180-");
    assert_eq!(&figures[2..5], ["lttng-consumerd", "489.92", "ms"], "{figures:?}");
    assert_eq!(figures.last().map(String::as_str), Some("events"));
    screen.press(KeyCode::Enter);
    assert!(screen.line_with("▸ processes").is_some(), "{}", screen.text());
    // Then the tables.
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
