//! The calls viewer: flame graph and flame chart of the time window.

use crate::support::Screen;
use ltt_read::schema::ByteOrder::Little;
use ltt_read::schema::{FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, MemoryTrace, Record, presets};
use lttv_context::Traceset;
use lttv_tui::layout::LayoutFile;
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use ratatui::crossterm::event::KeyCode;
use ratatui::style::Modifier;

const MS: u64 = 1_000_000;

/// The address of the program, which is no file.
const BASE: u64 = 0x40_0000;

/// The calls: thread, offset of the function, entry and exit in ms.
const CALLS: [(u64, u64, u64, u64); 6] = [
    (101, 0x10, 10, 110),
    (101, 0x20, 20, 40),
    (101, 0x20, 50, 80),
    (101, 0x30, 55, 75),
    (101, 0x20, 90, 95),
    (102, 0x40, 30, 60),
];

/// Writes a trace of [`CALLS`], or of their entries alone. Its first event is at 5 ms.
fn session(has_exits: bool) -> Session {
    let mut schema = presets::lttng_ust(Format::Ctf1);
    schema.clocks[0].offset_seconds = 0;
    let channel = StreamClassId(0);
    let word = || FieldClass::uint(64, Little);
    let bin_info = FieldClass::structure([
        ("baddr", word()),
        ("memsz", word()),
        ("path", FieldClass::string()),
        ("is_pic", FieldClass::uint(8, Little)),
    ]);
    let bin_info = schema.add_event_type(channel, "lttng_ust_statedump:bin_info", bin_info);
    let call = || FieldClass::structure([("addr", word()), ("call_site", word())]);
    let entry = schema.add_event_type(channel, "lttng_ust_cyg_profile:func_entry", call());
    let exit = has_exits
        .then(|| schema.add_event_type(channel, "lttng_ust_cyg_profile:func_exit", call()));

    let context = |vtid: u64| FieldValue::fields([("vpid", 100), ("vtid", vtid)]);
    let mut events = Vec::new();
    let mut dump = Record::new(bin_info, 5 * MS);
    dump.common_context = context(101);
    dump.payload =
        FieldValue::structure([BASE.into(), 0x1000.into(), "/nowhere/shop".into(), 1.into()]);
    events.push((5, dump));
    for (vtid, offset, start, end) in CALLS {
        let types = [(Some(entry), start), (exit, end)];
        for (of, ms) in types.into_iter().filter_map(|(of, ms)| Some((of?, ms))) {
            let mut record = Record::new(of, ms * MS);
            record.common_context = context(vtid);
            record.payload = FieldValue::structure([(BASE + offset).into(), 0.into()]);
            events.push((ms, record));
        }
    }
    events.sort_by_key(|(ms, _)| *ms);

    let mut trace = MemoryTrace::new(schema);
    let mut stream = trace
        .stream(channel, "channel0_0")
        .expect("a stream class")
        .with_packet_context(FieldValue::fields([("cpu_id", 0)]));
    events.into_iter().for_each(|(_, record)| stream.record(record).expect("an event"));
    trace.add(stream).expect("a stream");
    let traceset: Traceset = std::iter::once(trace.open().expect("a trace")).collect();
    Session::new("calls".to_owned(), traceset).expect("some events")
}

/// Opens the calls, with the viewer in its first state and all of the trace in the window.
fn screen(width: u16, height: u16) -> Screen {
    let mut screen = Screen::of(session(true), width, height, Look::True);
    screen.type_text("0");
    screen
}

/// Returns the current time, in ms.
fn current(screen: &Screen) -> i64 {
    screen.app.session().tab.time().as_ns() / MS as i64
}

#[track_caller]
fn assert_shows(screen: &Screen, text: &str) {
    assert!(screen.line_with(text).is_some(), "{text}\n{}", screen.text());
}

/// Returns the number of columns of the first frame with a name.
fn columns(screen: &Screen, name: &str) -> u16 {
    let (x, y) = screen.find(&format!("▏{name}"));
    let is_frame_end = |x: &u16| {
        let cell = &screen.buffer()[(*x, y)];
        cell.symbol() == "▏" || cell.bg == ratatui::style::Color::Reset
    };
    let width = screen.buffer().area.width;
    (x + 1..width).find(is_frame_end).unwrap_or(width) - x
}

