//! The latency viewer: the distribution and the longest durations of a family in the time window.

use ltt_read::Timestamp;
use lttv_common::bar::bar;
use lttv_requests::{Owner, SubmitError};
use lttv_state::kernel::needs::Need;
use lttv_state::latency::{Family, Latency, LatencyFigures, Sample, ThreadId, TraceLatency};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Position, Rect};

use super::put;
use super::table::{Column, Table, TableRow};
use crate::keys::{Key, Move};
use crate::model::row_search::{Found, RowQuery, Step};
use crate::session::Session;
use crate::time_text::{length, seconds};
use crate::traceset_change::TracesetChange;
use crate::viewer::{Contents, Fault, Pane, Reply, Setup, Spot, Viewer, ViewerAction, ViewerKind};

/// The durations of a family that end in the time window: a histogram, and a list of the longest.
#[derive(Debug)]
pub struct LatencyView {
    owner: Owner,
    family: Family,
    table: Table,
    /// The begin and the end of each row.
    times: Vec<(Timestamp, Timestamp)>,
    total: LatencyFigures,
    /// The events that all traces lack for the family.
    missing: Option<String>,
    /// The number of the result that is shown; `None` if it must be filled in.
    seen: Option<u64>,
    progress: f64,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    ViewerKind::new("latency", "Latencies", |setup| Box::new(LatencyView::new(setup)))
        .summary("distribution and longest of waits, system calls, interrupts, disk requests")
        .action(ViewerAction::new(END, "go to its end", [Key::new(KeyCode::Enter)]))
        .action(ViewerAction::new(BEGIN, "go to its begin", [Key::char('i')]))
        .action(ViewerAction::new(NEXT, "next family", [NEXT_KEY]))
        .action(ViewerAction::new(BACK, "family before", [BACK_KEY]))
}

const END: &str = "end";
const BEGIN: &str = "begin";
const NEXT: &str = "next-family";
const BACK: &str = "previous-family";
const NEXT_KEY: Key = Key::char('V');
const BACK_KEY: Key = Key::new(KeyCode::Backspace);

/// The number of families.
const FAMILIES: usize = Family::LATENCIES.len();

const COLUMNS: [Column; 7] = [
    ("THREAD", 16),
    ("TID", 7),
    ("DURATION", 10),
    ("SUBJECT", 24),
    ("BY", 16),
    ("CPU", 3),
    ("BEGIN", 20),
];

/// The width of the histogram beside the list.
const HISTOGRAM: u16 = 44;
/// The width of the bars in it.
const BARS: u64 = 14;

impl LatencyView {
    fn new(setup: &mut Setup<'_>) -> Self {
        LatencyView {
            owner: setup.owner(),
            family: Family::WakeUp,
            table: Table::default(),
            times: Vec::new(),
            total: LatencyFigures::default(),
            missing: None,
            seen: None,
            progress: 0.0,
        }
    }

    /// Shows the durations of a result.
    fn fill(&mut self, latency: &Latency) {
        let family = self.family;
        let traces = latency.traces();
        let mut samples: Vec<(&TraceLatency, &Sample)> =
            traces.iter().flat_map(|of| of.top(family).iter().map(move |one| (of, one))).collect();
        samples.sort_by_key(|(_, sample)| std::cmp::Reverse(sample.duration()));
        self.times = samples.iter().map(|(_, sample)| (sample.begin, sample.end)).collect();
        self.table.fill(samples.iter().map(|(of, sample)| row(of, sample)));
        self.total = LatencyFigures::default();
        traces.iter().for_each(|of| self.total.add(&of.total(family)));
        let lacks = |of: &TraceLatency| !of.missing(family).is_empty();
        let first = traces.first().filter(|_| traces.iter().all(lacks));
        self.missing = first.map(|of| Need::list(of.missing(family)));
    }

    fn set_family(&mut self, family: Family) {
        self.family = family;
        self.table = Table::default();
        self.seen = None;
    }

    /// Draws the histogram: the bins of the longest durations, if there is no room for all.
    fn draw_histogram(&self, pane: Pane, buffer: &mut Buffer) {
        let Pane { area, look, .. } = pane;
        let bins: Vec<_> = self.total.durations().log2_bins().collect();
        let most = bins.iter().map(|bin| bin.1).max().unwrap_or(0);
        let heading = format!("{:>10} {:>10} {:>7}", "FROM", "TO", "COUNT");
        put(buffer, area, area.x, area.y, &heading, look.faint());
        let rows = usize::from(area.height.saturating_sub(1));
        let bins = &bins[bins.len().saturating_sub(rows)..];
        for ((range, count), y) in bins.iter().zip(area.y + 1..area.bottom()) {
            let bounds = format!("{:>10} {:>10}", length(range.start), length(range.end));
            let line = format!("{bounds} {count:>7} {}", bar(*count, most, BARS));
            put(buffer, area, area.x, y, &line, look.faint());
        }
    }
}

