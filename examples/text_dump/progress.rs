//! A progress bar for long work whose output nobody watches.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Work that is done before this long needs no bar.
const PATIENCE: Duration = Duration::from_millis(700);

/// Shows bytes read on standard error, if that is a terminal.
pub(crate) struct Progress {
    started: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Shows progress unless the output already does.
    pub(crate) fn new(output_is_terminal: bool) -> Self {
        let wanted = !output_is_terminal && std::io::stderr().is_terminal();
        Progress { started: wanted.then(Instant::now), bar: None }
    }

    /// Tells how far the work is. To be called now and then.
    pub(crate) fn update(&mut self, (done, total): (u64, u64)) {
        let Some(started) = self.started else { return };
        if self.bar.is_none() && started.elapsed() > PATIENCE {
            let template = "{wide_bar} {bytes}/{total_bytes} {eta}";
            let style = ProgressStyle::with_template(template);
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            self.bar = Some(ProgressBar::new(total).with_style(style));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        }
    }

    /// Prints a line without disturbing the bar.
    pub(crate) fn message(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
