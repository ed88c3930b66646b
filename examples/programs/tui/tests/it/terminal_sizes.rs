//! The program in a large and in a small terminal, tmux: what an engineer asks of a trace.

use std::cell::RefCell;

use crate::support::event_times;
use crate::support::tmux::{PROGRAM, Tmux, status};
use ltt_read::Timestamp;

/// The widths and heights of terminals.
const SIZES: [(u16, u16); 2] = [(160, 45), (80, 24)];

/// The time of the first event of the kernel trace, in ns.
const FIRST: i64 = 1_795_233_416_237_946_824;

/// The number of events of the kernel trace, as the histogram shows it.
const ALL: &str = "6087 in all";

/// The title of the prompt for times.
const GO_TO: &str = "FROM..TO:";

/// Runs a test in a terminal of each size, in which the program shows a trace, and ends the
/// program.
fn at_each_size(name: &str, arguments: &str, test: impl Fn(&Tmux)) {
    for size in SIZES {
        let command = format!("{PROGRAM} --utc {arguments}; echo ENDED with $?; sleep 60");
        let Some(tmux) = Tmux::start(name, size, &command) else { return };
        tmux.wait_for(" in all");
        test(&tmux);
        tmux.keys(&["q"]);
        tmux.wait_for("ENDED with 0");
    }
}

/// Runs a test in a terminal of each size, in which the program shows the kernel trace and has
/// read all of it.
fn with_kernel_trace(name: &str, test: impl Fn(&Tmux)) {
    at_each_size(name, "kernel", |tmux| {
        tmux.wait_for(ALL);
        test(tmux);
    });
}

/// Goes to a time, or shows a range.
fn go_to(tmux: &Tmux, place: &str) {
    tmux.ask("g", GO_TO, place);
    tmux.wait_until("the end of the prompt", |screen| !screen.contains(GO_TO));
}

/// Finds a row.
fn find(tmux: &Tmux, text: &str) {
    tmux.ask("F", "find TID, PID or name:", text);
}

/// Waits until a value of the status line is as expected.
fn wait_for_status(tmux: &Tmux, name: &str, value: &str) -> String {
    tmux.wait_until(&format!("{name} {value}"), |screen| status(screen, name) == value)
}

/// Returns the heading of a viewer and the lines below it.
fn pane<'s>(screen: &'s str, title: &str) -> Vec<&'s str> {
    let is_heading = |line: &str| {
        let start: Vec<char> = line.chars().take(3).collect();
        matches!(start[..], [' ', number, ' '] if number.is_ascii_digit())
    };
    let is_first = |line: &&str| is_heading(line) && line[3..].starts_with(title);
    let mut lines = screen.lines().skip_while(|line| !is_first(line));
    let heading = lines.next();
    let end = |line: &&str| !is_heading(line) && !line.starts_with("TIME ");
    heading.into_iter().chain(lines.take_while(end)).collect()
}

/// Returns the texts of a column in the rows of a pane, down to the first row without one.
fn column(pane: &[&str], heading: &str, width: usize) -> Vec<String> {
    let Some((headings, rows)) = pane.get(1..).and_then(|lines| lines.split_first()) else {
        return Vec::new();
    };
    let Some((before, _)) = headings.split_once(heading) else { return Vec::new() };
    let from = before.chars().count();
    let cell = |row: &&str| row.chars().skip(from).take(width).collect::<String>();
    let texts = rows.iter().map(|row| cell(row).trim().to_owned());
    texts.take_while(|text| !text.is_empty()).collect()
}

/// Returns the TIDs of the rows of the control flow.
fn tids(screen: &str) -> Vec<String> {
    column(&pane(screen, "Control flow"), "TID", 7)
}

/// Returns the line with the times of the charts.
fn axis(screen: &str) -> String {
    screen.lines().find(|line| line.starts_with("TIME ")).unwrap_or_default().to_owned()
}

/// Returns a condition of times: those of a range in ms from the first event, ends included.
fn in_ms(from: i64, to: i64) -> impl Fn(Timestamp) -> bool {
    move |time| (from * 1_000_000..=to * 1_000_000).contains(&(time.as_ns() - FIRST))
}

