//! The modules of the program `lttv`: analyses and outputs.
//!
//! A starting module adds its hooks for events to the batch, and a final hook that
//! writes its results to the session. So the traces are read once for any number of modules.
//!
//! Modules and options have the names that they have in LTTV, if they exist there.

mod analysis;
mod batch_analysis;
mod calls;
mod chosen;
mod core;
mod disk_performance;
mod event_counts;
mod field_list;
mod interrupts;
mod json;
mod latency;
mod memory_maps;
mod precompute;
mod print;
mod rates;
mod statistics;
mod text_dump;
mod text_filter;
mod usage;
mod waits;
mod work;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use lttv_context::framework::{Module, ModuleError, ModuleInfo, Modules, Session};
use lttv_hooks::{Flow, Priority};

pub use analysis::{AnalysisModule, Tables};
pub use field_list::list_fields;
pub use print::Style;
pub use work::Work;

/// The session that modules share.
pub type Host = Session<'static, Work>;

/// The events that the results of a module follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Results {
    /// The module has no results of its own.
    None,
    /// Events that a filter chooses, each printed alone.
    PrintedEvents,
    /// Events that a filter chooses, counted.
    CountedEvents,
    /// All events, whatever a filter chooses.
    AllEvents,
}

/// Modules by name, each with the events that its results follow from.
///
/// ```
/// let modules = lttv::modules::Registry::new()?;
/// assert!(modules.infos().any(|info| info.name == "textDump"));
/// # Ok::<(), lttv_context::framework::ModuleError>(())
/// ```
pub struct Registry {
    pub(crate) modules: Modules<Host>,
    results: BTreeMap<&'static str, Results>,
}

impl Registry {
    /// Returns the modules of the program `lttv`.
    ///
    /// # Errors
    ///
    /// If two modules have the same name.
    pub fn new() -> Result<Self, ModuleError> {
        use Results::{AllEvents, CountedEvents, PrintedEvents};
        let mut all = Registry { modules: Modules::new(), results: BTreeMap::new() };
        all.add(core::Core, Results::None)?;
        all.add(print::Print, Results::None)?;
        all.add(text_filter::TextFilter, Results::None)?;
        all.add(batch_analysis::BatchAnalysis, Results::None)?;
        all.add(text_dump::TextDump, PrintedEvents)?;
        all.add(statistics::Statistics, AllEvents)?;
        all.add(precompute::Precompute, AllEvents)?;
        all.add(interrupts::module(), AllEvents)?;
        all.add(disk_performance::module(), AllEvents)?;
        all.add(latency::module(), AllEvents)?;
        all.add(memory_maps::module(), AllEvents)?;
        all.add(calls::module(), AllEvents)?;
        all.add(waits::dep_analysis(), AllEvents)?;
        all.add(waits::critical_path(), AllEvents)?;
        all.add(usage::module(), AllEvents)?;
        all.add(event_counts::module(), CountedEvents)?;
        all.add(rates::module(), CountedEvents)?;
        Ok(all)
    }

    /// Adds a module. The modules that it requires may be added later.
    ///
    /// # Errors
    ///
    /// If there is already a module of this name.
    pub fn add(
        &mut self,
        module: impl Module<Host> + 'static,
        results: Results,
    ) -> Result<(), ModuleError> {
        let name = module.info().name;
        self.modules.add(module)?;
        self.results.insert(name, results);
        Ok(())
    }

    /// Iterates over the descriptions of all modules, in the order in which they were added.
    pub fn infos(&self) -> impl ExactSizeIterator<Item = ModuleInfo> {
        self.modules.infos()
    }

    /// Returns the modules of these names, with the events that their results follow from.
    pub(crate) fn results(&self, names: &[String]) -> Vec<(String, Results)> {
        let of = |name: &String| self.results.get(&**name).copied().unwrap_or(Results::None);
        names.iter().map(|name| (name.clone(), of(name))).collect()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("results", &self.results).finish_non_exhaustive()
    }
}

/// Adds a function that writes results at the end of the session. Functions of the same
/// priority are called in the order of their modules. An error makes the exit status 1.
pub fn at_end<E: Into<Box<dyn Error>>>(
    host: &mut Host,
    priority: Priority,
    write: impl Fn(&mut Host) -> Result<(), E> + 'static,
) {
    host.after.add(priority, move |host: &mut Host| {
        let failure = write(host).err();
        host.data.failures.extend(failure.map(Into::into));
        Flow::Continue(())
    });
}
