//! The statistics viewer: CPU times and numbers of events of the whole traceset or of the time
//! window.

use std::sync::Arc;

use lttv_requests::{Owner, SubmitError};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Position, Rect};

use self::tables::Subject;
use self::tree::TreePane;
use super::needs::{Need, needs};
use super::order_of;
use super::table::Table;
use crate::keys::{Key, Move};
use crate::model::row_order::RowOrder;
use crate::model::row_search::{Found, RowQuery, Step};
use crate::session::{OfWindow, Session, WindowStatistics};
use crate::traceset_change::TracesetChange;
use crate::viewer::{Contents, Fault, Pane, Reply, Setup, Spot, Viewer, ViewerAction, ViewerKind};

mod tables;
mod tree;

/// The statistics of the whole traceset, which are computed in the background, or those of the
/// time window: as a tree with the values of the selected node, and as tables.
#[derive(Debug)]
pub struct StatisticsView {
    owner: Owner,
    scope: Scope,
    part: Part,
    tree: TreePane,
    table: Table,
    /// The number of the statistics that are shown; `None` if they must be filled in.
    seen: Option<u64>,
    progress: f64,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    let summary =
        "times of CPUs and processes, and numbers of events, of the whole traceset or the window";
    ViewerKind::new("statistics", "Statistics", |setup| Box::new(StatisticsView::new(setup)))
        .summary(summary)
        .action(ViewerAction::new("expand", "expand", [ENTER, Key::char(' ')]))
        .action(ViewerAction::new("expand-all", "expand all below", [Key::char('*')]))
        .action(ViewerAction::new("values", "tree or values", [Key::char('V')]))
        .action(ViewerAction::new("part", "tree or tables", [PART]))
        .action(ViewerAction::new(Scope::SETTING, "of all or the window", [SCOPE]))
}

/// The key that shows another part.
const PART: Key = Key::char('S');

/// The key that shows the statistics of the whole traceset or of the time window.
const SCOPE: Key = Key::char('A');

const ENTER: Key = Key::new(KeyCode::Enter);

/// The part of time that the statistics are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The whole traceset.
    All,
    /// The time window.
    Window,
}

impl Scope {
    /// The name of the setting, and of the action that changes it.
    const SETTING: &str = "scope";

    fn other(self) -> Self {
        match self {
            Scope::All => Scope::Window,
            Scope::Window => Scope::All,
        }
    }

    /// Returns its short name, which is the value of the setting.
    fn name(self) -> &'static str {
        match self {
            Scope::All => "all",
            Scope::Window => "window",
        }
    }

    /// Returns its words in the heading.
    fn words(self) -> &'static str {
        match self {
            Scope::All => "of the whole traceset",
            Scope::Window => "of the window",
        }
    }
}

/// A part of the viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    #[default]
    Tree,
    Table(Subject),
}

impl Part {
    /// All parts, in the order in which a key shows them.
    const ALL: [Part; 4] = [
        Part::Tree,
        Part::Table(Subject::Processes),
        Part::Table(Subject::Cpus),
        Part::Table(Subject::Events),
    ];

    /// Returns the order of its rows at first.
    fn order(self) -> RowOrder {
        match self {
            Part::Table(Subject::Processes | Subject::Events) => RowOrder::Busiest,
            Part::Tree | Part::Table(Subject::Cpus) => RowOrder::Number,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Part::Tree => "tree",
            Part::Table(Subject::Processes) => "processes",
            Part::Table(Subject::Cpus) => "CPUs",
            Part::Table(Subject::Events) => "events",
        }
    }
}

impl StatisticsView {
    fn new(setup: &mut Setup<'_>) -> Self {
        StatisticsView {
            owner: setup.owner(),
            scope: Scope::All,
            part: Part::default(),
            tree: TreePane::default(),
            table: Table::default(),
            seen: None,
            progress: 0.0,
        }
    }

    /// Requests the statistics of the time window, and returns those that there are.
    fn of_window(&self, session: &mut Session) -> Option<Arc<OfWindow<WindowStatistics>>> {
        session.wants_window_statistics(self.owner);
        session.window_statistics()
    }

    /// Returns `true` if the statistics of a number are not those that are shown.
    fn is_new(&mut self, number: u64) -> bool {
        self.seen.replace(number) != Some(number)
    }
}

impl Viewer for StatisticsView {
    fn height(&self) -> (u16, u16) {
        (4, 2)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        self.progress = match self.scope {
            Scope::All => {
                session.wants_statistics();
                session.background_progress()
            }
            Scope::Window => session.window_statistics_progress(),
        };
        match (self.part, self.scope) {
            (Part::Tree, Scope::All) => {
                session.wants_statistics_tree();
                let (number, tree) = session.statistics_tree();
                if self.is_new(number) {
                    self.tree.set(tree);
                }
            }
            (Part::Tree, Scope::Window) => {
                let of = self.of_window(session);
                if self.is_new(of.as_ref().map_or(0, |of| of.number)) {
                    self.tree.set(of.map_or_else(Arc::default, |of| of.found.tree.clone()));
                }
            }
            (Part::Table(subject), Scope::All) => {
                let (number, statistics) = session.statistics();
                if self.is_new(number) {
                    let all = statistics.iter().flat_map(|all| subject.rows(all));
                    self.table.fill(all);
                }
            }
            (Part::Table(subject), Scope::Window) => {
                let of = self.of_window(session);
                if self.is_new(of.as_ref().map_or(0, |of| of.number)) {
                    self.table.fill(of.iter().flat_map(|of| subject.rows(&of.found.statistics)));
                }
            }
        }
        self.tree.fit(area);
        self.table.fit(area);
        Ok(())
    }

