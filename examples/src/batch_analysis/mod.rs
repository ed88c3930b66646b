//! Analyses as modules: what the program `batch_analysis` runs without knowing it.
//!
//! When a module is started, it adds its hooks for events to the batch, and one
//! that writes its results into the attributes to what the session does last.

mod event_counts;
mod places;
mod rates;

use lttv_context::attributes::AttributeError;
use lttv_context::batch::{Batch, BatchEnd};
use lttv_context::modules::{ModuleError, Modules};
use lttv_context::session::Session;
use lttv_hooks::{Flow, Priority};

/// What modules share.
pub type Host = Session<'static, Work>;

/// The work of a session: one pass over a traceset.
#[derive(Debug)]
pub struct Work {
    /// What is to be read, and for whom.
    pub batch: Batch<'static>,
    /// What came of it.
    pub end: Option<BatchEnd>,
    /// Why results are missing.
    pub failures: Vec<AttributeError>,
}

impl Work {
    /// A pass that is still to be made.
    pub fn new(batch: Batch<'static>) -> Self {
        Work { batch, end: None, failures: Vec::new() }
    }
}

/// All modules that there are.
///
/// # Errors
///
/// If two have the same name.
pub fn modules() -> Result<Modules<Host>, ModuleError> {
    let mut modules = Modules::new();
    modules.add(event_counts::EventCounts)?;
    modules.add(rates::Rates)?;
    Ok(modules)
}

/// Adds a function that writes results to what the session does last.
fn report_with(
    host: &mut Host,
    priority: Priority,
    report: impl Fn(&mut Host) -> Result<(), AttributeError> + 'static,
) {
    host.after.add(priority, move |host: &mut Host| {
        let failure = report(host).err();
        host.data.failures.extend(failure);
        Flow::Continue(())
    });
}
