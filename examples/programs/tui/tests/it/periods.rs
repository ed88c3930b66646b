//! Periods of the user in the viewer of latencies.

use crate::support::{KERNEL, Screen};
use lttv_common::definitions::{DefineArgs, Definitions};
use lttv_context::Traceset;
use lttv_filter::Environment;
use lttv_state::analysis::read;
use lttv_state::latency::{Family, LatencyAnalysis, Settings};
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use ratatui::crossterm::event::KeyCode;

fn definitions(file: &str) -> Definitions {
    let path = format!("{}/../../definitions/{file}", env!("CARGO_MANIFEST_DIR"));
    DefineArgs { define: vec![path] }.read().expect("definitions")
}

#[test]
fn periods_of_a_file_are_a_family_of_the_viewer() {
    let definitions = definitions("writes.toml");
    let traceset = Traceset::open(KERNEL).expect("a trace");
    let (traces, environment) = (traceset.traces(), Environment::new());
    let all = definitions.with_served(traces, &environment).expect("they fit");
    let settings = Settings::new().periods(all.periods, traces, &environment).expect("they fit");
    let latency = read(&traceset).run(LatencyAnalysis::new(settings)).output;
    let count = latency.traces()[0].total(Family::Period).durations().count();
    assert!(count > 20, "{count}");
    let mut session = Session::open(&[KERNEL]).expect("a trace");
    session.define(definitions).expect("they fit");
    let mut screen = Screen::of(session, 150, 40, Look::Mono);
    // All of the trace, and the viewer of latencies alone.
    screen.type_text("0v");
    let line = screen.line_with("  Latencies").expect("a list of kinds");
    let before = line.split("  Latencies").next().expect("a number");
    let number = before.split(|c: char| !c.is_ascii_digit()).rfind(|of| !of.is_empty());
    let number: usize = number.expect("a number").parse().expect("a number");
    (1..number).for_each(|_| screen.press(KeyCode::Down));
    screen.press(KeyCode::Enter);
    screen.type_text("m");
    let title = Family::Period.title();
    for _ in 0..Family::LATENCIES.len() {
        if screen.text().contains(&format!("{title}: ")) {
            break;
        }
        screen.type_text("V");
    }
    let text = screen.text();
    assert!(text.contains(&format!("{title}: {count}, 50 %")), "{count}\n{text}");
    assert!(text.contains("write file="), "{text}");
}

#[test]
fn definitions_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wrong.toml");
    let text = "[[span]]\nname = \"a\"\nbegin = \"sched_switch\"\nend = \"sched_switch\"\n\
                key = [\"next_tidd\"]\n";
    std::fs::write(&file, text).expect("a file");
    let wrong = DefineArgs { define: vec![file.display().to_string()] }.read().expect("a form");
    let mut session = Session::open(&[KERNEL]).expect("a trace");
    let error = session.define(wrong).expect_err("there is no such field").to_string();
    assert!(error.contains("wrong.toml:5:") && error.contains("did you mean"), "{error}");
}