/// Returns the row of a duration.
fn row(of: &TraceLatency, sample: &Sample) -> TableRow {
    let name_of = |id: ThreadId| match of.thread(id) {
        Some(thread) => of.name(thread.name).to_owned(),
        None if id == ThreadId::INTERRUPT => "interrupt".to_owned(),
        None => String::new(),
    };
    let tid = of.thread(sample.thread).map(|thread| thread.tid);
    let (thread, subject) = (name_of(sample.thread), of.subject_of(sample));
    let cells = vec![
        thread.clone(),
        tid.map_or(String::new(), |tid| tid.to_string()),
        length(sample.duration()),
        subject.clone(),
        name_of(sample.by),
        sample.cpu.to_string(),
        seconds(sample.begin),
    ];
    TableRow {
        cells,
        name: format!("{thread} {subject}"),
        ids: tid.map(i64::from).into_iter().collect(),
        busy: sample.duration(),
        identity: vec![sample.end.as_ns() as u64, sample.cpu.into()],
    }
}

impl Viewer for LatencyView {
    fn height(&self) -> (u16, u16) {
        (4, 2)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        session.wants_window_latency(self.owner);
        self.progress = session.window_latency_progress();
        let of = session.window_latency();
        let number = of.as_ref().map_or(0, |of| of.number);
        if self.seen.replace(number) != Some(number) {
            match of {
                Some(of) => self.fill(&of.found.latency),
                None => self.fill(&Latency::default()),
            }
        }
        self.table.fit(list(area));
        Ok(())
    }

    fn resume(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        session.resume_window_latency();
        Ok(())
    }

    fn reset(&mut self, _: &mut Session, _: &TracesetChange) {
        self.set_family(self.family);
    }

    fn draw(&self, _: &Session, pane: Pane, buffer: &mut Buffer) {
        let right = list(pane.area);
        if right.x > pane.area.x {
            let left = Rect { width: HISTOGRAM, ..pane.area };
            self.draw_histogram(Pane { area: left, ..pane }, buffer);
        }
        self.table.draw(&COLUMNS, Pane { area: right, ..pane }, buffer);
    }

    fn spot(&self, _: &Session, area: Rect, at: Position) -> Spot {
        Spot::of_row(self.table.row(list(area), at))
    }

    fn go(&mut self, to: Move, _: &mut Session) -> Result<bool, SubmitError> {
        self.table.go(to);
        Ok(true)
    }

    fn act(&mut self, action: &str, session: &mut Session) -> Result<Reply, SubmitError> {
        let at = Family::LATENCIES.iter().position(|of| *of == self.family).unwrap_or(0);
        let times = self.table.selected().and_then(|row| self.times.get(row));
        match (action, times) {
            (NEXT, _) => self.set_family(Family::LATENCIES[(at + 1) % FAMILIES]),
            (BACK, _) => self.set_family(Family::LATENCIES[(at + FAMILIES - 1) % FAMILIES]),
            (BEGIN, Some((begin, _))) => session.tab.set_time(*begin, None),
            (END, Some((_, end))) => session.tab.set_time(*end, None),
            _ => {}
        }
        Ok(Reply::Done)
    }

    fn has_named_rows(&self) -> bool {
        true
    }

    fn find_row(&mut self, query: &RowQuery, step: Step, _: &mut Session) -> Option<Found> {
        self.table.find(query, step)
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![("family", self.family.key().to_owned())]
    }

    fn restore(&mut self, name: &str, value: &str, _: &mut Session) -> Result<(), Fault> {
        if name == "family" {
            let found = Family::LATENCIES.iter().find(|of| of.key() == value);
            let unknown = || Fault::new(format!("there is no family `{value}`"));
            self.set_family(*found.ok_or_else(unknown)?);
        }
        Ok(())
    }

    fn selected_text(&self, _: &Session) -> Option<String> {
        self.table.selected_text()
    }

    fn contents(&self, _: &Session) -> Contents {
        Contents::Table(self.table.contents("latency", &COLUMNS))
    }

    fn note(&self, _: &Session) -> String {
        let title = self.family.title();
        if let Some(missing) = &self.missing {
            return format!("{title}: {missing} was not recorded ({NEXT_KEY}: next family)");
        }
        let durations = self.total.durations();
        let percentile = |p| durations.percentile(p).map_or(String::new(), length);
        let figures = match durations.count() {
            0 => "none ended in the window".to_owned(),
            count => format!(
                "{count}, 50 % {}, 99 % {}, longest {}",
                percentile(50.0),
                percentile(99.0),
                percentile(100.0)
            ),
        };
        format!("{title}: {figures} ({NEXT_KEY}: next family, Enter: go there)")
    }

    fn progress(&self) -> f64 {
        self.progress
    }
}

/// Returns the area of the list: beside the histogram, if there is room for both.
fn list(area: Rect) -> Rect {
    let beside = HISTOGRAM + 1;
    match area.width >= beside + 40 {
        true => Rect { x: area.x + beside, width: area.width - beside, ..area },
        false => area,
    }
}
