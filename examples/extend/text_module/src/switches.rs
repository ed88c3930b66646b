//! The module `switches`: how often each program was switched to, and why it was switched away.

use std::collections::BTreeMap;

use lttv::modules::{AnalysisModule, Host, Tables};
use lttv_common::kernel_trace;
use lttv_common::table::Table;
use lttv_context::attributes::Kind;
use lttv_context::framework::{Failure, ModuleInfo, OptionSpec};
use lttv_context::{EventCall, Handle, Subscription};
use lttv_hooks::Priority;
use lttv_state::kernel::KernelState;

/// Numbers of switches, by the name of the program.
type Switches = BTreeMap<String, Counts>;

#[derive(Default)]
struct Counts {
    to: u64,
    preempted: u64,
    waiting: u64,
}

/// Returns the module.
pub(crate) fn module() -> AnalysisModule {
    let info = ModuleInfo {
        name: "switches",
        summary: "How often each program got a CPU, and why it lost it",
        description: "Counts the switches to the threads of each program, those away from threads \
                      that could run on, and those away from threads that wait.",
        requires: &["batchAnalysis"],
    };
    let least = OptionSpec::new("least", Kind::UInt, "Leave out programs with fewer switches");
    AnalysisModule::new(info, attach).with_options([least.value_name("N").default_value("1")])
}

/// Adds hooks to the read, and returns what makes the table after it.
fn attach(host: &mut Host) -> Result<Option<Tables>, Failure> {
    let least = host.options.get::<u64>("least")?.copied().unwrap_or(1);
    let work = &mut host.data;
    if !work.has(&kernel_trace::STATS) {
        return Ok(None);
    }
    let kernel = work.kernel_at_begin();
    let switches = work.batch.context.attach_data(Switches::new());
    // Before the state includes the event, the thread runs that is switched away.
    let before = Subscription::to("sched_switch").priority(Priority::FIRST);
    work.on_chosen(before, move |call| {
        let state = call.event.field("prev_state").and_then(|state| state.as_i64());
        if let Some(counts) = of_running(call, kernel, switches) {
            match state {
                Some(0) => counts.preempted += 1,
                _ => counts.waiting += 1,
            }
        }
    });
    // Afterwards, the one that it is switched to.
    work.on_chosen("sched_switch", move |call| {
        if let Some(counts) = of_running(call, kernel, switches) {
            counts.to += 1;
        }
    });
    Ok(Some(Box::new(move |host| Ok(vec![table(host, switches, least)]))))
}

/// Returns the counts of the program that runs on the CPU of an event.
fn of_running<'c>(
    call: &'c mut EventCall<'_, 'static>,
    kernel: Handle<KernelState>,
    switches: Handle<Switches>,
) -> Option<&'c mut Counts> {
    let state = &call.extensions[kernel];
    let process = state.running_at(call)?;
    let name = state.trace(call.trace.index())?.name(process.name()).to_owned();
    Some(call.extensions[switches].entry(name).or_default())
}

fn table(host: &Host, switches: Handle<Switches>, least: u64) -> Table {
    let all = &host.data.batch.context.extensions()[switches];
    let rows: Vec<_> = all.iter().filter(|(_, counts)| counts.to >= least).collect();
    Table::of("switches", "Switches by program", &rows)
        .text("command", "COMMAND", |row| row.0.as_str())
        .integer("to", "TO", |row| row.1.to)
        .integer("preempted", "PREEMPTED", |row| row.1.preempted)
        .integer("waiting", "WAITING", |row| row.1.waiting)
        .build()
}
