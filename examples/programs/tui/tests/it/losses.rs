//! Marks of events and packets that the tracer lost.

use std::sync::Arc;

use crate::support::Screen;
use ltt_read::Trace;
use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, MemoryTrace, presets};
use lttv_context::Traceset;
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use ratatui::crossterm::event::KeyCode;

const MS: u64 = 1_000_000;

/// The columns of a chart without marks.
const NONE: [u16; 0] = [];

/// The time of the first event, in ns from the start of the first packet.
const FIRST: u64 = MS;

/// The ranges of losses, in ms from the start of the first packet: start, end, and the number of
/// events; none for packets.
const RANGES: [(u64, u64, Option<u64>); 3] =
    [(20, 30, Some(40)), (50, 70, Some(2)), (85, 90, None)];

/// Writes a trace with one event in each ms, except where it has losses.
fn trace() -> Arc<Trace> {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let channel = StreamClassId(0);
    let fields = FieldClass::structure([("value", FieldClass::uint(32, ByteOrder::Little))]);
    let event = schema.add_event_type(channel, "step", fields);
    let mut trace = MemoryTrace::new(schema);
    let mut events = trace.stream(channel, "kernel_0").unwrap();
    // Start, end, the number of events discarded so far, and the number of the packet.
    let packets = [
        (0, 10, 0, 0),
        (10, 20, 0, 1),
        (20, 30, 40, 2),
        (30, 40, 40, 3),
        (40, 50, 40, 4),
        (60, 70, 42, 5),
        (70, 85, 42, 6),
        (90, 100, 42, 9),
    ];
    for (start, end, discarded, number) in packets {
        events.set_packet_sequence(number);
        events.begin_packet(start * MS).unwrap();
        for ms in start..end {
            let time = (ms * MS).max(FIRST);
            events.event(event, time, FieldValue::structure([1.into()])).unwrap();
        }
        events.set_discarded(discarded);
        events.end_packet(end * MS).unwrap();
    }
    trace.add(events).unwrap();
    trace.open().unwrap()
}

/// Opens the trace with all of it in the window.
fn screen(width: u16, height: u16, look: Look) -> Screen {
    let session = Session::new("lossy".to_owned(), Traceset::from(vec![trace()])).unwrap();
    let mut screen = Screen::of(session, width, height, look);
    show(&mut screen, "..");
    screen
}

fn show(screen: &mut Screen, range: &str) {
    screen.type_text("g");
    screen.type_text(range);
    screen.press(KeyCode::Enter);
}

/// Returns the columns of the screen with marks in a line.
fn marks(screen: &Screen, y: u16) -> Vec<u16> {
    let buffer = screen.buffer();
    let left = screen.app.session().label_width;
    let is_marked = |x: &u16| {
        let cell = &buffer[(*x, y)];
        // In the line of times, labels stay.
        cell.symbol() == "!" || cell.style().bg == Look::True.loss().1.bg
    };
    (left..buffer.area.width).filter(is_marked).map(|x| x - left).collect()
}

/// Returns the columns of charts that overlap one of the ranges.
fn expected(screen: &Screen) -> Vec<u16> {
    let session = screen.app.session();
    let axis = session.axis();
    let from = session.first().as_ns() - FIRST as i64;
    let overlaps = |column: &u16| {
        let start = axis.begin_of(usize::from(*column)).as_ns() - from;
        let end = axis.begin_of(usize::from(*column) + 1).as_ns().min(axis.window().end().as_ns());
        let (start, last) = (start as u64, (end - 1 - from) as u64);
        RANGES.iter().any(|range| range.0 * MS <= last && start <= range.1 * MS)
    };
    (0..axis.columns() as u16).filter(overlaps).collect()
}

/// Returns the first line of the histogram, and the line of times.
fn lines(screen: &Screen) -> (u16, u16) {
    (screen.find(" Histogram").1 + 1, time_line(screen))
}

fn time_line(screen: &Screen) -> u16 {
    screen.find("current ").1 - 1
}

