//! The effects of the mouse.

use crate::support::{LABELS, Screen};
use lttv_tui::look::Look;
use ratatui::crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEventKind};

fn screen() -> Screen {
    Screen::open(150, 50, Look::True)
}

/// Returns the columns of a line that have the background of a selected range or of the
/// current time.
fn selected(screen: &Screen, y: u16) -> Vec<u16> {
    let buffer = screen.buffer();
    let styles = [Look::True.range().bg, Look::True.marker().bg];
    (0..buffer.area.width).filter(|x| styles.contains(&Some(buffer[(*x, y)].bg))).collect()
}

/// Returns the time at the start of a column of charts, in ns.
fn time_of(screen: &Screen, column: u16) -> i64 {
    screen.app.session().axis().begin_of(column.into()).as_ns()
}

fn current(screen: &Screen) -> i64 {
    screen.app.session().tab.time().as_ns()
}

#[test]
fn a_click_in_a_chart_sets_the_current_time() {
    let mut screen = screen();
    let (_, y) = screen.find("CPU 3");
    screen.click((LABELS + 40, y));
    assert_eq!(current(&screen), time_of(&screen, 40));
    // The list follows: an event at that time or later is selected.
    let ns = format!("{:09}", current(&screen) % 1_000_000_000);
    let list = screen.lines().into_iter().skip(3).take(9);
    let times: Vec<_> = list.map(|line| line[68..77].to_owned()).collect();
    assert!(times.iter().any(|time| **time >= *ns), "{times:?} {ns}\n{}", screen.text());
    // On the time axis, too.
    let (_, axis) = screen.find("TIME from the start");
    screen.click((LABELS + 7, axis));
    assert_eq!(current(&screen), time_of(&screen, 7));
}

#[test]
fn a_click_selects_a_row_and_focuses_its_viewer() {
    let mut screen = screen();
    let at = screen.find("kworker/0:1");
    screen.click(at);
    assert!(screen.status("process").starts_with("kworker/0:1"), "{}", screen.text());
    // The fourth event of the list.
    let event = screen.lines()[6].clone();
    screen.click((5, 6));
    let (seconds, ns) = {
        let current = screen.status("current");
        let (seconds, ns) = current.split_once('.').expect("a time");
        (seconds.to_owned(), ns.to_owned())
    };
    assert!(event.contains(&format!("{seconds} {ns}")), "{event} {seconds}.{ns}");
    assert_eq!(screen.lines()[6], event, "the list does not scroll");
    // Keys move in the viewer of the click.
    screen.press(KeyCode::Down);
    assert_ne!(screen.status("current"), format!("{seconds}.{ns}"));
    // A heading.
    let (x, y) = screen.find(" 3 Resources");
    screen.click((x + 1, y));
    let style = Look::True.focus();
    assert!(screen.buffer()[(x + 1, y)].modifier.contains(style.add_modifier));
}

#[test]
fn a_click_shows_a_tab() {
    let mut screen = screen();
    screen.type_text("c++");
    let narrow = screen.status("width");
    screen.click((2, 0));
    assert_ne!(screen.status("width"), narrow);
    screen.click((10, 0));
    assert_eq!(screen.status("width"), narrow);
    screen.click((80, 0));
    assert_eq!(screen.status("width"), narrow);
}

#[test]
fn a_drag_selects_a_time_range_to_zoom_to() {
    let mut screen = screen();
    let (_, y) = screen.find("CPU 2");
    let before = screen.window();
    // In either direction.
    for (from, to) in [(20, 30), (30, 20)] {
        screen.drag(MouseButton::Left, (LABELS + from, y), (LABELS + to, y));
        assert_eq!(selected(&screen, y), (LABELS + 20..=LABELS + 30).collect::<Vec<_>>());
        let range = screen.app.session().selection.expect("a range");
        assert_eq!(range.start().as_ns(), time_of(&screen, 20));
        assert_eq!(range.end().as_ns(), time_of(&screen, 31));
        assert_eq!(screen.window(), before, "the range is kept");
    }
    assert_eq!(screen.status("selected"), "106.135876 ms");
    let range = screen.app.session().selection.expect("a range");
    screen.type_text("z");
    assert_eq!(screen.window(), (range.start().as_ns(), range.end().as_ns()));
    screen.press(KeyCode::Esc);
    assert_eq!(screen.app.session().selection, None);
    assert!(selected(&screen, y).len() <= 1);
    // A drag beyond the chart ends with the window.
    screen.drag(MouseButton::Left, (LABELS + 90, y), (149, y + 5));
    let end = screen.app.session().selection.expect("a range").end();
    assert!(end >= screen.app.session().tab.window().end());
    // A click clears the range.
    screen.click((LABELS + 3, y));
    assert_eq!(selected(&screen, y), [LABELS + 3]);
}

