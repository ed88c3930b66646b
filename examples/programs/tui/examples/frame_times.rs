//! Measures the times of frames while all seven viewers of a trace fill.
//!
//! ```text
//! cargo run --release -p lttv-tui --example frame_times -- [TRACE]
//! ```
//!
//! A frame is the time from one drawing to the next: it draws, and serves requests in parts,
//! between which it checks for input. Both the elapsed time and the processor time are
//! printed; the latter does not depend on other programs.

use std::time::{Duration, Instant};

use lttv_tui::app::{App, FRAME, SERVICE};
use lttv_tui::keys::{Action, Move};
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let trace = match std::env::args().nth(1) {
        Some(trace) => trace.into(),
        None => lttv_common::bundled::bundled_trace()?,
    };
    let begin = Instant::now();
    let mut app = App::new(Session::open(&[trace])?, Look::True);
    let mut terminal = Terminal::new(TestBackend::new(220, 80))?;
    (4..=6).for_each(|viewer| app.action(Action::Toggle(viewer)));
    terminal.draw(|frame| app.draw(frame))?;
    println!("first frame after {:?}", begin.elapsed());

    for (what, action) in [
        ("all of the traceset", Action::Fit),
        ("zoomed in", Action::Zoom(0.25)),
        ("at the last event", Action::Go(Move::Last)),
    ] {
        app.action(action);
        measure(&mut app, &mut terminal, what)?;
    }
    Ok(())
}

fn measure(
    app: &mut App,
    terminal: &mut Terminal<TestBackend>,
    what: &str,
) -> Result<(), std::convert::Infallible> {
    let (mut frames, mut draws, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    let (mut frames_cpu, mut draws_cpu, mut waits_cpu) = (Vec::new(), Vec::new(), Vec::new());
    let begin = Instant::now();
    loop {
        let (frame, frame_cpu) = (Instant::now(), processor());
        terminal.draw(|frame| app.draw(frame))?;
        let drawn = Instant::now();
        draws.push(frame.elapsed());
        draws_cpu.push(processor() - frame_cpu);
        let mut is_busy = true;
        while is_busy && drawn.elapsed() < FRAME {
            let (wait, wait_cpu) = (Instant::now(), processor());
            is_busy = app.service(SERVICE);
            waits.push(wait.elapsed());
            waits_cpu.push(processor() - wait_cpu);
        }
        frames.push(frame.elapsed());
        frames_cpu.push(processor() - frame_cpu);
        if !is_busy {
            break;
        }
    }
    println!("{what}: {} frames in {:?}", frames.len(), begin.elapsed());
    for (name, wall, cpu) in [
        ("frame", frames, frames_cpu),
        ("drawing", draws, draws_cpu),
        ("serving", waits, waits_cpu),
    ] {
        for (clock, times) in [("wall", wall), ("processor", cpu)] {
            let [middle, most, longest] = percentiles(times);
            println!("  {name}, {clock}: median {middle:?}, p99 {most:?}, longest {longest:?}");
        }
    }
    Ok(())
}

/// Returns the processor time of this thread.
fn processor() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the median, the 99th percentile and the maximum.
fn percentiles(mut times: Vec<Duration>) -> [Duration; 3] {
    times.sort_unstable();
    let at = |part: usize| times.get((times.len() * part / 100).min(times.len() - 1)).copied();
    [at(50), at(99), at(100)].map(Option::unwrap_or_default)
}