/// Returns the number of threads that the control flow hides.
fn hidden(screen: &str) -> Option<u32> {
    let heading = pane(screen, "Control flow").first().copied().unwrap_or_default();
    let (before, _) = heading.split_once(" that did not run are hidden")?;
    before.rsplit(' ').next()?.parse().ok()
}

/// Returns the words of the screen, with one space between them.
fn words(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the lines of a message or a prompt at the end of the screen as one line, without the
/// breaks that the width of the terminal requires.
fn unwrapped(screen: &str) -> String {
    screen.lines().map(|line| line.trim()).collect()
}

#[test]
fn a_row_is_found_also_a_hidden_one() {
    with_kernel_trace("find", |tmux| {
        find(tmux, "180");
        let screen = wait_for_status(tmux, "process", "lttng-consumerd (180)");
        assert!(tids(&screen).contains(&"180".to_owned()), "{screen}");
        // Each row with a part of a name, and back.
        find(tmux, "futex");
        let first = status(&wait_for_status(tmux, "process", "futexer (202)"), "process");
        tmux.keys(&[";"]);
        let moved = |screen: &str| status(screen, "process") != first;
        let second = status(&tmux.wait_until("the next row", moved), "process");
        assert!(second.starts_with("futex"), "{second}");
        tmux.keys(&[","]);
        wait_for_status(tmux, "process", &first);
        // A window in which most threads do not run.
        go_to(tmux, "1795233416.5");
        tmux.keys(&["w", "w", "w", "w"]);
        wait_for_status(tmux, "width", "60.3 ms");
        let before = tmux.wait_until("all rows", |screen| hidden(screen) > Some(140));
        assert!(!tids(&before).contains(&"1".to_owned()), "{before}");
        find(tmux, "init");
        let after = wait_for_status(tmux, "process", "init (1)");
        assert_eq!(tids(&after).first().map(String::as_str), Some("1"), "{after}");
        assert_eq!(hidden(&after).map(|rows| rows + 1), hidden(&before), "{after}");
        // The prompt stays open for a correction.
        find(tmux, "nonsense");
        tmux.wait_for("no row of Control flow matches `nonsense`");
        tmux.escape("find TID");
        wait_for_status(tmux, "process", "init (1)");
    });
}

#[test]
fn rows_are_sorted_by_activity() {
    with_kernel_trace("sort", |tmux| {
        // All events: later states would last until the end of the last packet.
        go_to(tmux, "+0..");
        wait_for_status(tmux, "width", "592 ms");
        let is_by_number = |screen: &str| {
            let numbers: Vec<u32> =
                tids(screen).iter().filter_map(|tid| tid.parse().ok()).collect();
            numbers.len() > 3 && numbers.is_sorted()
        };
        let busiest = ["180", "206", "97"].map(str::to_owned);
        tmux.wait_for(" processes by TID");
        tmux.wait_until("rows by number", is_by_number);
        tmux.keys(&["R", "R", "R"]);
        tmux.wait_for(" processes busiest first");
        tmux.wait_until("the busiest", |screen| tids(screen).starts_with(&busiest));
        tmux.keys(&["R"]);
        tmux.wait_until("rows by number", |screen| {
            screen.contains(" processes by TID") && is_by_number(screen)
        });
        // The statistics have the same order.
        tmux.keys(&["5", "m", "S"]);
        tmux.wait_until("the busiest in the statistics", |screen| {
            screen.contains(" of the whole traceset: processes busiest first")
                && column(&pane(screen, "Statistics"), "TID", 7).starts_with(&busiest)
        });
    });
}

#[test]
fn all_fields_of_an_event_are_shown() {
    with_kernel_trace("fields", |tmux| {
        tmux.keys(&["BTab"]);
        tmux.ask("\\", "filter", "event.name == \"sched_switch\"");
        tmux.wait_until("only such events", |screen| {
            let events = pane(screen, "Events");
            events.len() > 2 && events[2..].iter().all(|row| row.contains(" sched_switch "))
        });
        tmux.keys(&["Home", "Enter"]);
        let fields = [
            "time 2026-11-21 03:56:56.256351599",
            "since the epoch 1795233416.256351599 s",
            "from the start +0.018404775 s",
            "trace kernel/kernel",
            "tracefile sched_4",
            "thread 0",
            "prev_comm \"swapper/4\" string",
            "prev_prio 20 (0x14) int32",
            "prev_state 0 (0x0) int64",
            "next_comm \"lttng-consumerd\" string",
            "next_tid 180 (0xb4) int32",
            "hostname \"corpushost\" string",
            "id compact 26 (0x1a) uint5 enumeration",
            "timestamp 61304965 (0x3a77085) uint27",
            "packet_size 229376 (0x38000) uint64",
            "cpu_id 4 (0x4) uint32",
            "magic 3254525889 (0xc1fc1fc1) uint32",
        ];
        // A small terminal shows a part of them at a time.
        let shown = RefCell::new(String::new());
        tmux.wait_until("all fields", |screen| {
            if !screen.contains("Esc closes") {
                return false;
            }
            *shown.borrow_mut() += &words(screen);
            let seen = shown.borrow();
            if fields.iter().all(|field| seen.contains(field)) {
                return true;
            }
            // The magic number is in the last lines.
            tmux.keys(&[if words(screen).contains("magic ") { "Home" } else { "NPage" }]);
            false
        });
        tmux.escape("Esc closes");
    });
}

#[test]
fn the_state_under_the_cursor_is_told_in_words() {
    with_kernel_trace("state", |tmux| {
        find(tmux, "180");
        tmux.wait_for("unknown at this time");
        // It wakes up at 1795233416.255770982, and runs at 1795233416.256351599.
        go_to(tmux, "+18ms");
        tmux.wait_for("lttng-consumerd TID 180: ready to run for 580.6 µs, woken by Client");
        tmux.keys(&["Enter"]);
        let screen = tmux.wait_for("Esc closes");
        let words = words(&screen);
        for line in [
            "TID 180",
            "current time 1795233416.255946824",
            "state ready to run",
            "since 1795233416.255770982",
            "until 1795233416.256351599",
            "duration 580.6 µs (580617 ns)",
            "woken by Client manageme (163) on CPU 6 at 1795233416.255770982",
            "then runs",
        ] {
            assert!(words.contains(line), "no {line:?} in\n{screen}");
        }
        tmux.escape("Esc closes");
        go_to(tmux, "+50ms");
        tmux.wait_for("TID 180 PID 173: runs in system call write on CPU 4 for 5.09");
        // The cursor moves by a column.
        tmux.keys(&["]"]);
        let state = "lttng-consumerd TID 180 PID 173: ";
        let screen = tmux.wait_until("another state", |screen| {
            let line = screen.lines().find_map(|line| line.split_once(state));
            line.is_some_and(|(_, words)| !words.starts_with("runs in system call write"))
        });
        assert!(*status(&screen, "current") > *"1795233416.287946824", "{screen}");
    });
}

#[test]
fn windows_are_exact_and_marks_show_their_difference() {
    with_kernel_trace("marks", |tmux| {
        go_to(tmux, "+100ms..+200ms");
        let screen = wait_for_status(tmux, "width", "100 ms");
        assert_eq!(status(&screen, "current"), "1795233416.337946824");
        // A small terminal has no room for both ends.
        if tmux.size.0 >= 160 {
            let window = "1795233416.337946824 – 1795233416.437946824";
            assert_eq!(status(&screen, "window"), window);
        }
        // The statistics of exactly these events.
        let count = event_times("sched_switch", in_ms(100, 200)).len();
        tmux.keys(&["5", "m", "A", "S", "S", "S"]);
        tmux.wait_until(&format!("{count} sched_switch events"), |screen| {
            let mut rows = screen.lines().filter(|line| line.starts_with("sched_switch "));
            rows.any(|row| row.split_whitespace().nth(1) == Some(&count.to_string()))
        });
        tmux.keys(&["m", "5", "0"]);
        wait_for_status(tmux, "width", "3.67 s");
        // Two marks, and the range between them.
        go_to(tmux, "+20ms");
        tmux.keys(&["."]);
        go_to(tmux, "+0.021234567");
        tmux.keys(&["."]);
        wait_for_status(tmux, "selected", "1.234567 ms");
        tmux.keys(&["z"]);
        let screen = wait_for_status(tmux, "width", "1.235 ms");
        if tmux.size.0 >= 160 {
            let window = "1795233416.257946824 – 1795233416.259181390";
            assert_eq!(status(&screen, "window"), window);
        }
        tmux.keys(&["u"]);
        wait_for_status(tmux, "width", "3.67 s");
        tmux.escape("selected ");
    });
}

#[test]
fn zooms_are_undone_and_done_again() {
    with_kernel_trace("zooms", |tmux| {
        let first = axis(&wait_for_status(tmux, "width", "964.9 ms"));
        tmux.keys(&["w"]);
        wait_for_status(tmux, "width", "482.4 ms");
        tmux.keys(&["w"]);
        let second = axis(&wait_for_status(tmux, "width", "241.2 ms"));
        go_to(tmux, "+300ms..+350ms");
        let third = axis(&wait_for_status(tmux, "width", "50 ms"));
        for (key, width, expected) in [
            ("u", "241.2 ms", Some(&second)),
            ("u", "482.4 ms", None),
            ("u", "964.9 ms", Some(&first)),
            ("U", "482.4 ms", None),
            ("U", "241.2 ms", Some(&second)),
            ("U", "50 ms", Some(&third)),
            ("0", "3.67 s", None),
            ("u", "50 ms", Some(&third)),
        ] {
            tmux.keys(&[key]);
            let screen = wait_for_status(tmux, "width", width);
            assert!(expected.is_none_or(|expected| axis(&screen) == *expected), "{screen}");
        }
    });
}

#[test]
fn wasd_and_the_arrows_move_and_zoom() {
    with_kernel_trace("wasd", |tmux| {
        go_to(tmux, "+100ms..+200ms");
        let here = axis(&wait_for_status(tmux, "width", "100 ms"));
        let mut later = None;
        for (right, left) in [("d", "a"), ("Right", "Left"), ("l", "h")] {
            tmux.keys(&[right]);
            let screen = tmux.wait_until("a later window", |screen| axis(screen) != here);
            assert_eq!(status(&screen, "width"), "100 ms");
            if tmux.size.0 >= 160 {
                // A tenth of a window of 100 ms.
                assert!(status(&screen, "window").starts_with("1795233416.3479468"), "{screen}");
            }
            assert_eq!(*later.get_or_insert(axis(&screen)), axis(&screen), "{right}");
            tmux.keys(&[left]);
            tmux.wait_until(left, |screen| axis(screen) == here);
        }
        for (nearer, farther) in [("w", "s"), ("+", "-")] {
            tmux.keys(&[nearer]);
            wait_for_status(tmux, "width", "50 ms");
            tmux.keys(&[farther]);
            wait_for_status(tmux, "width", "100 ms");
        }
    });
}

#[test]
fn times_have_notations_with_differences() {
    with_kernel_trace("times", |tmux| {
        // The mark is at the second event.
        go_to(tmux, "1795233416.238326610");
        tmux.keys(&[".", "BTab", "Home"]);
        wait_for_status(tmux, "current", "1795233416.237946824");
        let wait_for_rows = |heading: &str, expected: [&str; 3]| {
            tmux.wait_until(heading, |screen| {
                let events = pane(screen, "Events");
                let is_shown = events.get(1).is_some_and(|line| line.contains(heading));
                is_shown
                    && column(&events, heading.trim_start(), expected[1].len())
                        .starts_with(&expected.map(str::to_owned))
            });
        };
        let ns = ["237946824", "238326610", "238428412"];
        wait_for_rows("  TIME ns", ns);
        for (heading, expected) in [
            ("  FROM START s", ["+0.000000000", "+0.000379786", "+0.000481588"]),
            ("  SINCE ROW s", ["-", "+0.000379786", "+0.000101802"]),
            ("  SINCE MARK s", ["-0.000379786", "+0.000000000", "+0.000101802"]),
            ("  DATE AND TIME", ns.map(|_| "2026-11-21")),
            ("  TIME  ", ["03:56:56.237", "03:56:56.238", "03:56:56.238"]),
            ("  TIME ns", ns),
        ] {
            tmux.keys(&["T"]);
            wait_for_rows(heading, expected);
        }
    });
}

#[test]
fn events_are_exported_and_rows_copied() {
    with_kernel_trace("export", |tmux| {
        tmux.keys(&["BTab"]);
        go_to(tmux, "+100ms..+200ms");
        tmux.ask("/", "filter:", "event.name == \"sched_switch\"");
        let expected = event_times("sched_switch", in_ms(100, 200));
        assert!(expected.len() > 40, "{expected:?}");
        let file = tmux.folder.join("events.csv");
        let write = || {
            tmux.keys(&["W"]);
            tmux.wait_for("write to:");
            tmux.keys(&["C-u"]);
            tmux.answer(file.to_str().expect("a path"));
        };
        write();
        tmux.wait_for(&format!("({} events)", expected.len()));
        let written = std::fs::read_to_string(&file).expect("a file");
        let mut lines = written.lines();
        let headings = "time,time_ns,trace,tracefile,cpu,tid,pid,comm,event,fields";
        assert_eq!(lines.next(), Some(headings));
        let times = lines.map(|line| {
            assert!(line.contains(",sched_switch,\""), "{line}");
            line.split(',').nth(1).and_then(|ns| ns.parse().ok()).expect("a time")
        });
        assert_eq!(times.collect::<Vec<i64>>(), expected);
        // A file is replaced after a second Enter.
        std::fs::write(&file, "older").expect("a file");
        write();
        tmux.wait_for("the file exists: Enter replaces it, Esc leaves it");
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), "older");
        tmux.keys(&["Enter"]);
        tmux.wait_until("another file", |_| {
            std::fs::read_to_string(&file).is_ok_and(|text| text == written)
        });
        // The picture of another viewer.
        tmux.keys(&["Tab", "W"]);
        tmux.wait_for("write to:");
        tmux.keys(&["C-u"]);
        let picture = tmux.folder.join("picture.svg");
        tmux.answer(picture.to_str().expect("a path"));
        tmux.wait_until("a picture", |_| picture.exists());
        let picture = std::fs::read_to_string(&picture).expect("a file");
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>"), "{picture}");
        let command = &column(&pane(&tmux.screen(), "Control flow"), "COMMAND", 16)[0];
        assert!(picture.contains(command), "{command} in {picture}");
        // The selected row, when the thread of the event is known.
        tmux.keys(&["BTab", "Home"]);
        tmux.wait_until("the thread", |screen| {
            column(&pane(screen, "Events"), " TID ", 6).first().is_some_and(|tid| tid == "0")
        });
        tmux.keys(&["y"]);
        let copied = tmux.wait_for_copy("a row", |copied| !copied.is_empty());
        assert!(
            copied.starts_with("1795233416.256351599 kernel/sched_4 cpu 4 tid 0 sched_switch: "),
            "{copied}"
        );
        assert!(copied.contains("next_comm = \"lttng-consumerd\", next_tid = 180"), "{copied}");
    });
}