#[test]
fn a_drag_with_the_right_button_zooms() {
    let mut screen = screen();
    let (_, y) = screen.find("CPU 2");
    let expected = (time_of(&screen, 10), time_of(&screen, 21));
    screen.drag(MouseButton::Right, (LABELS + 10, y), (LABELS + 20, y));
    assert_eq!(screen.window(), expected);
    assert_eq!(screen.app.session().selection, None);
    // Without a movement nothing changes.
    screen.mouse(MouseEventKind::Down(MouseButton::Right), (LABELS + 10, y));
    screen.mouse(MouseEventKind::Up(MouseButton::Right), (LABELS + 10, y));
    assert_eq!(screen.window(), expected);
}

#[test]
fn a_drag_with_the_middle_button_moves_the_window() {
    let mut screen = screen();
    screen.type_text("++");
    let (_, y) = screen.find("CPU 2");
    screen.drag(MouseButton::Right, (LABELS + 40, y), (LABELS + 60, y));
    let (before, step) = (screen.window().0, screen.app.session().axis().step());
    screen.drag(MouseButton::Middle, (LABELS + 40, y), (LABELS + 30, y));
    assert_eq!(screen.window().0, before + 10 * step as i64);
}

#[test]
fn keys_select_a_time_range() {
    let mut screen = screen();
    screen.type_text("z");
    assert!(screen.line_with("select a time range first").is_some());
    screen.type_text("}.}]].}");
    let range = screen.app.session().selection.expect("a range");
    assert_eq!(range.start().as_ns(), time_of(&screen, 10));
    // By keys, it ends exactly at the current time.
    assert_eq!(range.end().as_ns(), time_of(&screen, 22));
    screen.type_text("z");
    assert_eq!(screen.window(), (range.start().as_ns(), range.end().as_ns()));
}

#[test]
fn the_wheel_zooms_around_the_pointer_over_charts() {
    let mut screen = screen();
    let (_, y) = screen.find("CPU 2");
    let (before, time) = (screen.window(), time_of(&screen, 70));
    screen.mouse(MouseEventKind::ScrollUp, (LABELS + 70, y));
    let (start, end) = screen.window();
    assert!((end - start) < (before.1 - before.0) * 81 / 100);
    let axis = screen.app.session().axis();
    let column = axis.column(ltt_read::Timestamp::from_ns(time)).expect("it is visible");
    assert!(column.abs_diff(70) <= 1, "{column}");
    screen.mouse(MouseEventKind::ScrollDown, (LABELS + 70, y));
    let (start, end) = screen.window();
    assert!((end - start).abs_diff(before.1 - before.0) < 100, "{start} {end} {before:?}");
    // With Shift it scrolls.
    screen.mouse_with(MouseEventKind::ScrollDown, KeyModifiers::SHIFT, (LABELS + 70, y));
    assert!(screen.window().0 > start);
    assert_eq!(screen.window().1 - screen.window().0, end - start);
    // With Ctrl it zooms over lists, too.
    screen.mouse_with(MouseEventKind::ScrollUp, KeyModifiers::CONTROL, (5, 6));
    assert!(screen.window().1 - screen.window().0 < end - start);
}

#[test]
fn the_wheel_scrolls_rows_over_labels() {
    let mut screen = screen();
    let (_, y) = screen.find("COMMAND");
    let before = screen.lines();
    let process = screen.status("process");
    screen.mouse(MouseEventKind::ScrollDown, (5, y + 2));
    let after = screen.lines();
    let names = |lines: &[String], at: u16| lines[usize::from(at)][..16].to_owned();
    assert_eq!(names(&after, y + 1), names(&before, y + 4), "{}", screen.text());
    assert_eq!(screen.status("process"), process, "the selection stays");
    // Back, and not further.
    screen.mouse(MouseEventKind::ScrollUp, (5, y + 2));
    screen.mouse(MouseEventKind::ScrollUp, (5, y + 2));
    assert_eq!(names(&screen.lines(), y + 1), names(&before, y + 1));
    // In the list of events it moves the selected event.
    let time = current(&screen);
    screen.mouse(MouseEventKind::ScrollDown, (5, 6));
    assert!(current(&screen) > time);
}