    fn resume(&mut self, session: &mut Session) -> Result<(), SubmitError> {
        session.resume_window_statistics();
        Ok(())
    }

    fn reset(&mut self, _: &mut Session, _: &TracesetChange) {
        self.tree = TreePane::default();
        self.table = Table::new(self.table.order());
        self.seen = None;
    }

    fn draw(&self, session: &Session, pane: Pane, buffer: &mut Buffer) {
        match self.part {
            Part::Tree => self.tree.draw(session, pane, buffer),
            Part::Table(subject) => self.table.draw(subject.columns(), pane, buffer),
        }
    }

    fn spot(&self, session: &Session, area: Rect, at: Position) -> Spot {
        match self.part {
            Part::Tree => self.tree.spot(session, area, at),
            Part::Table(_) => Spot::of_row(self.table.row(area, at)),
        }
    }

    fn go(&mut self, to: Move, _: &mut Session) -> Result<bool, SubmitError> {
        match self.part {
            Part::Tree => self.tree.go(to),
            Part::Table(_) => self.table.go(to),
        }
        Ok(true)
    }

    fn act(&mut self, action: &str, session: &mut Session) -> Result<Reply, SubmitError> {
        match (action, self.part) {
            (Scope::SETTING, _) => {
                // The statistics of the window are no longer needed, or not yet requested.
                session.cancel(&[self.owner]);
                session.resume_window_statistics();
                self.scope = self.scope.other();
                self.seen = None;
            }
            ("part", part) => {
                let at = Part::ALL.into_iter().position(|other| other == part).unwrap_or(0);
                self.part = Part::ALL[(at + 1) % Part::ALL.len()];
                self.seen = None;
                self.table = Table::new(self.part.order());
            }
            (action, Part::Tree) => self.tree.act(action),
            _ => {}
        }
        Ok(Reply::Done)
    }

    fn has_named_rows(&self) -> bool {
        self.part != Part::Tree
    }

    fn find_row(&mut self, query: &RowQuery, step: Step, _: &mut Session) -> Option<Found> {
        self.table.find(query, step)
    }

    fn sort_rows(&mut self) {
        self.table.set_order(self.table.order().next_of(&RowOrder::OF_TABLES));
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = vec![("part", self.part.name().to_owned())];
        if self.has_named_rows() {
            settings.push(("order", self.table.order().name().to_owned()));
        }
        if self.scope != Scope::All {
            settings.push((Scope::SETTING, self.scope.name().to_owned()));
        }
        settings
    }

    fn restore(&mut self, name: &str, value: &str, _: &mut Session) -> Result<(), Fault> {
        match name {
            "part" => {
                let part = Part::ALL.into_iter().find(|part| part.name() == value);
                self.part =
                    part.ok_or_else(|| Fault::new(format!("there is no part `{value}`")))?;
                self.table.set_order(self.part.order());
            }
            "order" => self.table.set_order(order_of(value)?),
            Scope::SETTING => {
                let scope = [Scope::All, Scope::Window].into_iter();
                self.scope =
                    scope.into_iter().find(|scope| scope.name() == value).ok_or_else(|| {
                        Fault::new(format!("`{value}` is neither the window nor all"))
                    })?;
            }
            _ => {}
        }
        Ok(())
    }

    fn selected_text(&self, _: &Session) -> Option<String> {
        match self.part {
            Part::Tree => self.tree.selected_text(),
            Part::Table(_) => self.table.selected_text(),
        }
    }

    fn contents(&self, _: &Session) -> Contents {
        Contents::Table(match self.part {
            Part::Tree => self.tree.contents(),
            Part::Table(subject) => self.table.contents(self.part.name(), subject.columns()),
        })
    }

    fn note(&self, session: &Session) -> String {
        let part = self.part.name();
        let needs = match self.part {
            Part::Table(Subject::Processes | Subject::Cpus) => needs(session, Need::CpuTimes),
            Part::Tree | Part::Table(Subject::Events) => None,
        };
        if let Some(needs) = needs {
            return format!("{part}: {needs} ({PART}: other parts)");
        }
        let order = match self.part {
            Part::Tree => String::new(),
            Part::Table(_) => format!(" {}", self.table.order().title()),
        };
        let (words, other) = (self.scope.words(), self.scope.other().name());
        format!("{words}: {part}{order} ({PART}: other parts, {SCOPE}: {other})")
    }

    fn progress(&self) -> f64 {
        self.progress
    }
}
