//! Selection of threads on the command line.

use std::fmt;

use lttv_state::kernel::Tid;
use lttv_state::waits::{TimelineId, WaitGraph};

/// The options that select threads of a wait graph.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ThreadArgs {
    /// Show these threads in detail
    #[arg(long, value_name = "TID,…", value_delimiter = ',')]
    pub tid: Vec<Tid>,

    /// Show the threads of these processes in detail
    #[arg(long, value_name = "PID,…", value_delimiter = ',')]
    pub pid: Vec<Tid>,

    /// Show the threads with these commands in detail; `*` stands for any text
    #[arg(long, value_name = "COMMAND,…", value_delimiter = ',')]
    pub comm: Vec<String>,

    /// Show at most this many segments of each critical path; 0 for all
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
}

/// The threads to show in detail.
#[derive(Debug)]
pub(crate) struct Select<'a> {
    tids: &'a [Tid],
    pids: &'a [Tid],
    commands: &'a [String],
}

impl<'a> Select<'a> {
    pub(crate) fn new(args: &'a ThreadArgs) -> Self {
        Select { tids: &args.tid, pids: &args.pid, commands: &args.comm }
    }

    /// Returns the selected threads of a graph. The idle tasks are left out unless some threads are
    /// selected.
    pub(crate) fn threads(&self, graph: &WaitGraph) -> Vec<TimelineId> {
        let all = graph.timelines().filter(|(id, of)| match of.is_idle() {
            true => !self.is_everything() && self.has(Some(0), of.pid(), "idle"),
            false => self.has(Some(of.tid()), of.pid(), graph.command(*id)),
        });
        all.map(|(id, _)| id).collect()
    }

    /// Returns `true` if no thread is selected: all are shown, without details.
    pub(crate) fn is_everything(&self) -> bool {
        self.tids.is_empty() && self.pids.is_empty() && self.commands.is_empty()
    }

    /// Returns `true` if a thread with these properties is selected. Options of different kinds
    /// must all select it.
    pub(crate) fn has(&self, tid: Option<Tid>, pid: Option<Tid>, command: &str) -> bool {
        let in_list = |list: &[Tid], id: Option<Tid>| {
            list.is_empty() || id.is_some_and(|id| list.contains(&id))
        };
        let is_named = |pattern: &String| is_match(pattern, command);
        in_list(self.tids, tid)
            && in_list(self.pids, pid)
            && (self.commands.is_empty() || self.commands.iter().any(is_named))
    }
}

impl fmt::Display for Select<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = |list: &[Tid]| list.iter().map(Tid::to_string).collect::<Vec<_>>().join(", ");
        let kinds = [
            ("TID", ids(self.tids)),
            ("PID", ids(self.pids)),
            ("the command", self.commands.join(", ")),
        ];
        let given = kinds.iter().filter(|(_, list)| !list.is_empty());
        let texts: Vec<String> = given.map(|(kind, list)| format!("{kind} {list}")).collect();
        f.write_str(&texts.join(" and "))
    }
}

/// Returns `true` if a pattern, in which `*` stands for any text, matches a whole text.
fn is_match(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let Some((middle, end)) = rest.rsplit_once('*') else { return text.ends_with(rest) };
    // The first place of each part leaves most of the text to the others.
    for part in middle.split('*') {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, text) in [
            ("cat", "cat"),
            ("*", ""),
            ("c*", "cat"),
            ("*t", "cat"),
            ("c*t", "ct"),
            ("kworker/*:*H", "kworker/0:1H"),
            ("*a*a*", "xaya"),
            ("**", "x"),
        ] {
            assert!(is_match(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("cat", "cats"), ("c*", "acat"), ("a*a", "a"), ("*a*a*", "xay")] {
            assert!(!is_match(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn different_options_must_all_select() {
        let (tid, comm) = (vec![5, 6], vec!["cat".to_owned()]);
        let args = ThreadArgs { tid, comm, ..ThreadArgs::default() };
        let select = Select::new(&args);
        assert!(select.has(Some(6), None, "cat") && !select.has(Some(7), None, "cat"));
        assert!(!select.has(Some(6), None, "dog") && !select.has(None, None, "cat"));
        assert_eq!(select.to_string(), "TID 5, 6 and the command cat");
    }
}