#[test]
fn frames_are_as_wide_as_their_times() {
    for (width, height) in [(160, 45), (80, 24)] {
        let screen = screen(width, height);
        assert_shows(&screen, " 2 Calls");
        assert_shows(&screen, "all calls: 130 ms");
        // Callers are above the functions they call, in ms of all 130.
        for (name, ms) in
            [("shop+0x10", 100), ("shop+0x20", 55), ("shop+0x30", 20), ("shop+0x40", 30)]
        {
            let expected = f64::from(width) * f64::from(ms) / 130.0;
            let found = f64::from(columns(&screen, name));
            assert!(
                (found - expected).abs() <= 1.0,
                "{name} {found} {expected}\n{}",
                screen.text()
            );
        }
        let rows = ["all calls", "▏shop+0x10", "▏shop+0x20", "▏shop+0x30"];
        let rows = rows.map(|name| screen.find(name).1);
        assert!(rows.windows(2).all(|pair| pair[1] == pair[0] + 1), "{rows:?}");
        assert_eq!(screen.find("▏shop+0x40").1, rows[1]);
    }
}

#[test]
fn enter_goes_to_the_entry_of_the_longest_call() {
    let mut screen = screen(160, 45);
    screen.press(KeyCode::Down);
    assert_shows(&screen, "shop+0x10: 100 ms (76.9 %), itself 45 ms, calls that ended: 1");
    screen.press(KeyCode::Down);
    assert_shows(&screen, "shop+0x20: 55 ms (42.3 %), itself 35 ms, calls that ended: 3");
    screen.press(KeyCode::Enter);
    assert_eq!(current(&screen), 50);
    let entry = screen.line_with(" 050000000 ").expect("the event");
    assert!(entry.contains(":func_ent "), "{entry}");
    // A click selects a frame, too.
    let (x, y) = screen.find("shop+0x40");
    screen.click((x, y));
    assert_shows(&screen, "shop+0x40: 30 ms (23.1 %), itself 30 ms, calls that ended: 1");
    assert!(screen.buffer()[(x, y)].modifier.contains(Modifier::REVERSED));
    screen.press(KeyCode::Enter);
    assert_eq!(current(&screen), 30);
    // Its neighbour, and back.
    screen.press(KeyCode::Backspace);
    assert_shows(&screen, "shop+0x10: 100 ms");
    screen.type_text(" ");
    assert_shows(&screen, "shop+0x40: 30 ms");
}

#[test]
fn a_zoomed_call_fills_the_graph() {
    let mut screen = screen(160, 45);
    screen.type_text("jji");
    assert_eq!(columns(&screen, "shop+0x20"), 160);
    let inner = columns(&screen, "shop+0x30");
    assert!(inner.abs_diff(160 * 20 / 55) <= 1, "{inner}");
    assert!(screen.line_with("shop+0x40").is_none(), "{}", screen.text());
    // Keys stay within it.
    screen.type_text("kkkk");
    assert_shows(&screen, "shop+0x20: 55 ms");
    screen.type_text("II");
    assert_shows(&screen, "all calls: 130 ms");
}

#[test]
fn the_graph_is_that_of_the_window() {
    let mut screen = screen(160, 45);
    // From 50 to 60 ms: the outer call and the first half of the inner ones.
    screen.go_to("+45ms..+55ms");
    assert_shows(&screen, "all calls: 20 ms");
    screen.type_text("jjj");
    assert_shows(&screen, "shop+0x30: 5 ms (25.0 %), itself 5 ms, calls that ended: 0");
    // Nothing was called before 10 ms.
    screen.go_to("+0ms..+4ms");
    assert_shows(&screen, "all calls: 0 ns");
}

#[test]
fn the_chart_shows_calls_over_time() {
    for (width, height) in [(160, 45), (80, 24)] {
        let mut screen = screen(width, height);
        screen.type_text("mV");
        let rows = ["101 ", "    1", "    2", "102 "].map(|label| screen.find(label).1);
        assert!(rows.windows(2).all(|pair| pair[1] == pair[0] + 1), "{rows:?}\n{}", screen.text());
        // The next call of the second row after the current time.
        screen.go_to("+0ms");
        screen.press(KeyCode::Down);
        for ms in [20, 50, 90, 90] {
            screen.type_text(" ");
            assert_eq!(current(&screen), ms);
        }
        screen.press(KeyCode::Backspace);
        assert_eq!(current(&screen), 50);
        assert_shows(&screen, "shop+0x20: 30 ms");
        // A click in the call of the other thread, then its entry.
        let (x, y) = screen.find("▏shop+0x40");
        screen.click((x + 3, y));
        assert!((31..60).contains(&current(&screen)), "{}", current(&screen));
        screen.press(KeyCode::Enter);
        assert_eq!(current(&screen), 30);
        screen.type_text("i");
        assert_eq!(screen.window(), (30 * MS as i64, 60 * MS as i64));
        screen.type_text("V");
        assert_shows(&screen, "all calls: 60 ms");
    }
}

