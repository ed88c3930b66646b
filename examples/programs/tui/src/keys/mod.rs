//! The keys that have the same action in all viewers: one table, for the program and for its
//! help.
//!
//! A viewer adds [its own](crate::viewer::ViewerKind::action). A key is looked up in this
//! order, and the first action found is performed:
//!
//! 1. the [reserved](is_reserved) keys of this table, which viewers cannot take;
//! 2. the keys of the viewer with the focus;
//! 3. the other keys of this table;
//! 4. the keys that visible viewers, from top to bottom, use without the focus.

use ratatui::crossterm::event::KeyCode;

mod key;

pub use key::{Key, NoKey};

/// The action of a key that is not specific to a viewer.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Ends the program.
    Quit,
    /// Shows or hides the page with keys and colours.
    Help,
    /// Opens the filter of the tab for editing.
    EditFilter,
    /// Asks for a TID, a PID or a part of a name, and selects a row that has it.
    FindRow,
    /// Selects the next or previous row that matches the last search.
    FindNextRow {
        /// `true` for the previous row.
        back: bool,
    },
    /// Sorts the rows of a viewer in another order.
    SortRows,
    /// Lists the event types, to show only some of them.
    PickTypes,
    /// Lists the CPUs, to show only some of them.
    PickCpus,
    /// Asks for a time to go to.
    GoToTime,
    /// Asks for the directory of a trace, to open it in another tab.
    Open,
    /// Asks for the directory of a trace, to add it to the traces of the tab.
    AddTrace,
    /// Lets the user pick a trace of the tab, and removes it.
    RemoveTrace,
    /// Opens the same traceset in another tab.
    Clone,
    /// Closes the tab.
    Close,
    /// Moves to another tab, by this many tabs.
    OtherTab(isize),
    /// Moves the focus by this many viewers.
    Focus(isize),
    /// Shows or hides the viewer of this index.
    Toggle(usize),
    /// Lets the user pick a kind, and opens a viewer of it.
    OpenViewer,
    /// Closes the viewer with the focus.
    CloseViewer,
    /// Moves the viewer with the focus by this many visible viewers, down if positive.
    MoveViewer(isize),
    /// Shows only the viewer with the focus, or all viewers again.
    Maximise,
    /// Moves in the viewer with the focus.
    Go(Move),
    /// Moves the time window by this multiple of its width.
    Scroll(f64),
    /// Multiplies the width of the time window.
    Zoom(f64),
    /// Shows the whole traceset.
    Fit,
    /// Lets the time window slide with the recording, or stay.
    Slide,
    /// Shows the time window before the last change of its width, or undoes this.
    WindowHistory {
        /// `true` for the previous window.
        back: bool,
    },
    /// Moves the current time by this many columns.
    Step(isize),
    /// Asks for the name of a file, and writes the contents of the viewer with the focus to it.
    Export,
    /// Shows the messages so far in full.
    Messages,
    /// Copies the selected row to the clipboard of the terminal.
    Copy,
    /// Searches for the next or previous event of the selected process.
    OfProcess {
        /// `true` for the previous event.
        back: bool,
    },
    /// Starts the selection of a time range at the current time, or ends it.
    Select,
    /// Makes the selected time range the time window.
    ZoomToSelection,
    /// Moves the divider between labels and charts by this many columns, right if positive.
    MoveDivider(i16),
    /// Adds a note on the selected range or the current event, or edits the one there.
    EditNote,
    /// Lists all notes, to go to one, edit or remove it.
    ListNotes,
    /// Goes to the next or previous note.
    GoToNote {
        /// `true` for the previous note.
        back: bool,
    },
    /// Redraws the screen.
    Redraw,
    /// Stops all requests and the search of the tab. If there are none, clears the selected time
    /// range.
    Stop,
    /// Continues what was stopped.
    Continue,
    /// Suspends the program until a shell continues it.
    Suspend,
}

/// A movement between the rows of a viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// By this many rows, down if positive.
    Rows(isize),
    /// By this many pages, down if positive.
    Pages(isize),
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// To the row of this index.
    To(usize),
    /// Scrolls without a change of the selection.
    View {
        /// The number of rows, down if positive.
        rows: isize,
        /// The index of the row under the pointer, if any.
        over: Option<usize>,
    },
}

