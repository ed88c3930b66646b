//! The threads that options select.

use std::fmt;

use lttv_common::report::Usage;
use lttv_filter::{Columns, RecordFilter};
use lttv_state::waits::{TimelineId, WaitGraph};

use super::condition::all_of;
use super::groups::ThreadArgs;

/// A thread, as far as it is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Thread {
    /// The id of the thread; 0 for an idle task.
    pub tid: Option<i64>,
    /// The id of the process.
    pub pid: Option<i64>,
    /// The name; empty if it is unknown.
    pub comm: String,
}

/// The threads that options select.
#[derive(Debug)]
pub(crate) struct ThreadFilter {
    /// The conditions; `None` if all threads are selected.
    filter: Option<RecordFilter<Columns<Thread>>>,
    text: String,
}

impl ThreadFilter {
    /// Creates the filter of options.
    ///
    /// # Errors
    ///
    /// If a value is out of range.
    pub(crate) fn new(args: &ThreadArgs) -> Result<Self, Usage> {
        Self::of(args.conditions(), args.to_string())
    }

    /// Creates the filter of the processes that options select.
    ///
    /// # Errors
    ///
    /// If a value is out of range.
    pub(crate) fn of_processes(args: &ThreadArgs) -> Result<Self, Usage> {
        Self::of(args.conditions_of_process(), args.to_string())
    }

    fn of(conditions: impl Iterator<Item = String>, text: String) -> Result<Self, Usage> {
        let columns = Columns::new()
            .signed("tid", |thread: &Thread| thread.tid)
            .signed("pid", |thread| thread.pid)
            .text("comm", |thread| Some(&thread.comm));
        let compile = |expression| columns.compile(&expression);
        let filter = all_of(conditions)?.map(compile).transpose();
        let filter = filter.map_err(|error| Usage::filter("--tid, --pid, --comm:", &error))?;
        Ok(ThreadFilter { filter, text })
    }

    /// Returns `true` if a thread is selected: options of different kinds must all select it.
    pub(crate) fn has(&self, thread: &Thread) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.matches(thread))
    }

    /// Returns `true` if no thread is selected: all are shown, without details.
    pub(crate) fn is_everything(&self) -> bool {
        self.filter.is_none()
    }

    /// Returns the selected threads of a graph. The idle tasks are left out unless some threads are
    /// selected.
    pub(crate) fn of_graph(&self, graph: &WaitGraph) -> Vec<TimelineId> {
        let all = graph.timelines().filter(|(id, of)| {
            let (is_idle, pid) = (of.is_idle(), of.pid().map(i64::from));
            let (tid, comm) =
                if is_idle { (0, "idle") } else { (of.tid().into(), graph.command(*id)) };
            !(is_idle && self.is_everything())
                && self.has(&Thread { tid: Some(tid), pid, comm: comm.to_owned() })
        });
        all.map(|(id, _)| id).collect()
    }
}

impl fmt::Display for ThreadFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for ThreadArgs {
    /// Describes the selected threads, such as `TID 5, 6 and the name cat`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |ids: &[i32]| ids.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
        let kinds = [
            ("TID", list(&self.tid)),
            ("PID", list(&self.pid)),
            ("the name", self.comm.join(", ")),
        ];
        let given = kinds.iter().filter(|(_, list)| !list.is_empty());
        let texts: Vec<String> = given.map(|(kind, list)| format!("{kind} {list}")).collect();
        f.write_str(&texts.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_options_must_all_select() {
        let (tid, comm) = (vec![5, 6], vec!["c*t".to_owned()]);
        let select = ThreadFilter::new(&ThreadArgs { tid, comm, ..ThreadArgs::default() });
        let select = select.expect("a filter");
        let has = |tid, comm: &str| select.has(&Thread { tid, pid: None, comm: comm.to_owned() });
        assert!(has(Some(6), "cat") && !has(Some(7), "cat"));
        assert!(!has(Some(6), "dog") && !has(None, "cat"));
        assert_eq!(select.to_string(), "TID 5, 6 and the name c*t");
    }
}
