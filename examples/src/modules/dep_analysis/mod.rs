//! Waits of processes, and the wake-ups that ended them.

#[cfg(test)]
mod agreement;
mod episodes;
mod path;
mod text;
mod waits;

use lttv_context::Handle;
use lttv_context::attributes::{AttributeError, Kind};
use lttv_context::framework::{Failure, Module, ModuleInfo, OptionSpec};
use lttv_hooks::Priority;
use lttv_state::kernel::{KernelState, Serial, Tid};

use self::episodes::Lives;
use super::core::time_option;
use super::print::Style;
use super::{Host, report_with};
use crate::report::Usage;
use crate::time::Times;

/// The module `depAnalysis`.
#[derive(Debug)]
pub(super) struct DepAnalysis;

/// The parameters of the analysis.
#[derive(Debug, Clone, Copy)]
struct Query {
    /// The thread id of the process to report in detail; `None` for a summary of all.
    tid: Option<Tid>,
    /// The time span of the analysis, in ns.
    begin: i64,
    end: i64,
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
                          on. In traces/[TRACE]/dependencies. Keeps all activities in memory.",
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
        let kernel = work.kernel();
        let context = &mut work.batch.context;
        let traces = context.contexts().traces().len();
        let lives = (0..traces).map(|_| Lives::default()).collect::<Vec<_>>();
        let lives = context.attach_data(lives);
        work.on_transitions(
            |_| true,
            move |call| {
                let (trace, time) = (call.trace.index(), call.time().as_ns());
                let event_type = call.event.type_id();
                let tracefile = call.tracefile.number();
                let Some((lives, kernel)) = call.extensions.get_pair_mut(lives, kernel) else {
                    return;
                };
                let transition = kernel.transition(trace, event_type);
                let cpu = kernel.cpu_of_tracefile(tracefile);
                if let (Some(of), Some(state), Some(cpu)) =
                    (lives.get_mut(trace.0), kernel.trace(trace), cpu)
                {
                    of.event(state, transition, cpu, time);
                }
            },
        );
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
        begin: time("dep-time-start")?.map_or(i64::MIN, |time| time.as_ns()),
        end: time("dep-time-end")?.map_or(i64::MAX, |time| time.as_ns()),
        limit: usize::try_from(options.get("dep-limit")?.copied().unwrap_or(100_u64))?,
    })
}

fn report(
    host: &mut Host,
    lives: Handle<Vec<Lives>>,
    kernel: Handle<KernelState>,
    query: Query,
) -> Result<(), AttributeError> {
    let Some((lives, kernel)) =
        host.data.batch.context.extensions_mut().get_pair_mut(lives, kernel)
    else {
        return Ok(());
    };
    lives.iter_mut().for_each(Lives::finish);
    for (number, (of, state)) in lives.iter().zip(kernel.traces()).enumerate() {
        let found = waits::Found::new(of, state, query);
        if host.data.style == Style::Text {
            found.print(number, host.data.output.borrow_mut().buffer());
        } else {
            let traces = host.attributes.subtree_at(&format!("traces/[{number}]/dependencies"))?;
            found.export(&mut host.attributes, traces)?;
        }
    }
    Ok(())
}

/// Iterates over the processes with a thread id, in order of appearance.
fn of_tid(lives: &Lives, tid: Tid) -> impl Iterator<Item = Serial> {
    let all = (0..).map(Serial).zip(&lives.of);
    all.filter(move |(_, life)| life.tid == Some(tid)).map(|(serial, _)| serial)
}
