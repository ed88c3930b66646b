//! Messages between hosts in the control flow of a recorded pair of traces.

use std::path::Path;

use crate::support::Screen;
use lttv_common::clocks::Corrections;
use lttv_common::report::Report;
use lttv_tui::look::Look;
use lttv_tui::session::Session;

/// Opens an ssh connection between two hosts; `None` if the recording is not here.
fn pair() -> Option<Screen> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder.join("../../../../shared/traces/ctf/tc-synctraces");
    if !folder.is_dir() {
        println!("SKIPPED: the recording tc-synctraces is not here");
        return None;
    }
    let corrections = Corrections { sync: true, ..Corrections::default() };
    let report = Report::new("test");
    let correct = |traceset| corrections.corrected(traceset, &report);
    let paths = ["scp_src", "scp_dest"].map(|name| folder.join(name));
    let session = Session::open_with(&paths, correct).expect("both traces");
    Some(Screen::of(session, 160, 60, Look::True))
}

/// Returns the part of a line in the chart.
fn chart<'l>(screen: &Screen, lines: &'l [String], row: &str) -> &'l str {
    let label = usize::from(screen.app.session().label_width);
    let line = lines.iter().find(|line| line.starts_with(row)).expect("a row");
    line.char_indices().nth(label).map_or("", |(at, _)| &line[at..])
}

/// Returns the columns of a sign.
fn columns(line: &str, sign: char) -> Vec<usize> {
    line.chars().enumerate().filter(|(_, of)| *of == sign).map(|(column, _)| column).collect()
}

#[test]
fn messages_are_arrows_between_processes() {
    let Some(mut screen) = pair() else { return };
    // The times are those of one of the hosts, which the status line names.
    assert_eq!(screen.status("clock"), "VM3");
    assert!(screen.line_with(", 0 messages between hosts").is_some(), "{}", screen.text());
    screen.type_text("g");
    screen.answer("+16.33s..+16.34s");
    let text = screen.text();
    assert!(screen.line_with(", 8 messages between hosts").is_some(), "{text}");
    let lines = screen.lines();
    let (daemon, client) =
        (chart(&screen, &lines, "sshd             4047"), chart(&screen, &lines, "ssh "));
    // The client's host is below: an arrow to it, and one back.
    let (to, back) = (columns(client, '▼'), columns(daemon, '▲'));
    let corners = [columns(client, '╰'), columns(daemon, '╭')].concat();
    assert_eq!(to.len() + back.len() + corners.len(), 2, "{text}");
    // The row between them is crossed, and the daemon does not send what the kernel confirms.
    assert!(!columns(chart(&screen, &lines, "tcpdump          7420"), '│').is_empty(), "{text}");
    screen.type_text("M");
    assert!(screen.line_with("messages between hosts").is_none(), "{}", screen.text());
    assert!(!screen.text().contains('●'));
}
