//! Reading of the traces, once for all modules.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lttv_common::progress::Progress;
use lttv_common::report;
use lttv_common::text::clock_text::{ClockStyle, ClockText};
use lttv_common::text_dump::notice_text::Warnings;
use lttv_context::framework::{Failure, Module, ModuleInfo};
use lttv_hooks::{Flow, Priority};

use super::Host;

/// The module `batchAnalysis`, which reads the traces.
#[derive(Debug)]
pub(super) struct BatchAnalysis;

impl Module<Host> for BatchAnalysis {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "batchAnalysis",
            summary: "Read the traces, once for all modules",
            description: "Reads the traces from --begin to --end, in time order, and passes \
                          each event to all modules that use it.",
            requires: &["core", "print", "textFilter", "statistics"],
        }
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        read_once(host);
        Ok(())
    }
}

/// Has the session read the traces, once however many modules call this.
pub(super) fn read_once(host: &mut Host) {
    if !std::mem::replace(&mut host.data.reads, true) {
        host.core.add(Priority::DEFAULT, |host: &mut Host| {
            read(host);
            Flow::Continue(())
        });
    }
}

fn read(host: &mut Host) {
    let work = &mut host.data;
    let traces = work.batch.context.traceset().traces();
    let clock = ClockText::new(ClockStyle::Seconds, work.zone.clone());
    let mut warnings = Warnings::new(clock, traces, &work.names);
    let mut progress = Progress::new(work.output.borrow().is_terminal());
    let cancel = Arc::clone(&work.cancel);
    work.chosen.skip_others(&mut work.batch.context);
    work.end = Some(work.batch.run(|report| {
        progress.update(ltt_read::Progress { done: report.done, total: report.total });
        for notice in &report.notices {
            report::line(&warnings.text(notice));
        }
        match cancel.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }));
}