#[test]
fn columns_with_losses_are_marked() {
    for (width, height) in [(160, 45), (80, 24)] {
        let mut screen = screen(width, height, Look::True);
        for range in ["..", "+10ms..+60ms", "+25ms..+26ms", "+28999999ns..+35ms", "+55ms.."] {
            show(&mut screen, range);
            let (histogram, times) = lines(&screen);
            let expected = expected(&screen);
            assert!(!expected.is_empty(), "{range}");
            assert_eq!(marks(&screen, histogram), expected, "{range}\n{}", screen.text());
            assert_eq!(marks(&screen, times), expected, "{range}\n{}", screen.text());
        }
        // A window within a range of losses has marks in all columns.
        show(&mut screen, "+25ms..+26ms");
        let columns = screen.app.session().axis().columns();
        assert_eq!(marks(&screen, lines(&screen).0).len(), columns);
        // Windows directly beside the ranges have no marks.
        for range in ["..+18ms", "+29.000001ms..+48.999999ms", "+70ms..+83ms"] {
            show(&mut screen, range);
            let (histogram, times) = lines(&screen);
            assert_eq!(expected(&screen), NONE, "{range}");
            assert_eq!(marks(&screen, histogram), NONE, "{range}\n{}", screen.text());
            assert_eq!(marks(&screen, times), NONE, "{range}\n{}", screen.text());
            assert!(!screen.text().contains("lost "), "{range}\n{}", screen.text());
        }
    }
}

#[test]
fn the_status_line_tells_how_many_events_were_lost_in_the_window() {
    for (width, height) in [(160, 45), (80, 24)] {
        let mut screen = screen(width, height, Look::True);
        for (range, lost) in [
            ("..", "42 events and 2 packets in 3 ranges"),
            ("..+55ms", "40 to 42 events in 2 ranges"),
            ("+10ms..+40ms", "40 events in 1 range"),
            ("+20ms..+40ms", "up to 40 events in 1 range"),
            ("+75ms..", "2 packets in 1 range"),
        ] {
            show(&mut screen, range);
            let status = &screen.lines()[usize::from(screen.find("current ").1)];
            let numbers = lost.split(" in ").next().unwrap();
            let lost = if width < 100 { numbers } else { lost };
            assert!(status.contains(&format!("lost {lost}")), "{range}: {status}");
        }
    }
}

#[test]
fn marks_are_visible_without_colours_and_hide_no_label() {
    let mut screen = screen(160, 45, Look::Mono);
    let (histogram, times) = lines(&screen);
    let expected = expected(&screen);
    assert_eq!(marks(&screen, histogram), expected, "{}", screen.text());
    // The labels in the line of times are whole, or not there.
    let line = &screen.lines()[usize::from(times)];
    let labels = line.split('╵').skip(1).map(|label| label.trim_matches(['!', ' ']));
    for label in labels.filter(|label| !label.is_empty()) {
        let number = label.strip_suffix(" ms").unwrap_or_else(|| panic!("{label} in {line}"));
        assert!(number.parse::<u64>().is_ok_and(|ms| ms % 10 == 0), "{label} in {line}");
    }
    assert!(screen.lines()[usize::from(times)].contains('!'));
    // The bars are below the marks.
    let heights = |screen: &Screen, column: u16| {
        let (buffer, x) = (screen.buffer(), screen.app.session().label_width + column);
        (histogram..times).filter(|y| buffer[(x, *y)].symbol() == "#").count()
    };
    assert!(expected.iter().any(|column| heights(&screen, *column) > 0));
    // The marks are there without a histogram, too.
    screen.type_text("4");
    assert!(screen.lines()[usize::from(time_line(&screen))].contains('!'), "{}", screen.text());
}

#[test]
fn messages_tell_all_losses() {
    let mut screen = screen(160, 45, Look::True);
    show(&mut screen, "+10ms..+40ms");
    screen.type_text("!");
    let window = screen.line_with("in the window, 1 range lost 40 events, first at ");
    assert!(window.is_some(), "{}", screen.text());
    let all = screen.line_with("in all, 3 ranges lost 42 events and 2 packets, first at ");
    assert!(all.is_some(), "{}", screen.text());
    screen.press(KeyCode::Esc);
    screen.type_text("?");
    screen.press(KeyCode::End);
    assert!(screen.line_with("! over the histogram").is_some(), "{}", screen.text());
}

/// A trace without losses has no marks, and the lines of the histogram are all for its bars.
#[test]
fn traces_without_losses_have_no_marks() {
    let mut screen = Screen::open(160, 45, Look::True);
    screen.type_text("0");
    let (histogram, times) = lines(&screen);
    assert_eq!(marks(&screen, histogram), NONE);
    assert_eq!(marks(&screen, times), NONE);
    assert!(!screen.text().contains("lost "), "{}", screen.text());
}
