//! Help with filters: completion, and lists of event types and CPUs.

use crate::support::Screen;
use lttv_tui::look::Look;
use ratatui::crossterm::event::KeyCode;

fn screen() -> Screen {
    Screen::open(150, 50, Look::True)
}

/// Returns the candidates above the line of the filter, from top to bottom.
fn candidates(screen: &Screen) -> Vec<String> {
    let buffer = screen.buffer();
    let lines = screen.lines();
    // The status line and the time axis are covered at least in part.
    let (first, last) = (lines.len() - 11, lines.len() - 1);
    let is_text = |x: u16, y: u16| buffer[(x, y)].symbol() != " ";
    let start = (0..150).find(|x| {
        let above = last as u16 - 1;
        buffer[(*x, above)].bg == Look::True.canvas().bg.expect("a colour")
            && is_text(*x + 1, above)
    });
    let start = usize::from(start.unwrap_or_default()) + 1;
    let text = |y: usize| lines[y].chars().skip(start).collect::<String>();
    (first..last).map(text).map(|text| text.trim().to_owned()).collect()
}

/// Returns the line of the filter.
fn line(screen: &Screen) -> String {
    screen.line_with("filter:").expect("an open filter")
}

#[test]
fn event_types_are_completed_with_their_numbers_of_events() {
    let mut screen = screen();
    screen.type_text("/event.name == sched_sw");
    let list = candidates(&screen);
    let last = list.last().expect("a candidate");
    assert!(last.starts_with("\"sched_switch\"") && last.contains("497 events"), "{list:?}");
    screen.press(KeyCode::Tab);
    assert_eq!(line(&screen), "filter: event.name == \"sched_switch\"");
    // Then operators, of which the first is chosen, and the fields of this event.
    screen.press(KeyCode::Down);
    screen.press(KeyCode::Enter);
    assert_eq!(line(&screen), "filter: event.name == \"sched_switch\" &&");
    assert!(screen.line_with("prev_comm").is_some(), "{}", screen.text());
    screen.type_text("next_t");
    screen.press(KeyCode::Tab);
    screen.type_text("=");
    screen.press(KeyCode::Tab);
    screen.type_text("0");
    assert_eq!(line(&screen), "filter: event.name == \"sched_switch\" && next_tid == 0");
    // Without a chosen candidate, Enter sets the filter.
    screen.press(KeyCode::Enter);
    let filter = screen.app.session().tab.filter().cloned().unwrap_or_default();
    assert_eq!(filter, "event.name == \"sched_switch\" && next_tid == 0");
    assert!(screen.line_with("       0 in all").is_none(), "{}", screen.text());
}

#[test]
fn cpus_relations_and_labels_are_completed() {
    let mut screen = screen();
    screen.type_text("/tracefile.cpu == ");
    let list = candidates(&screen);
    let cpus: Vec<_> = list.iter().filter(|line| line.contains(" events")).collect();
    assert_eq!(cpus.len(), 8, "{list:?}");
    let count = |line: &&String| -> u64 {
        let words: Vec<_> = line.split_whitespace().collect();
        words[words.iter().position(|word| *word == "events").expect("a count") - 1]
            .parse()
            .expect("a number")
    };
    assert_eq!(cpus.iter().map(count).sum::<u64>(), 6087, "{list:?}");
    screen.press(KeyCode::Esc);
    screen.type_text("/event.category == irq && event.fields.*.name == TI");
    assert!(candidates(&screen).iter().any(|line| line.starts_with("\"TIMER\"")));
    screen.press(KeyCode::Esc);
    screen.type_text("/state.execution_mode == ");
    assert!(candidates(&screen).iter().any(|line| line.contains("SYSCALL")), "{}", screen.text());
}

#[test]
fn escape_first_leaves_the_candidates() {
    let mut screen = screen();
    screen.type_text("/");
    screen.press(KeyCode::Down);
    screen.press(KeyCode::Esc);
    assert_eq!(line(&screen).trim(), "filter:");
    screen.press(KeyCode::Esc);
    assert!(screen.line_with("filter:").is_none(), "{}", screen.text());
}

#[test]
fn a_fault_is_shown_in_place_of_candidates() {
    let mut screen = screen();
    screen.type_text("/cpu < < ");
    screen.press(KeyCode::Enter);
    assert!(line(&screen).contains("expected a value"), "{}", screen.text());
    screen.control('u');
    screen.settle();
    assert!(!line(&screen).contains("expected a value"), "{}", screen.text());
}

#[test]
fn a_click_inserts_a_candidate() {
    let mut screen = screen();
    screen.type_text("/event.name == sched_w");
    let at = screen.find("\"sched_wakeup\"");
    screen.click(at);
    assert_eq!(line(&screen), "filter: event.name == \"sched_wakeup\"");
}

#[test]
fn event_types_are_picked_from_a_list() {
    let mut screen = screen();
    screen.type_text("t");
    let first = screen.line_with("[ ] ").expect("a list");
    assert!(first.contains("sched_switch") && first.contains("497 events"), "{first}");
    screen.press(KeyCode::Enter);
    assert_eq!(screen.status("filter"), "event.name == \"sched_switch\"");
    assert!(screen.line_with("497 in all").is_some(), "{}", screen.text());
    // Several event types are marked.
    screen.press(KeyCode::Char('/'));
    screen.control('u');
    screen.press(KeyCode::Enter);
    screen.type_text("t  ");
    screen.press(KeyCode::Enter);
    let filter = screen.app.session().tab.filter().cloned().unwrap_or_default();
    assert_eq!(filter, "event.name in (\"sched_switch\", \"irq_softirq_raise\")");
    assert!(screen.line_with(&format!("{} in all", 497 + 466)).is_some(), "{}", screen.text());
}

#[test]
fn cpus_are_picked_from_a_list() {
    let mut screen = screen();
    screen.type_text("p");
    screen.press(KeyCode::Down);
    screen.press(KeyCode::Down);
    let line = screen.line_with("CPU 2  ").expect("a list");
    let count = line.split(" events").next().and_then(|text| text.split_whitespace().last());
    let count = count.expect("a count").to_owned();
    screen.press(KeyCode::Enter);
    assert_eq!(screen.status("filter"), "tracefile.cpu == 2");
    assert!(screen.line_with(&format!("{count} in all")).is_some(), "{count} {}", screen.text());
    // Another list adds a condition.
    screen.type_text("t");
    screen.press(KeyCode::Enter);
    let filter = screen.app.session().tab.filter().cloned().unwrap_or_default();
    assert_eq!(filter, "(tracefile.cpu == 2) && event.name == \"sched_switch\"");
}
