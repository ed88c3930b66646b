//! Waits of processes, and the wake-ups that ended them.

mod text;

use ltt_read::{TimeSpan, Timestamp, TraceIndex};
use lttv_common::kernel_trace;
use lttv_common::report::Usage;
use lttv_common::time::Times;
use lttv_context::Handle;
use lttv_context::attributes::{AttributeError, Kind};
use lttv_context::framework::{Failure, Module, ModuleInfo, OptionSpec};
use lttv_hooks::Priority;
use lttv_state::kernel::{KernelState, Tid};

use self::text::Found;
use super::core::time_option;
use super::print::Style;
use super::{Host, report_with};
use crate::waits::Lives;

/// The module `depAnalysis`.
#[derive(Debug)]
pub(super) struct DepAnalysis;

/// The parameters of the analysis.
#[derive(Debug, Clone, Copy)]
struct Query {
    /// The thread id of the process to report in detail; `None` for a summary of all.
    tid: Option<Tid>,
    /// The time span of the analysis.
    span: TimeSpan,
    /// The greatest number of steps of a path to print.
    limit: usize,
}

impl Module<Host> for DepAnalysis {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "depAnalysis",
            summary: "Waits of processes, and the wake-ups that ended them",
            description: "Reports for each process how long it was running, ready to run, and \
                          blocked. For the process --dep-pid, reports its activities, its waits, \
                          and its critical path: while it was blocked until another process woke \
                          it up, the path continues with the activities of that process, and so \
                          on. In traces/[TRACE]/dependencies. What is open at --begin or --end \
                          counts from there or up to there. Keeps all activities in memory.",
            requires: &["batchAnalysis"],
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        let option = |name, kind, help| OptionSpec::new(name, kind, help);
        vec![
            option("dep-pid", Kind::UInt, "Report this process in detail (by its thread id)")
                .value_name("TID"),
            option("dep-time-start", Kind::Text, "Ignore activities before this time")
                .value_name("TIME"),
            option("dep-time-end", Kind::Text, "Ignore activities after this time")
                .value_name("TIME"),
            option("dep-limit", Kind::UInt, "Print at most N steps of the critical path")
                .value_name("N")
                .default_value("100"),
        ]
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let query = query(host)?;
        let work = &mut host.data;
        if !work.has(&kernel_trace::WAIT) {
            return Ok(());
        }
        let kernel = work.kernel_at_begin();
        let begin = work.window.begin;
        let context = &mut work.batch.context;
        let lives = Lives::of_all(&context.extensions()[kernel], begin);
        let lives = context.attach_data(lives);
        work.on_transitions(|_| true, move |call| Lives::record(call, lives, kernel));
        report_with(host, Priority::DEFAULT, move |host| report(host, lives, kernel, query));
        Ok(())
    }
}

fn query(host: &Host) -> Result<Query, Failure> {
    let options = &host.options;
    let times = Times::new(host.data.zone.clone(), host.data.batch.context.traceset().traces());
    let time = |name| {
        let time = time_option(options, name)?;
        let resolved = time.map(|time| times.resolve(&time)).transpose();
        resolved.map_err(|error| Usage::new(format_args!("--{name}: {error}")))
    };
    let tid = options.get::<u64>("dep-pid")?.map(|tid| Tid::try_from(*tid));
    Ok(Query {
        tid: tid.transpose().map_err(|_| Usage::new("--dep-pid: the thread id is out of range"))?,
        span: TimeSpan {
            start: time("dep-time-start")?.unwrap_or(Timestamp::MIN),
            end: time("dep-time-end")?.unwrap_or(Timestamp::MAX),
        },
        limit: usize::try_from(options.get("dep-limit")?.copied().unwrap_or(100_u64))?,
    })
}

fn report(
    host: &mut Host,
    lives: Handle<Vec<Lives>>,
    kernel: Handle<KernelState>,
    query: Query,
) -> Result<(), AttributeError> {
    let spans: Vec<_> = host.data.spans();
    let Some((lives, kernel)) =
        host.data.batch.context.extensions_mut().get_pair_mut(lives, kernel)
    else {
        return Ok(());
    };
    for (index, (of, state)) in (0..).map(TraceIndex).zip(lives.iter_mut().zip(kernel.traces())) {
        of.finish(spans[index.0].map_or(Timestamp::MIN, |span| span.end));
        of.clip(query.span.start, query.span.end);
        let found = Found::new(of, state, query);
        if host.data.style == Style::Text {
            found.print(index.0, &mut host.data.output.borrow_mut());
        } else {
            let traces =
                host.attributes.subtree_at(&format!("traces/[{}]/dependencies", index.0))?;
            found.export(&mut host.attributes, traces)?;
        }
    }
    Ok(())
}
