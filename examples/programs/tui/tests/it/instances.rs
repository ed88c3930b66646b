//! Several viewers of one kind: opened, closed and moved, in any tab.

use crate::support::Screen;
use lttv_tui::look::Look;
use ratatui::crossterm::event::KeyCode;

fn screen() -> Screen {
    Screen::open(160, 60, Look::True)
}

/// Returns the titles of the viewers on the screen, from top to bottom.
fn titles(screen: &Screen) -> Vec<String> {
    let known = ["Events", "Control flow", "Resources", "Histogram", "Statistics", "Interrupts"];
    let lines = screen.lines().into_iter();
    let titles = lines.filter_map(|line| {
        let (number, rest) = line.trim_start().split_once(' ')?;
        _ = number.parse::<usize>().ok()?;
        known.into_iter().find(|title| rest.starts_with(title)).map(str::to_owned)
    });
    titles.collect()
}

/// Returns the first rows of the event list with this heading. The heights of lists may differ
/// by one row.
fn list(screen: &Screen, heading: &str) -> Vec<String> {
    let mut lines = screen.lines().into_iter().skip_while(|line| !line.starts_with(heading));
    assert!(lines.next().is_some() && lines.next().is_some(), "{heading}\n{}", screen.text());
    lines.take_while(|line| line.starts_with("kernel ")).take(8).collect()
}

/// Returns the time of the first row of a list, as text.
fn first_time(rows: &[String]) -> String {
    let cells: Vec<&str> = rows[0].split_whitespace().collect();
    format!("{}.{}", cells[4], cells[5])
}

#[test]
fn two_event_lists_have_their_own_filters_and_positions() {
    let mut screen = screen();
    screen.press(KeyCode::BackTab); // to the list
    screen.type_text("v1"); // another list below it
    assert_eq!(titles(&screen)[..2], ["Events", "Events"]);
    assert_eq!(list(&screen, " 1 Events"), list(&screen, " 2 Events"));
    // A filter of the second list only.
    screen.type_text("\\event.name == \"sched_switch\"");
    screen.press(KeyCode::Enter);
    let second = list(&screen, " 2 Events");
    assert!(second.iter().all(|row| row.contains(" sched_switch ")), "{second:#?}");
    assert!(list(&screen, " 1 Events").iter().any(|row| !row.contains(" sched_switch ")));
    // Another one of the first list.
    screen.press(KeyCode::BackTab);
    screen.type_text("\\event.name =~ \"irq_*\"");
    screen.press(KeyCode::Enter);
    assert!(list(&screen, " 1 Events").iter().all(|row| row.contains(" irq_")));
    assert_eq!(list(&screen, " 2 Events"), second);
    // Both follow the current time, until one of them stays.
    (0..9).for_each(|_| screen.press(KeyCode::PageDown));
    let followed = list(&screen, " 2 Events");
    assert_ne!(followed, second);
    screen.press(KeyCode::Tab);
    screen.type_text("f");
    assert!(screen.line_with("stays here  own filter: event.name == ").is_some());
    screen.press(KeyCode::BackTab);
    screen.press(KeyCode::End);
    assert_eq!(list(&screen, " 2 Events"), followed);
    // Moving in it moves no other viewer.
    let first = list(&screen, " 1 Events");
    let current = screen.status("current");
    screen.press(KeyCode::Tab);
    (0..3).for_each(|_| screen.press(KeyCode::PageDown));
    let moved = list(&screen, " 2 Events");
    assert!(moved != followed && first_time(&moved) > first_time(&followed));
    assert_eq!((list(&screen, " 1 Events"), screen.status("current")), (first, current));
    // A filter of the tab keeps the place of the list.
    screen.type_text("/tracefile.cpu >= 0");
    screen.press(KeyCode::Enter);
    assert!(first_time(&list(&screen, " 2 Events")) > first_time(&followed));
    screen.type_text("f");
    assert!(screen.line_with("stays here").is_none());
    let time = screen.status("current").replace('.', " ");
    let rows = list(&screen, " 2 Events");
    // The last event is no sched_switch: the list ends with the last one before it.
    assert!(rows.len() > 3 && rows.last().is_some_and(|row| !row.contains(&time)), "{rows:#?}");
}

