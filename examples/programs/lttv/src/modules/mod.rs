//! The modules of the program `lttv`: analyses and outputs.
//!
//! A starting module adds its hooks for events to the batch, and a final hook that
//! writes its results to the session. So the traces are read once for any number of modules.
//!
//! Modules and options have the names that they have in LTTV, if they exist there.

mod batch_analysis;
mod calls;
mod chosen;
mod core;
pub(crate) mod disk_performance;
mod event_counts;
mod field_list;
mod interrupts;
mod json;
mod latency;
mod memory_maps;
mod places;
mod precompute;
mod print;
mod rates;
mod statistics;
mod table;
mod text_dump;
mod text_filter;
mod usage;
mod waits;
mod work;

use std::error::Error;

use lttv_context::framework::{ModuleError, Modules, Session};
use lttv_hooks::{Flow, Priority};

pub use field_list::list_fields;
pub use work::Work;

/// The session that modules share.
pub type Host = Session<'static, Work>;

/// The events that the results of a module follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Results {
    /// The module has no results of its own.
    None,
    /// Events that a filter chooses, each printed alone.
    PrintedEvents,
    /// Events that a filter chooses, counted.
    CountedEvents,
    /// All events, whatever a filter chooses.
    AllEvents,
}

impl Results {
    /// Returns the events that the results of the module with a name follow from.
    fn of(module: &str) -> Self {
        match module {
            "core" | "print" | "textFilter" | "batchAnalysis" => Results::None,
            "textDump" => Results::PrintedEvents,
            "eventCounts" | "rates" => Results::CountedEvents,
            // A module from elsewhere is an analysis, until it is listed here.
            _ => Results::AllEvents,
        }
    }
}

/// Returns all modules of the program `lttv`.
///
/// # Errors
///
/// If two modules have the same name.
pub fn modules() -> Result<Modules<Host>, ModuleError> {
    let mut modules = Modules::new();
    modules.add(core::Core)?;
    modules.add(print::Print)?;
    modules.add(text_filter::TextFilter)?;
    modules.add(batch_analysis::BatchAnalysis)?;
    modules.add(text_dump::TextDump)?;
    modules.add(statistics::Statistics)?;
    modules.add(precompute::Precompute)?;
    modules.add(interrupts::Interrupts)?;
    modules.add(disk_performance::DiskPerformance)?;
    modules.add(latency::Latency)?;
    modules.add(memory_maps::Maps)?;
    modules.add(calls::Calls)?;
    modules.add(waits::DEP_ANALYSIS)?;
    modules.add(waits::CRITICAL_PATH)?;
    modules.add(usage::Usages)?;
    modules.add(event_counts::EventCounts)?;
    modules.add(rates::Rates)?;
    Ok(modules)
}

/// Adds a function that writes results at the end of the session. Functions of the same
/// priority are called in the order of their modules.
fn report_with<E: Into<Box<dyn Error>>>(
    host: &mut Host,
    priority: Priority,
    report: impl Fn(&mut Host) -> Result<(), E> + 'static,
) {
    host.after.add(priority, move |host: &mut Host| {
        let failure = report(host).err();
        host.data.failures.extend(failure.map(Into::into));
        Flow::Continue(())
    });
}
