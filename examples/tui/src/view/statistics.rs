//! The statistics viewer: CPU times and numbers of events of the whole traceset.

use lttv_requests::SubmitError;
use lttv_state::stats::{Statistics, TraceStatistics};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::table::{Column, Table};
use crate::keys::{Key, Move};
use crate::session::Session;
use crate::time_text::length;
use crate::viewer::{Pane, Reply, Viewer, ViewerAction, ViewerKind};

/// The times of CPUs and processes, and the numbers of events, computed in the background
/// over the whole traceset.
#[derive(Debug, Default)]
pub struct StatisticsView {
    table: Table,
    /// The number of the statistics in the rows.
    seen: u64,
    part: Part,
    progress: f64,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    let summary = "times of CPUs and processes, and numbers of events, of the whole traceset";
    ViewerKind::new("statistics", "Statistics", |_| Box::<StatisticsView>::default())
        .summary(summary)
        .action(ViewerAction::new("table", "show another table", [Key::char('s')]))
}

/// A table of the viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    #[default]
    Processes,
    Cpus,
    Events,
}

const PROCESSES: [Column; 9] = [
    ("PROCESS", 20),
    ("PID", 7),
    ("CPU %", 7),
    ("CPU TIME", 10),
    ("USER", 10),
    ("SYSTEM", 10),
    ("INTERRUPTS", 10),
    ("EVENTS", 9),
    ("BLOCKED", 10),
];
const CPUS: [Column; 6] = [
    ("CPU", 8),
    ("BUSY %", 8),
    ("IDLE %", 8),
    ("UNKNOWN %", 9),
    ("INTERRUPTS %", 12),
    ("EVENTS", 10),
];
const EVENTS: [Column; 2] = [("EVENT", 44), ("COUNT", 12)];

fn percent(part: u64, whole: u64) -> String {
    format!("{:.2}", if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 })
}

fn cpus(trace: &TraceStatistics) -> impl Iterator<Item = Vec<String>> {
    trace.cpus().into_iter().map(|cpu| {
        let of = |time| percent(time, trace.time());
        vec![
            format!("CPU {}", cpu.number),
            of(cpu.busy_time),
            of(cpu.idle_time),
            of(cpu.unknown_time),
            of(cpu.interrupt_time),
            cpu.events.to_string(),
        ]
    })
}

fn processes(trace: &TraceStatistics) -> impl Iterator<Item = Vec<String>> {
    let mut sums = trace.processes();
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.cpu_time));
    sums.into_iter().filter_map(|sum| {
        let facts = trace.process_facts().get(sum.process.index())?;
        // The time of idle processes is in the table of CPUs.
        if facts.tid == Some(0) {
            return None;
        }
        Some(vec![
            facts.name.to_string(),
            facts.tid.map_or_else(|| "?".to_owned(), |tid| tid.to_string()),
            percent(sum.cpu_time, trace.time()),
            length(sum.cpu_time),
            length(sum.user_time),
            length(sum.system_time),
            length(sum.interrupt_time),
            sum.events.to_string(),
            length(facts.blocked_time),
        ])
    })
}

fn events(trace: &TraceStatistics) -> impl Iterator<Item = Vec<String>> {
    let mut events: Vec<_> =
        trace.events().into_iter().map(|(name, count)| (count, name.to_owned())).collect();
    events.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    events.into_iter().map(|(count, name)| vec![name, count.to_string()])
}

impl StatisticsView {
    fn fill(&mut self, statistics: &Statistics) {
        let traces = || statistics.traces().iter();
        match self.part {
            Part::Processes => self.table.fill(traces().flat_map(processes)),
            Part::Cpus => self.table.fill(traces().flat_map(cpus)),
            Part::Events => self.table.fill(traces().flat_map(events)),
        }
    }
}

impl Viewer for StatisticsView {
    fn height(&self) -> (u16, u16) {
        (4, 2)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        session.wants_statistics();
        self.progress = session.background_progress();
        let (number, statistics) = session.statistics();
        if self.seen != number
            && let Some(statistics) = statistics
        {
            self.fill(&statistics);
            self.seen = number;
        }
        self.table.fit(area);
        Ok(())
    }

    fn draw(&self, _: &Session, pane: Pane, buffer: &mut Buffer) {
        let columns = match self.part {
            Part::Processes => &PROCESSES[..],
            Part::Cpus => &CPUS,
            Part::Events => &EVENTS,
        };
        self.table.draw(columns, pane, buffer);
    }

    fn go(&mut self, to: Move, _: &mut Session) -> Result<bool, SubmitError> {
        self.table.go(to);
        Ok(true)
    }

    fn act(&mut self, action: &str, _: &mut Session) -> Result<Reply, SubmitError> {
        if action == "table" {
            self.part = match self.part {
                Part::Processes => Part::Cpus,
                Part::Cpus => Part::Events,
                Part::Events => Part::Processes,
            };
            self.seen = 0;
            self.table = Table::default();
        }
        Ok(Reply::Done)
    }

    fn note(&self, _: &Session) -> String {
        let part = match self.part {
            Part::Processes => "processes",
            Part::Cpus => "CPUs",
            Part::Events => "events",
        };
        format!("of the whole traceset: {part} (s: other tables)")
    }

    fn progress(&self) -> f64 {
        self.progress
    }
}
