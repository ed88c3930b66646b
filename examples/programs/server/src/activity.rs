//! For how long each row of a chart of states was active in a window: which rows there is something to see of.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use ltt_read::Timestamp;
use lttv_state::history::{History, HistoryError};
use lttv_state::kernel::{BlockDeviceMode, CpuMode};
use lttv_state::tree::Quark;
use lttv_state::value::StateValue;
use serde::Serialize;

use crate::dataset::{Dataset, Lane, clamped};
use crate::error::{OutputError, Result};
use crate::outputs::resources;
use crate::outputs::work::Work;
use crate::protocol::parameters::Parameters;

/// The active rows of a window: the ids of entries, with the time in ns. Rows that were never active are missing.
#[derive(Debug, Default, Serialize)]
pub struct Activity {
    /// The time for which threads ran.
    pub threads: BTreeMap<i64, u64>,
    /// The time for which CPUs, handlers of interrupts and disks were busy.
    pub resources: BTreeMap<i64, u64>,
    /// The history is complete: the answer will not change.
    #[serde(rename = "isComplete")]
    pub is_complete: bool,
}

impl Activity {
    /// Answers for the window of the parameters `begin` and `end`, in ns.
    ///
    /// # Errors
    ///
    /// If a parameter is wrong, there is no kernel trace, or the client has gone away.
    pub fn read(parameters: &Parameters, dataset: &Dataset, work: &mut Work<'_>) -> Result {
        let begin = parameters.integer("begin")?.unwrap_or(i64::MIN);
        let end = parameters.integer("end")?.unwrap_or(i64::MAX);
        let kernel = dataset.kernel().ok_or(OutputError::NotOffered)?;
        let Some(history) = kernel.history()? else {
            return work.json(&Activity::default());
        };
        let rows = kernel.thread_rows(&history)?;
        let mut activity = Activity { is_complete: history.is_complete(), ..Activity::default() };
        if begin > end || begin > history.end().as_ns() || end < history.start().as_ns() {
            return work.json(&activity);
        }
        for (trace, cpus) in &rows.cpus {
            for cpu in cpus {
                work.check()?;
                each(&history, cpu.thread, (begin, end), |value, start, ns| {
                    let tid = value.as_i64().filter(|tid| *tid > 0);
                    if let Some(id) = tid.and_then(|tid| rows.find(*trace, tid, start)) {
                        let time = activity.threads.entry(id).or_default();
                        *time = time.saturating_add(ns);
                    }
                })?;
            }
        }
        for trace in kernel.traces() {
            let base = history.tree().child(Quark::ROOT, &trace.0.to_string());
            let Some(base) = base else { continue };
            for (quark, row) in resources::rows(&history, *trace, base)? {
                work.check()?;
                let mut time = 0_u64;
                each(&history, quark, (begin, end), |value, _, ns| {
                    if is_busy(row.lane, value) {
                        time = time.saturating_add(ns);
                    }
                })?;
                if time > 0 {
                    activity.resources.insert(row.id, time);
                }
            }
        }
        work.json(&activity)
    }
}

/// Returns `true` for a value of the first attribute of a resource when it does something.
fn is_busy(lane: Lane, value: StateValue<'_>) -> bool {
    let text = || value.as_str();
    match lane {
        Lane::Cpu { .. } => {
            let mode = text().and_then(|text| text.parse::<CpuMode>().ok());
            mode.is_some_and(|mode| !matches!(mode, CpuMode::Unknown | CpuMode::Idle))
        }
        Lane::Device(_) => {
            let mode = text().and_then(|text| text.parse::<BlockDeviceMode>().ok());
            mode.is_some_and(|mode| {
                !matches!(mode, BlockDeviceMode::Unknown | BlockDeviceMode::Idle)
            })
        }
        _ => value.as_i64().is_some_and(|handlers| handlers > 0),
    }
}

/// Calls `found` with each value that an attribute has in a window, the time from which it has it there, and for
/// how long, in ns.
fn each(
    history: &History,
    quark: Quark,
    (begin, end): (i64, i64),
    mut found: impl FnMut(StateValue<'_>, i64, u64),
) -> std::result::Result<(), HistoryError> {
    let (from, to) = (clamped(history, begin), clamped(history, end));
    let after = Timestamp::from_ns(to.as_ns().saturating_add(1));
    _ = history.for_each_in(&[quark], from..after, 1, |interval| {
        let start = interval.start.as_ns().max(begin);
        let end = interval.end.as_ns().min(end);
        if start < end {
            found(interval.value, start, end.wrapping_sub(start) as u64);
        }
        ControlFlow::Continue(())
    })?;
    Ok(())
}
