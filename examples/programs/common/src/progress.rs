//! A progress bar for long work without visible output.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use crate::host;

/// The time after which a bar is shown. Shorter work needs none.
const PATIENCE: Duration = Duration::from_millis(700);

/// The visible bar, which is hidden while lines are written.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// A progress bar of the bytes read, on standard error if that is a terminal. Within another program, the
/// [host] is told instead.
#[derive(Debug)]
pub struct Progress {
    started: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Creates a progress bar, which stays hidden if the output goes to a terminal.
    pub fn new(output_is_terminal: bool) -> Self {
        let wanted = !output_is_terminal && std::io::stderr().is_terminal();
        Progress { started: wanted.then(Instant::now), bar: None }
    }

    /// Updates the bar with the bytes done and in total. Must be called regularly.
    pub fn update(&mut self, now: ltt_read::Progress) {
        self.update_with(|| now);
    }

    /// Updates the bar like [`update`](Self::update), and computes what was done only if a bar is
    /// shown: this asks all tracefiles.
    pub fn update_with(&mut self, now: impl FnOnce() -> ltt_read::Progress) {
        if let Some(host) = host::current() {
            return host.set_progress(now());
        }
        let Some(started) = self.started else { return };
        if self.bar.is_none() && started.elapsed() <= PATIENCE {
            return;
        }
        let ltt_read::Progress { done, total } = now();
        if self.bar.is_none() {
            let template = "{wide_bar} {percent:>3} % of {total_bytes}, {msg} left";
            let style = ProgressStyle::with_template(template);
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            self.bar = Some(ProgressBar::new(total).with_style(style));
            set_shown(self.bar.clone());
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(remaining(started.elapsed(), done, total));
        }
    }
}

/// Calls `work`, such as writing to standard error, while no bar is shown.
pub fn suspended(work: impl FnOnce()) {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match shown {
        Some(bar) => bar.suspend(work),
        None => work(),
    }
}

fn set_shown(bar: Option<ProgressBar>) {
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}

/// Estimates the remaining time, assuming the same speed for the remaining work.
fn remaining(elapsed: Duration, done: u64, total: u64) -> String {
    let rest = total.saturating_sub(done) as f64 / done.max(1) as f64;
    HumanDuration(elapsed.mul_f64(rest.min(1e6))).to_string()
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
            set_shown(None);
        }
    }
}
