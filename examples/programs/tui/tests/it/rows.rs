//! Finding, sorting and describing rows.

use crate::support::Screen;
use lttv_tui::look::Look;
use ratatui::crossterm::event::KeyCode;

fn screen() -> Screen {
    Screen::open(160, 45, Look::True)
}

/// Searches for a row.
fn find(screen: &mut Screen, text: &str) {
    screen.type_text("F");
    screen.answer(text);
}

/// Returns the commands and TIDs of the visible rows of the control flow.
fn processes(screen: &Screen) -> Vec<(String, String)> {
    let lines = screen.lines();
    let heading = lines.iter().position(|line| line.starts_with("COMMAND")).expect("headings");
    let rows = lines[heading + 1..].iter().take_while(|line| !line.starts_with(" 3 "));
    let cell = |line: &str, from: usize, to: usize| {
        line.chars().skip(from).take(to - from).collect::<String>().trim().to_owned()
    };
    rows.map(|line| (cell(line, 0, 16), cell(line, 17, 24))).collect()
}

#[test]
fn a_row_is_found_by_tid_or_by_a_part_of_its_command() {
    let mut screen = screen();
    find(&mut screen, "180");
    assert!(screen.status("process").ends_with("(180)"), "{}", screen.text());
    let by_tid = screen.status("process");
    find(&mut screen, "consumerd");
    assert!(screen.status("process").starts_with("lttng-consumerd"), "{}", screen.text());
    // All that match, in both directions, and around.
    find(&mut screen, "kworker");
    let first = screen.status("process");
    let mut seen = vec![first.clone()];
    loop {
        screen.type_text(";");
        let next = screen.status("process");
        assert!(next.starts_with("kworker"), "{next}");
        if next == first {
            break;
        }
        seen.push(next);
    }
    assert!(seen.len() > 1, "{seen:?}");
    for expected in seen.iter().rev() {
        screen.type_text(",");
        assert_eq!(screen.status("process"), *expected);
    }
    // A blank answer searches for the next one.
    find(&mut screen, "");
    assert_eq!(screen.status("process"), seen[1]);
    // What is not there is reported, and can be corrected.
    find(&mut screen, "nonsense");
    assert!(screen.line_with("no row of Control flow matches `nonsense`").is_some());
    screen.control('u');
    screen.type_text("180");
    screen.press(KeyCode::Enter);
    assert_eq!(screen.status("process"), by_tid);
}

#[test]
fn a_row_that_is_hidden_as_idle_is_found_and_shown() {
    let mut screen = screen();
    // A narrow window, in which most processes do not run.
    screen.type_text("g1795233416.5");
    screen.press(KeyCode::Enter);
    screen.type_text("++++++");
    let before = screen.line_with("that did not run are hidden (A)").expect("a number of rows");
    let hidden = |line: &str| -> usize {
        let at = line.find(" that did not run").expect("it");
        line[..at].rsplit(' ').next().and_then(|text| text.parse().ok()).expect("a number")
    };
    find(&mut screen, "1");
    let after = screen.line_with("that did not run are hidden (A)").expect("a number of rows");
    assert_eq!(hidden(&after) + 1, hidden(&before), "{before}\n{after}");
    assert!(processes(&screen).iter().any(|(_, tid)| tid == "1"), "{}", screen.text());
    assert!(screen.status("process").ends_with("(1)"));
    // A key shows all rows.
    screen.type_text("A");
    assert!(screen.line_with("that did not run").is_none(), "{}", screen.text());
}

#[test]
fn rows_are_sorted_and_the_title_shows_the_order() {
    // All rows fit.
    let mut screen = Screen::open(160, 80, Look::True);
    screen.press(KeyCode::Char('m'));
    let title = |screen: &Screen| screen.line_with(" 2 Control flow").expect("a title");
    assert!(title(&screen).contains(" by TID"), "{}", title(&screen));
    let by_tid = processes(&screen);
    let tids: Vec<i32> = by_tid.iter().filter_map(|(_, tid)| tid.parse().ok()).collect();
    assert!(tids.is_sorted(), "{tids:?}");
    let sorted = |rows: &[(String, String)]| {
        let mut rows = rows.to_vec();
        rows.sort();
        rows
    };
    for expected in [" as a tree", " by name", " busiest first", " by TID"] {
        screen.type_text("R");
        assert!(title(&screen).contains(expected), "{}", title(&screen));
        if expected == " by name" {
            let names: Vec<_> = processes(&screen).into_iter().map(|(name, _)| name).collect();
            assert!(names.first() != by_tid.first().map(|(name, _)| name), "{names:?}");
        }
        if expected == " busiest first" {
            // The statistics of the program have the same order.
            assert_eq!(processes(&screen)[0].0, "lttng-consumerd", "{}", screen.text());
        }
        if expected != " as a tree" {
            assert_eq!(sorted(&processes(&screen)), sorted(&by_tid));
        }
    }
    assert_eq!(processes(&screen), by_tid);
}