/// A key and its action, and the keys and the text in the help. Entries without text have no
/// line in the help.
type Line = (Key, Action, &'static str, &'static str);

const fn line(code: KeyCode, action: Action, keys: &'static str, text: &'static str) -> Line {
    (Key::new(code), action, keys, text)
}

const fn more(code: KeyCode, action: Action) -> Line {
    (Key::new(code), action, "", "")
}

use Action::*;
use KeyCode::Char;
use Move::{First, Last, Pages, Rows};

/// The table. The first matching entry applies.
const LINES: &[Line] = &[
    line(KeyCode::Up, Go(Rows(-1)), "↑ ↓ k j", "previous, next row"),
    more(Char('k'), Go(Rows(-1))),
    more(KeyCode::Down, Go(Rows(1))),
    more(Char('j'), Go(Rows(1))),
    line(KeyCode::PageUp, Go(Pages(-1)), "PgUp PgDn", "previous, next page"),
    more(KeyCode::PageDown, Go(Pages(1))),
    (Key::control('b'), Go(Pages(-1)), "", ""),
    (Key::control('f'), Go(Pages(1)), "", ""),
    line(KeyCode::Home, Go(First), "Home End", "first, last row"),
    more(KeyCode::End, Go(Last)),
    line(Char('n'), OfProcess { back: false }, "n N", "next event of process"),
    more(Char('N'), OfProcess { back: true }),
    line(Char('F'), FindRow, "F ; , R", "find rows; sort them"),
    more(Char(';'), FindNextRow { back: false }),
    more(Char(','), FindNextRow { back: true }),
    more(Char('R'), SortRows),
    line(KeyCode::Left, Scroll(-0.1), "← → h l a d", "window by a tenth"),
    more(Char('h'), Scroll(-0.1)),
    more(Char('a'), Scroll(-0.1)),
    more(KeyCode::Right, Scroll(0.1)),
    more(Char('l'), Scroll(0.1)),
    more(Char('d'), Scroll(0.1)),
    line(Char('H'), Scroll(-1.0), "H L Shift-←→", "window by its width"),
    more(Char('L'), Scroll(1.0)),
    (Key::shift(KeyCode::Left), Scroll(-1.0), "", ""),
    (Key::shift(KeyCode::Right), Scroll(1.0), "", ""),
    line(Char('w'), Zoom(0.5), "w s + -", "zoom in, out"),
    more(Char('s'), Zoom(2.0)),
    more(Char('+'), Zoom(0.5)),
    more(Char('='), Zoom(0.5)),
    more(Char('-'), Zoom(2.0)),
    more(Char('_'), Zoom(2.0)),
    line(Char('0'), Fit, "0 u U", "all; window back, again"),
    more(Char('u'), WindowHistory { back: true }),
    more(Char('U'), WindowHistory { back: false }),
    line(Char('G'), Slide, "G", "slide with recording"),
    line(Char('['), Step(-1), "[ ] { }", "time by 1, 10 columns"),
    more(Char(']'), Step(1)),
    more(Char('{'), Step(-10)),
    more(Char('}'), Step(10)),
    line(Char('g'), GoToTime, "g", "go to time or FROM..TO"),
    line(Char('.'), Select, ". z", "mark, zoom to a range"),
    more(Char('z'), ZoomToSelection),
    line(Char('('), MoveDivider(-2), "( ) Ctrl-← →", "divider of charts"),
    more(Char(')'), MoveDivider(2)),
    (Key::with_control(KeyCode::Left), MoveDivider(-2), "", ""),
    (Key::with_control(KeyCode::Right), MoveDivider(2), "", ""),
    line(Char('/'), EditFilter, "/ t p", "filter; by type, CPU"),
    more(Char('t'), PickTypes),
    more(Char('p'), PickCpus),
    line(Char('W'), Export, "W y", "export; copy the row"),
    more(Char('y'), Copy),
    line(Char('b'), EditNote, "b B ' \"", "note; list, next, last"),
    more(Char('B'), ListNotes),
    more(Char('\''), GoToNote { back: false }),
    more(Char('"'), GoToNote { back: true }),
    line(KeyCode::Tab, Focus(1), "Tab Shift-Tab", "next, previous viewer"),
    more(KeyCode::BackTab, Focus(-1)),
    line(Char('1'), Toggle(0), "1 … 9 m", "show, hide, only this"),
    more(Char('m'), Maximise),
    more(Char('2'), Toggle(1)),
    more(Char('3'), Toggle(2)),
    more(Char('4'), Toggle(3)),
    more(Char('5'), Toggle(4)),
    more(Char('6'), Toggle(5)),
    more(Char('7'), Toggle(6)),
    more(Char('8'), Toggle(7)),
    more(Char('9'), Toggle(8)),
    line(Char('v'), OpenViewer, "v X", "open, close a viewer"),
    more(Char('X'), CloseViewer),
    line(Char('J'), MoveViewer(1), "J K", "viewer down, up"),
    more(Char('K'), MoveViewer(-1)),
    line(Char('o'), Open, "o c x", "open, copy, close a tab"),
    more(Char('c'), Clone),
    more(Char('x'), Close),
    line(Char('O'), AddTrace, "O D", "add, remove a trace"),
    more(Char('D'), RemoveTrace),
    line(Char('>'), OtherTab(1), "< >", "previous, next tab"),
    more(Char('<'), OtherTab(-1)),
    line(KeyCode::Esc, Stop, "Esc r", "stop; continue reading"),
    more(Char('r'), Continue),
    (Key::control('l'), Redraw, "Ctrl-L Ctrl-Z", "redraw; suspend"),
    (Key::control('z'), Suspend, "", ""),
    (Key::control('c'), Quit, "", ""),
    line(Char('?'), Help, "? ! q", "keys; messages; quit"),
    more(Char('!'), Messages),
    more(Char('q'), Quit),
];

