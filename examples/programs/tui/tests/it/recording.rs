//! Traces that are being recorded: a live session of a relay daemon in a thread, and a directory
//! that grows.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::daemon::Daemon;
use crate::quarters::copy_quarters;
use crate::scripted::{end_session, greeting, metadata_reply, stream, streams};
use crate::support::tmux::{PROGRAM, Tmux};
use crate::support::{KERNEL, Screen};
use ltt_read::{Trace, TracefileIndex};
use lttv_common::follow::{FollowArgs, Place};
use lttv_tui::look::Look;
use lttv_tui::session::{Recording, Session};
use ratatui::crossterm::event::KeyCode;

/// A time limit that is longer than any machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The number of tracefiles of the bundled kernel trace.
const TRACEFILES: u64 = 16;

/// Returns a daemon with a session `s` of the host `vm`: the bundled kernel trace, whose packets
/// arrive one by one, each after some questions. The session is not over.
fn open_kernel(questions: usize) -> Daemon {
    let directory = Path::new(KERNEL).join("kernel");
    let trace = Trace::open(&directory).expect("a trace");
    let mut relay = greeting(13);
    let names = trace.tracefiles().iter().map(|tracefile| tracefile.name());
    let all = names.zip(1..).map(|(name, id)| stream(id, false, name));
    let all: Vec<_> = all.chain([stream(99, true, "metadata")]).collect();
    relay.reply(3, Some(5), streams(&all));
    let metadata = fs::read(directory.join("metadata")).expect("metadata");
    relay.reply(6, Some(99), metadata_reply(&metadata));
    for (at, tracefile) in trace.tracefiles().iter().enumerate() {
        let (id, bytes) = (at as u64 + 1, tracefile.parts().next().expect("a file").1);
        for entry in trace.packet_index(TracefileIndex(at)).entries() {
            (0..questions).for_each(|_| relay.index(id, 2, 0, 0));
            let begin = entry.offset as usize;
            let packet = bytes[begin..begin + entry.size as usize].to_vec();
            relay.packet(id, entry.offset, 0, packet);
        }
        (0..questions).for_each(|_| relay.index(id, 2, 0, 0));
    }
    Daemon::start(relay)
}

/// Ends the session of a daemon.
fn end(daemon: &Daemon) {
    let streams: Vec<u64> = (1..=TRACEFILES).collect();
    end_session(&mut daemon.relay.lock().expect("no panic"), &streams);
}

/// Returns the address of the session of such a daemon, which ends after its last packet.
fn kernel(questions: usize) -> String {
    let daemon = open_kernel(questions);
    end(&daemon);
    daemon.session("s")
}

/// Opens a session that follows a place.
fn follow(place: &str, args: FollowArgs) -> Session {
    let paths = [place.into()];
    let recording = Place::new(&paths, args).map(|at| {
        let recording = at.recording(&paths, args, None).expect("a recording");
        recording.expect("traces that are being recorded")
    });
    let start = Instant::now();
    let session =
        Session::follow("s".to_owned(), recording.expect("valid"), || start.elapsed() > PATIENCE);
    session.expect("a recording").expect("an event in time")
}

/// Draws and serves until a condition holds.
fn wait(screen: &mut Screen, what: &str, is_true: impl Fn(&Screen) -> bool) {
    let start = Instant::now();
    while !is_true(screen) {
        screen.app.service(Duration::from_millis(5));
        screen.draw();
        assert!(start.elapsed() < PATIENCE, "{what}:\n{}", screen.text());
        thread::sleep(Duration::from_millis(2));
    }
}

fn has_ended(screen: &Screen) -> bool {
    screen.app.session().recording() == Some(Recording::Ended)
}

/// Returns the lines of the screen but those with the tabs, the status and messages.
fn viewers(screen: &Screen) -> Vec<String> {
    let lines = screen.lines();
    lines[1..lines.len() - 2].to_vec()
}

#[test]
fn a_recorded_session_looks_like_the_trace_in_the_end() {
    let session = follow(&kernel(3), FollowArgs { from_start: true, ..Default::default() });
    let mut screen = Screen::of(session, 150, 44, Look::Mono);
    assert_eq!(screen.app.session().recording(), Some(Recording::Slides));
    wait(&mut screen, "the session ends", has_ended);
    let mut batch = Screen::open(150, 44, Look::Mono);
    for screen in [&mut screen, &mut batch] {
        screen.settle();
        screen.press(KeyCode::Char('0'));
        assert!(screen.text().contains("6087 in all"), "{}", screen.text());
        // From the first event of each CPU on, its state is known.
        screen.go_to("03:56:56.4..03:56:56.5");
    }
    // The tracefiles have the same numbers, and the trace the same name.
    assert_eq!(viewers(&screen), viewers(&batch));
}

