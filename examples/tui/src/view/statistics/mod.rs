//! The statistics viewer: CPU times and numbers of events of the whole traceset.

use lttv_requests::SubmitError;
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
use crate::session::Session;
use crate::traceset_change::TracesetChange;
use crate::viewer::{Contents, Fault, Pane, Reply, Spot, Viewer, ViewerAction, ViewerKind};

mod tables;
mod tree;

/// The statistics that are computed in the background over the whole traceset: as a tree with
/// the values of the selected node, and as tables.
#[derive(Debug, Default)]
pub struct StatisticsView {
    part: Part,
    tree: TreePane,
    table: Table,
    /// The number of the statistics that are shown.
    seen: u64,
    progress: f64,
}

/// Returns the kind of the viewer.
pub fn kind() -> ViewerKind {
    let summary = "times of CPUs and processes, and numbers of events, of the whole traceset";
    ViewerKind::new("statistics", "Statistics", |_| Box::<StatisticsView>::default())
        .summary(summary)
        .action(ViewerAction::new("expand", "expand", [ENTER, Key::char(' ')]))
        .action(ViewerAction::new("expand-all", "expand all below", [Key::char('*')]))
        .action(ViewerAction::new("values", "tree or values", [Key::char('V')]))
        .action(ViewerAction::new("part", "tree or tables", [PART]))
}

/// The key that shows another part.
const PART: Key = Key::char('S');

const ENTER: Key = Key::new(KeyCode::Enter);

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

impl Viewer for StatisticsView {
    fn height(&self) -> (u16, u16) {
        (4, 2)
    }

    fn update(&mut self, session: &mut Session, area: Rect) -> Result<(), SubmitError> {
        session.wants_statistics();
        self.progress = session.background_progress();
        match self.part {
            Part::Tree => {
                session.wants_statistics_tree();
                let (number, tree) = session.statistics_tree();
                if std::mem::replace(&mut self.seen, number) != number {
                    self.tree.set(tree);
                }
                self.tree.fit(area);
            }
            Part::Table(subject) => {
                let (number, statistics) = session.statistics();
                if std::mem::replace(&mut self.seen, number) != number
                    && let Some(statistics) = statistics
                {
                    self.table.fill(subject.rows(&statistics).into_iter());
                }
                self.table.fit(area);
            }
        }
        Ok(())
    }

    fn reset(&mut self, _: &mut Session, _: &TracesetChange) {
        self.tree = TreePane::default();
        self.table = Table::new(self.table.order());
        self.seen = 0;
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

    fn act(&mut self, action: &str, _: &mut Session) -> Result<Reply, SubmitError> {
        match (action, self.part) {
            ("part", part) => {
                let at = Part::ALL.into_iter().position(|other| other == part).unwrap_or(0);
                self.part = Part::ALL[(at + 1) % Part::ALL.len()];
                self.seen = 0;
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
        let order = ("order", self.table.order().name().to_owned());
        let part = ("part", self.part.name().to_owned());
        if self.has_named_rows() { vec![part, order] } else { vec![part] }
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
        format!("of the whole traceset: {part}{order} ({PART}: other parts)")
    }

    fn progress(&self) -> f64 {
        self.progress
    }
}