#[test]
fn keys_and_drags_move_the_divider() {
    let mut screen = screen();
    let (_, y) = screen.find("CPU 2");
    screen.drag(MouseButton::Left, (LABELS - 1, y), (29, y));
    assert_eq!(screen.app.session().label_width, 30);
    // All charts and the axis have moved.
    let chart = Look::True.canvas().bg;
    for text in ["CPU 2", "kworker/0:0 ", "in all"] {
        let (_, y) = screen.find(text);
        assert_ne!(Some(screen.buffer()[(29, y)].bg), chart, "{text}");
        assert_eq!(Some(screen.buffer()[(31, y)].bg), chart, "{text}");
    }
    screen.type_text("))(");
    assert_eq!(screen.app.session().label_width, 32);
    // At least a few columns remain for charts, and the labels may vanish.
    screen.drag(MouseButton::Left, (31, y), (149, y));
    assert_eq!(screen.app.session().chart_width, 10);
    screen.drag(MouseButton::Left, (139, y), (0, y));
    assert_eq!(screen.app.session().label_width, 1);
    screen.type_text("((((");
    assert_eq!(screen.app.session().label_width, 0);
    screen.type_text(")");
    assert_eq!(screen.app.session().label_width, 2);
}

#[test]
fn a_click_picks_an_item_of_a_list() {
    let mut screen = screen();
    screen.type_text("v");
    let at = screen.find("Disk performance");
    screen.mouse(MouseEventKind::ScrollDown, at);
    screen.click(at);
    assert!(screen.line_with("Open a viewer").is_none(), "{}", screen.text());
    assert!(screen.line_with(" 3 Disk performance").is_some(), "{}", screen.text());
    // A click elsewhere closes the list.
    screen.type_text("v");
    let before = current(&screen);
    screen.click((149, 30));
    assert!(screen.line_with("Open a viewer").is_none(), "{}", screen.text());
    assert_eq!(current(&screen), before);
}

#[test]
fn the_mouse_never_harms() {
    let mut screen = Screen::open(80, 24, Look::Mono);
    for keys in ["", "?", "/", "v", "5", "m"] {
        screen.type_text(keys);
        for (x, y) in (0..90).step_by(7).flat_map(|x| (0..30).map(move |y| (x, y))) {
            for button in [MouseButton::Left, MouseButton::Middle, MouseButton::Right] {
                screen.app.mouse(event(MouseEventKind::Down(button), x, y));
                screen.app.mouse(event(MouseEventKind::Drag(button), y, x));
                screen.app.mouse(event(MouseEventKind::Up(button), x + 3, y));
            }
            screen.app.mouse(event(MouseEventKind::ScrollUp, x, y));
            screen.app.mouse(event(MouseEventKind::ScrollDown, x, y));
            screen.app.mouse(event(MouseEventKind::ScrollLeft, x, y));
            screen.app.mouse(event(MouseEventKind::ScrollRight, x, y));
            screen.app.mouse(event(MouseEventKind::Moved, x, y));
        }
        screen.draw();
        screen.press(KeyCode::Esc);
    }
    for (width, height) in [(1, 1), (7, 3), (3, 9)] {
        screen.resize(width, height);
        for (x, y) in (0..9).flat_map(|x| (0..9).map(move |y| (x, y))) {
            screen.app.mouse(event(MouseEventKind::Down(MouseButton::Left), x, y));
            screen.app.mouse(event(MouseEventKind::Drag(MouseButton::Left), y, x));
            screen.draw();
        }
    }
}

fn event(kind: MouseEventKind, column: u16, row: u16) -> ratatui::crossterm::event::MouseEvent {
    let modifiers = KeyModifiers::NONE;
    ratatui::crossterm::event::MouseEvent { kind, column, row, modifiers }
}