/// A colour of a terminal, and its WCAG 2.1 luminance from 0 to 1.
fn luminance(rgb: [u8; 3]) -> f64 {
    let [red, green, blue] = rgb.map(|part| match f64::from(part) / 255.0 {
        part if part <= 0.04045 => part / 12.92,
        part => ((part + 0.055) / 1.055).powf(2.4),
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Calls a function with each character of a screen that has colours of its own: its foreground
/// and its background.
fn each_coloured(screen: &str, mut call: impl FnMut(char, [u8; 3], [u8; 3])) {
    let (mut front, mut back) = (None, None);
    let mut parts = screen.split("\x1b[");
    let plain = parts.next().unwrap_or_default();
    assert!(!plain.contains('\x1b'), "{plain:?}");
    for part in parts {
        let Some((codes, text)) = part.split_once('m') else { continue };
        let codes: Vec<u8> =
            codes.split([';', ':']).map(|code| code.parse().unwrap_or(0)).collect();
        let mut codes = &codes[..];
        while let Some((code, rest)) = codes.split_first() {
            codes = rest;
            match (code, rest) {
                (38, [2, red, green, blue, rest @ ..]) => {
                    (front, codes) = (Some([*red, *green, *blue]), rest);
                }
                (48, [2, red, green, blue, rest @ ..]) => {
                    (back, codes) = (Some([*red, *green, *blue]), rest);
                }
                (0, _) => (front, back) = (None, None),
                (39, _) => front = None,
                (49, _) => back = None,
                _ => {}
            }
        }
        if let (Some(front), Some(back)) = (front, back) {
            text.chars().filter(|c| !c.is_whitespace()).for_each(|c| call(c, front, back));
        }
    }
}

#[test]
fn colours_have_a_contrast_that_can_be_read() {
    for size in SIZES {
        let program = format!("COLORTERM=truecolor {PROGRAM} --utc kernel");
        let without = format!("{PROGRAM} --utc --mono kernel");
        let command = format!("unset NO_COLOR; {program}; echo ENDED; read line; {without}");
        let Some(tmux) = Tmux::start("contrast", size, &command) else { return };
        tmux.wait_for(ALL);
        let (mut texts, mut bars) = (0, 0);
        each_coloured(&tmux.screen_with_colours(), |c, front, back| {
            // Threads that are dead are not visible.
            if front == back {
                return;
            }
            let (front, back) = (luminance(front), luminance(back));
            let contrast = (front.max(back) + 0.05) / (front.min(back) + 0.05);
            let is_text = c.is_alphanumeric();
            *(if is_text { &mut texts } else { &mut bars }) += 1;
            let least = if is_text { 4.5 } else { 3.0 };
            assert!(contrast >= least, "{c:?} has a contrast of {contrast:.2}");
        });
        assert!(texts > 20 && bars > 100, "{texts} {bars}");
        tmux.keys(&["q"]);
        tmux.wait_for("ENDED");
        tmux.keys(&["Enter"]);
        tmux.wait_for(ALL);
        // Signs stand for states where there are no colours.
        each_coloured(&tmux.screen_with_colours(), |c, _, _| panic!("{c:?} has colours"));
        let screen = tmux.screen();
        assert!(!screen.contains('▇') && screen.contains("U user  S syscall"), "{screen}");
        tmux.keys(&["q"]);
    }
}

#[test]
fn prompts_have_a_history_and_completion() {
    with_kernel_trace("prompts", |tmux| {
        go_to(tmux, "+100ms..+200ms");
        go_to(tmux, "+40ms");
        tmux.keys(&["g"]);
        tmux.wait_for(GO_TO);
        tmux.type_text("+5");
        // The line as it was typed comes after the last answer.
        for (key, expected) in [
            ("Up", "+40ms"),
            ("Up", "+100ms..+200ms"),
            ("Down", "+40ms"),
            ("Down", "+5"),
            ("Up", "+40ms"),
        ] {
            tmux.keys(&[key]);
            tmux.wait_until(&format!("{key}: {expected}"), |screen| {
                screen.lines().any(|line| line.trim_end().ends_with(&format!("{GO_TO} {expected}")))
            });
        }
        tmux.keys(&["Up", "Enter"]);
        wait_for_status(tmux, "width", "100 ms");
        // Names and values of filters.
        tmux.keys(&["/"]);
        tmux.wait_for("filter:");
        tmux.type_text("event.na");
        tmux.keys(&["Tab"]);
        tmux.wait_for("filter: event.name");
        tmux.type_text("== sched_sw");
        tmux.wait_for("497 events");
        tmux.keys(&["Tab"]);
        tmux.wait_for("filter: event.name == \"sched_switch\"");
        tmux.keys(&["Enter", "0"]);
        tmux.wait_for("497 in all");
        // Paths.
        tmux.keys(&["o"]);
        tmux.wait_for("open:");
        tmux.type_text("ust-t");
        tmux.wait_for("ust-threads/");
        tmux.keys(&["Tab"]);
        tmux.wait_for("open: ust-threads/");
        tmux.keys(&["Enter"]);
        tmux.wait_for(" 2 Threads");
        assert!(tmux.wait_for("1931 in all").contains(" kernel "));
    });
}

#[test]
fn errors_are_shown_in_full() {
    with_kernel_trace("errors", |tmux| {
        let path = format!("/nowhere/{}trace", "a-long-folder/".repeat(18));
        assert!(path.len() > 160);
        tmux.ask("o", "open:", &path);
        let screen = tmux.wait_until("the whole error", |screen| {
            let all = unwrapped(screen);
            all.contains(&path) && all.contains("No such file or directory")
        });
        // The line can be corrected.
        assert!(screen.lines().any(|line| line.starts_with("open: ")), "{screen}");
        tmux.escape("open:");
        // A time outside of the trace.
        tmux.ask("g", GO_TO, "+1h");
        let screen = tmux.wait_for("outside of the traces");
        let all = screen.lines().map(|line| format!("{} ", line.trim())).collect::<String>();
        assert!(all.contains("1795233416.237946824 to 1795233416.829982847"), "{screen}");
        tmux.escape(GO_TO);
        // The place of a fault in a filter.
        tmux.ask("/", "filter:", "event.name == ");
        tmux.wait_for("expected a value, found the end: a number, time, label or text");
        tmux.escape("filter:");
        // Messages can be read again.
        tmux.keys(&["BTab", "y"]);
        tmux.wait_for("copied 1 line, if the terminal allows it (OSC 52)");
        tmux.keys(&["j"]);
        tmux.wait_until("no message", |screen| !screen.contains("copied 1 line"));
        tmux.keys(&["!"]);
        tmux.wait_for("  Messages");
        tmux.wait_for("copied 1 line, if the terminal allows it (OSC 52)");
        tmux.escape("  Messages");
    });
}

#[test]
fn a_user_space_trace_fills_the_viewers_that_it_can() {
    at_each_size("threads", "ust-threads", |tmux| {
        tmux.wait_for("1931 in all");
        tmux.wait_until("four threads", |screen| {
            column(&pane(screen, "Threads"), "TID", 6).len() == 4
        });
        let screen = tmux.screen();
        let threads = pane(&screen, "Threads");
        assert!(threads[0].contains(" 4 with events in the window, by number"), "{screen}");
        assert_eq!(column(&threads, "COMMAND", 14), ["wrk-0", "wrk-1", "wrk-2", "wrk-3"]);
        // A small terminal has no room for the other columns.
        if tmux.size.0 >= 160 {
            assert_eq!(column(&threads, "EVENTS", 6), ["524", "476", "469", "462"]);
            assert!(screen.contains(" 397.4 µs "), "{screen}");
        }
        // The events of a thread are found by its vtid.
        find(tmux, "5327");
        wait_for_status(tmux, "process", "wrk-2 (5327)");
        let before = status(&tmux.screen(), "current");
        tmux.keys(&["n"]);
        tmux.wait_until("its next event", |screen| {
            let now = status(screen, "current");
            let ns = now.split_once('.').map(|(_, ns)| ns.to_owned()).unwrap_or_default();
            let events = pane(screen, "Events");
            now != before && events.iter().any(|row| row.contains(&ns) && row.contains(" 5327 "))
        });
        // Each viewer alone.
        for (number, title, needs) in [
            ("4", "Statistics", "of the whole traceset"),
            ("5", "Control flow", "needs sched_switch events of the kernel"),
            ("6", "Resources", "needs sched_switch, irq_handler or block_rq events of the kernel"),
            ("7", "Interrupts", "needs irq_handler_exit or softirq_exit events of the kernel"),
            ("8", "Disk performance", "needs block_rq_complete events of the kernel"),
        ] {
            tmux.keys(&[number, "m"]);
            let is_alone = |screen: &str| {
                let heading = screen.lines().nth(1).unwrap_or_default();
                heading.contains(&format!(" {title}  {needs}"))
            };
            tmux.wait_until(needs, is_alone);
            tmux.keys(&["m"]);
            tmux.wait_for(" 1 Events");
        }
    });
    at_each_size("rows-of-threads", "kernel", |tmux| {
        tmux.keys(&["8"]);
        tmux.wait_for("Threads  needs a user-space trace");
    });
}