#[test]
fn short_calls_are_drawn_as_one() {
    let mut schema = presets::lttng_ust(Format::Ctf1);
    schema.clocks[0].offset_seconds = 0;
    let call = || FieldClass::structure([("addr", FieldClass::uint(64, Little))]);
    let [entry, exit] = ["entry", "exit"].map(|name| {
        let name = format!("lttng_ust_cyg_profile_fast:func_{name}");
        schema.add_event_type(StreamClassId(0), &name, call())
    });
    let mut trace = MemoryTrace::new(schema);
    let mut stream = trace.stream(StreamClassId(0), "channel0_0").expect("a stream class");
    // A thousand calls of 100 ns in the first 200 us of 10 ms.
    let calls = (0..1000).map(|at| (200 * at, 100)).chain([(9_000_000, 1_000_000)]);
    for (time, length) in calls {
        for (of, time) in [(entry, time), (exit, time + length)] {
            let mut record = Record::new(of, time);
            record.common_context = FieldValue::fields([("vpid", 1), ("vtid", 1)]);
            record.payload = FieldValue::structure([0x1234.into()]);
            stream.record(record).expect("an event");
        }
    }
    trace.add(stream).expect("a stream");
    let traceset: Traceset = std::iter::once(trace.open().expect("a trace")).collect();
    let session = Session::new("short".to_owned(), traceset).expect("some events");
    let mut screen = Screen::of(session, 160, 45, Look::True);
    screen.type_text("0");
    assert_shows(&screen, "all calls: 1.1 ms");
    screen.press(KeyCode::Down);
    assert_shows(&screen, "0x1234: 1.1 ms (100.0 %), itself 1.1 ms, calls that ended: 1001");
    screen.press(KeyCode::Enter);
    assert_eq!(screen.app.session().tab.time().as_ns(), 9_000_000);
    screen.type_text("V");
    screen.go_to("+0ms");
    assert_shows(&screen, "0x1234: 199.9 µs, 1000 short calls");
}

#[test]
fn what_was_not_recorded_is_named() {
    let mut screen = Screen::of(session(false), 160, 45, Look::True);
    screen.type_text("0");
    assert_shows(&screen, "without func_exit events, calls do not end");
    for (width, height) in [(160, 45), (80, 24)] {
        let mut screen = Screen::open(width, height, Look::True);
        screen.app.open_viewer("calls").expect("the viewer");
        screen.settle();
        assert_shows(&screen, "Calls");
        assert_shows(&screen, "needs lttng_ust_cyg_profile");
        // Keys do nothing, and nothing is drawn.
        screen.type_text("V iI");
        screen.press(KeyCode::Enter);
        assert!(screen.line_with("all calls").is_none(), "{}", screen.text());
    }
}

#[test]
fn the_screen_of_a_trace_with_calls() {
    let mut screen = screen(120, 36);
    screen.type_text("jj");
    insta::assert_snapshot!("flame_graph", screen.text());
    screen.type_text("V");
    insta::assert_snapshot!("flame_chart", screen.text());
}

#[test]
fn the_form_is_a_setting() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("layout.json");
    let open = || {
        let mut screen = Screen::of(session(true), 160, 45, Look::True);
        let notes = screen.app.restore_layout(LayoutFile::new(path.clone()));
        screen.settle();
        (screen, notes)
    };
    let (mut screen, _) = open();
    assert_shows(&screen, "time by call path");
    screen.type_text("V");
    screen.app.save_layout().expect("a writable folder");
    let (screen, notes) = open();
    assert_eq!(notes, [""; 0]);
    assert_shows(&screen, "calls over time");
    let text = std::fs::read_to_string(&path).expect("the layout").replace("\"chart\"", "\"tea\"");
    std::fs::write(&path, text).expect("a writable folder");
    let (_, notes) = open();
    assert!(notes[0].contains("`tea` is neither graph nor chart"), "{notes:?}");
}