/// Opens a recorded session whose last events are final when it ends.
fn open_session() -> (Daemon, Screen) {
    let daemon = open_kernel(150);
    let args = FollowArgs { from_start: true, ..Default::default() };
    let session = follow(&daemon.session("s"), args);
    (daemon, Screen::of(session, 150, 44, Look::Mono))
}

#[test]
fn the_window_slides() {
    let (daemon, mut screen) = open_session();
    screen.type_text("++");
    let before = screen.window();
    assert!(screen.app.session().slides(), "a change of the width lets it slide");
    end(&daemon);
    wait(&mut screen, "the window slides", |screen| screen.window().0 > before.0);
    let width = |window: (i64, i64)| window.1 - window.0;
    assert_eq!(width(screen.window()), width(before));
    // The last event of the list is the last one that is final.
    wait(&mut screen, "the list follows", |screen| {
        let last = screen.app.session().span().end;
        last.as_ns() > before.1
    });
}

#[test]
fn the_window_stays_where_the_user_moved_it() {
    let (daemon, mut screen) = open_session();
    screen.type_text("h");
    assert_eq!(screen.app.session().recording(), Some(Recording::Stays));
    let stays = screen.window();
    end(&daemon);
    wait(&mut screen, "the recording goes on", has_ended);
    assert_eq!(screen.window(), stays);
    screen.type_text("G");
    assert!(screen.text().contains("these traces are not being recorded"), "{}", screen.text());
}

#[test]
fn filters_apply_to_what_comes() {
    let session = follow(&kernel(4), FollowArgs { from_start: true, ..Default::default() });
    let mut screen = Screen::of(session, 150, 44, Look::Mono);
    screen.type_text("/");
    screen.answer("event.name == \"sched_switch\"");
    wait(&mut screen, "the session ends", has_ended);
    screen.settle();
    screen.press(KeyCode::Char('0'));
    assert!(screen.text().contains("497 in all"), "{}", screen.text());
    let rows = screen.lines().into_iter().skip_while(|line| !line.contains("TRACEFILE")).skip(1);
    assert!(rows.take(5).all(|row| row.contains(" sched_switch ")), "{}", screen.text());
}

#[test]
fn traces_of_a_recording_are_neither_added_nor_removed() {
    let session = follow(&kernel(2), FollowArgs { from_start: true, ..Default::default() });
    let mut screen = Screen::of(session, 150, 44, Look::Mono);
    screen.type_text("O");
    screen.answer(KERNEL);
    assert!(screen.text().contains("none can be added or removed"), "{}", screen.text());
}

#[test]
fn a_directory_is_followed() {
    let (from, dir) = (Path::new(KERNEL).join("kernel"), tempfile::tempdir().expect("a directory"));
    copy_quarters(&from, &dir.path().join("kernel"), 2);
    let args = FollowArgs { follow: true, silence: 0.2, from_start: false };
    let session = follow(dir.path().to_str().expect("text"), args);
    let mut screen = Screen::of(session, 150, 44, Look::Mono);
    // The trace may be shorter than the first window.
    let end = |screen: &Screen| screen.app.session().reader.final_until();
    let before = end(&screen);
    copy_quarters(&from, &dir.path().join("kernel"), 4);
    wait(&mut screen, "the trace grows", |screen| end(screen) > before);
    wait(&mut screen, "the histogram counts", |screen| screen.text().contains(" in all"));
}

#[test]
fn a_live_session_in_a_terminal() {
    let address = kernel(6);
    let command =
        format!("{PROGRAM} --no-layout --from-start {address}; echo ENDED with $?; sleep 60");
    let Some(tmux) = Tmux::start("live", (150, 44), &command) else { return };
    tmux.wait_for("recording slides");
    tmux.keys(&["G"]);
    tmux.wait_for("recording window stays");
    tmux.keys(&["G"]);
    let screen = tmux.wait_for("recording ended");
    assert!(screen.contains("the recording has ended"), "{screen}");
    tmux.keys(&["0"]);
    tmux.wait_for("6087 in all");
    tmux.keys(&["q"]);
    tmux.wait_for("ENDED with 0");
}