#[test]
fn viewers_are_opened_from_a_list_moved_and_closed() {
    let mut screen = screen();
    assert_eq!(titles(&screen), ["Events", "Control flow", "Resources", "Histogram"]);
    screen.type_text("v");
    let line = screen.line_with(" 4  Histogram").expect("a list of kinds");
    assert!(line.contains("numbers of events over time"), "{line}");
    assert!(line.contains("(1 in this tab)"), "{line}");
    screen.press(KeyCode::Esc);
    assert_eq!(screen.app.viewers().len(), 8);
    screen.type_text("v");
    (0..3).for_each(|_| screen.press(KeyCode::Down));
    screen.press(KeyCode::Enter);
    // Below the viewer that had the focus.
    let opened = ["Events", "Control flow", "Histogram", "Resources", "Histogram"];
    assert_eq!(titles(&screen), opened);
    screen.type_text("KK");
    let moved = ["Histogram", "Events", "Control flow", "Resources", "Histogram"];
    assert_eq!(titles(&screen), moved);
    screen.type_text("K");
    assert_eq!(titles(&screen), moved, "it is the first one");
    screen.type_text("J");
    assert_eq!(titles(&screen)[..2], ["Events", "Histogram"]);
    screen.type_text("X");
    assert_eq!(titles(&screen), ["Events", "Control flow", "Resources", "Histogram"]);
    assert_eq!(screen.app.kinds().instances("histogram").len(), 1);
    // Without viewers, the keys have no effect, except for opening one.
    (0..9).for_each(|_| screen.type_text("X"));
    assert_eq!(screen.app.viewers().len(), 0);
    assert!(screen.line_with("no viewers: v opens one").is_some());
    screen.type_text("jAKJm1\\");
    screen.press(KeyCode::Tab);
    screen.type_text("v4");
    assert_eq!(titles(&screen), ["Histogram"]);
    assert!(screen.line_with("6087 in all").is_some());
}

#[test]
fn the_requests_of_a_closed_viewer_are_cancelled() {
    let mut screen = screen();
    assert_eq!(screen.pending(), 0);
    for name in ["events", "control-flow", "resources", "histogram", "interrupts", "disks"] {
        let before = screen.app.kinds().instances(name).to_vec();
        let opened = screen.app.open_viewer(name).expect("a kind");
        assert_eq!(screen.app.kinds().instances(name).last(), Some(&opened));
        screen.draw(); // not served
        assert!(screen.pending() > 0, "{name}");
        assert!(screen.app.close_viewer(opened));
        assert_eq!(screen.pending(), 0, "{name}");
        assert_eq!(screen.app.kinds().instances(name), before);
        assert!(!screen.app.close_viewer(opened), "it was closed");
    }
    screen.settle();
}

#[test]
fn removing_a_kind_closes_its_viewers_in_all_tabs() {
    let mut screen = screen();
    screen.type_text("cv2v2"); // in another tab
    screen.type_text("<v2"); // in the first tab
    let control_flow = |screen: &Screen| {
        let all = screen.app.viewers();
        all.filter(|(_, name)| *name == "control-flow").count()
    };
    assert_eq!((control_flow(&screen), screen.app.kinds().instances("control-flow").len()), (2, 5));
    screen.app.open_viewer("control-flow").expect("a kind");
    screen.draw();
    assert!(screen.pending() > 0);
    assert_eq!(screen.app.unregister("control-flow"), 6);
    assert_eq!((control_flow(&screen), screen.pending()), (0, 0));
    screen.settle();
    assert_eq!(titles(&screen), ["Events", "Resources", "Histogram"]);
    screen.type_text(">");
    assert_eq!(control_flow(&screen), 0);
    assert_eq!(titles(&screen), ["Events", "Resources", "Histogram"]);
    assert!(screen.app.open_viewer("control-flow").is_err());
    screen.type_text("v");
    assert!(screen.line_with("Control flow").is_none(), "it is no longer on offer");
    assert_eq!(screen.app.unregister("control-flow"), 0);
}

#[test]
fn closing_a_tab_closes_its_viewers() {
    let mut screen = screen();
    let before = screen.app.kinds().instances("events").to_vec();
    screen.type_text("cv1");
    assert_eq!(screen.app.kinds().instances("events").len(), 3);
    screen.type_text("x");
    assert_eq!(screen.app.kinds().instances("events"), before);
}