impl Action {
    /// Returns `true` if viewers cannot take the keys of the action: without them a user could
    /// not leave a viewer, or not move in it as in others.
    fn is_reserved(self) -> bool {
        match self {
            Quit | Help | Stop | Redraw | Suspend | OtherTab(_) | Focus(_) | Toggle(_)
            | OpenViewer | CloseViewer | MoveViewer(_) | Maximise | Messages | Go(_) => true,
            EditFilter
            | GoToTime
            | Open
            | AddTrace
            | Continue
            | RemoveTrace
            | Clone
            | Close
            | Scroll(_)
            | Zoom(_)
            | Fit
            | Slide
            | WindowHistory { .. }
            | Export
            | Copy
            | Step(_)
            | OfProcess { .. }
            | Select
            | ZoomToSelection
            | MoveDivider(_)
            | FindRow
            | FindNextRow { .. }
            | SortRows
            | PickTypes
            | PickCpus
            | EditNote
            | ListNotes
            | GoToNote { .. } => false,
        }
    }
}

/// Returns the action of a key, if it has one in all viewers.
pub fn action(key: Key) -> Option<Action> {
    LINES.iter().find(|line| line.0 == key).map(|line| line.1)
}

/// Returns `true` if viewers cannot take a key.
pub fn is_reserved(key: Key) -> bool {
    action(key).is_some_and(Action::is_reserved)
}

/// Iterates over the lines of the help: keys and the text of their action.
pub fn help() -> impl Iterator<Item = (&'static str, &'static str)> {
    LINES.iter().map(|line| (line.2, line.3)).filter(|(keys, _)| !keys.is_empty())
}

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::{KeyEvent, KeyModifiers};

    use super::*;

    #[test]
    fn shift_is_a_part_of_characters() {
        for (code, expected) in [(KeyCode::BackTab, Focus(-1)), (Char('H'), Scroll(-1.0))] {
            let key = KeyEvent::new(code, KeyModifiers::SHIFT);
            assert_eq!(action(key.into()), Some(expected));
        }
    }

    #[test]
    fn no_entry_hides_another() {
        for line in LINES {
            assert_eq!(action(line.0), Some(line.1), "{line:?}");
        }
    }
}