#[test]
fn a_search_from_the_list_finds_a_row_of_the_chart() {
    let mut screen = screen();
    screen.press(KeyCode::BackTab);
    find(&mut screen, "180");
    assert!(screen.status("process").ends_with("(180)"), "{}", screen.text());
    // The prompt for the filter opens as before.
    screen.type_text("/");
    assert!(screen.line_with("filter:").is_some());
    screen.press(KeyCode::Esc);
}

#[test]
fn rows_of_tables_and_resources_are_found_and_sorted() {
    let mut screen = screen();
    // Shows only the resources.
    screen.type_text("33m");
    find(&mut screen, "CPU 7");
    assert!(screen.line_with("no row").is_none(), "{}", screen.text());
    for expected in ["by name", "busiest first", "by number"] {
        screen.type_text("R");
        let title = format!(" 3 Resources  {expected}");
        assert!(screen.line_with(&title).is_some(), "{}", screen.text());
    }
    // The statistics of processes: the busiest ones are first, as before.
    screen.type_text("m5mS");
    let rows = |screen: &Screen| -> Vec<String> { screen.lines()[3..20].to_vec() };
    assert!(screen.line_with("processes busiest first").is_some(), "{}", screen.text());
    let busiest = rows(&screen);
    assert!(busiest[0].starts_with("lttng-consumerd"), "{busiest:#?}");
    find(&mut screen, "kworker/5:2");
    screen.type_text("R");
    assert!(screen.line_with("processes by number").is_some(), "{}", screen.text());
    assert_ne!(rows(&screen), busiest);
    // The same row stays selected.
    let at = screen.find("kworker/5:2");
    let reversed = screen.buffer()[at].modifier;
    assert!(reversed.contains(ratatui::style::Modifier::REVERSED), "{}", screen.text());
    // The tree has no such rows, and no other viewer is visible.
    screen.type_text("SSSF");
    assert!(screen.line_with("no visible viewer has rows").is_some(), "{}", screen.text());
}

#[test]
fn the_order_is_a_part_of_the_layout() {
    let mut screen = screen();
    let folder = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = folder.path().join("layout.json");
    screen.app.restore_layout(lttv_tui::layout::LayoutFile::new(path.clone()));
    screen.settle();
    screen.type_text("RRR");
    assert!(screen.app.save_layout().expect("a writable folder"));
    let mut again = self::screen();
    again.app.restore_layout(lttv_tui::layout::LayoutFile::new(path));
    again.settle();
    assert_eq!(again.line_with(" 2 Control flow"), screen.line_with(" 2 Control flow"));
    assert!(again.line_with("busiest first").is_some(), "{}", again.text());
}

#[test]
fn the_state_at_the_cursor_is_described() {
    let mut screen = screen();
    find(&mut screen, "180");
    let line = screen.lines().pop().expect("the last line");
    assert!(line.contains("(180): unknown at this time, before its first event"), "{line}");
    screen.type_text("]]]");
    // The words follow the time.
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..40 {
        screen.type_text("]");
        let line = screen.lines().pop().expect("the last line");
        assert!(line.starts_with("lttng-consumerd TID 180 PID 173: "), "{line}");
        seen.insert(line);
    }
    // A popup has the same in full.
    screen.press(KeyCode::Enter);
    for text in ["State of the selected process", "since", "until", "duration"] {
        assert!(screen.line_with(text).is_some(), "{}", screen.text());
    }
    screen.press(KeyCode::Esc);
    let has = |text: &str| seen.iter().any(|line| line.contains(text));
    assert!(has("blocked in ") && has(" on CPU "), "{seen:#?}");
    assert!(has(", woken by "), "{seen:#?}");
}
