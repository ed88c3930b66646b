//! The keys and their actions: one table, for the program and for its help.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The action of a key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    /// Ends the program.
    Quit,
    /// Shows or hides the page with keys and colours.
    Help,
    /// Opens the filter of the tab for editing.
    EditFilter,
    /// Opens the filter of the event list for editing.
    EditOwnFilter,
    /// Asks for a time to go to.
    GoToTime,
    /// Asks for the directory of a trace, to open it in another tab.
    Open,
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
    /// Shows only the viewer with the focus, or all viewers again.
    Maximise,
    /// Moves by this many rows in the viewer with the focus.
    Rows(isize),
    /// Moves by this many pages in the viewer with the focus.
    Pages(isize),
    /// Moves to the first or the last row.
    Edge {
        /// `true` for the last row.
        last: bool,
    },
    /// Performs the action of the selected row.
    Enter,
    /// Moves the time window by this multiple of its width.
    Scroll(f64),
    /// Multiplies the width of the time window.
    Zoom(f64),
    /// Shows the whole traceset.
    Fit,
    /// Moves the current time by this many columns.
    Step(isize),
    /// Searches for the next or previous event of the selected process.
    OfProcess {
        /// `true` for the previous event.
        back: bool,
    },
    /// Shows or hides rows without activity in the window.
    Inactive,
    /// Switches to another order of rows.
    Sort,
    /// Redraws the screen.
    Redraw,
    /// Stops a search.
    Stop,
    /// Suspends the program until a shell continues it.
    Suspend,
}

/// A key, its modifiers and action, and the keys and the text in the help. Entries without
/// text have no line in the help.
type Line = (KeyCode, KeyModifiers, Action, &'static str, &'static str);

const NONE: KeyModifiers = KeyModifiers::NONE;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
const CONTROL: KeyModifiers = KeyModifiers::CONTROL;

const fn line(code: KeyCode, action: Action, keys: &'static str, text: &'static str) -> Line {
    (code, NONE, action, keys, text)
}

const fn more(code: KeyCode, action: Action) -> Line {
    (code, NONE, action, "", "")
}

use Action::*;
use KeyCode::Char;

/// The table. The first matching entry applies.
const LINES: &[Line] = &[
    line(KeyCode::Up, Rows(-1), "↑ ↓ k j", "previous, next row or event"),
    more(Char('k'), Rows(-1)),
    more(KeyCode::Down, Rows(1)),
    more(Char('j'), Rows(1)),
    line(KeyCode::PageUp, Pages(-1), "PgUp PgDn", "previous, next page"),
    more(KeyCode::PageDown, Pages(1)),
    (Char('b'), CONTROL, Pages(-1), "", ""),
    (Char('f'), CONTROL, Pages(1), "", ""),
    line(KeyCode::Home, Edge { last: false }, "Home End", "first, last row or event"),
    more(KeyCode::End, Edge { last: true }),
    line(KeyCode::Enter, Enter, "Enter", "list: select the event's process"),
    line(
        Char('n'),
        OfProcess { back: false },
        "n N",
        "next, previous event of the selected process",
    ),
    more(Char('N'), OfProcess { back: true }),
    (KeyCode::Left, SHIFT, Scroll(-1.0), "", ""),
    (KeyCode::Right, SHIFT, Scroll(1.0), "", ""),
    line(KeyCode::Left, Scroll(-0.1), "← → h l", "move the time window by a tenth"),
    more(Char('h'), Scroll(-0.1)),
    more(KeyCode::Right, Scroll(0.1)),
    more(Char('l'), Scroll(0.1)),
    line(Char('H'), Scroll(-1.0), "H L Shift-← →", "move the time window by its width"),
    more(Char('L'), Scroll(1.0)),
    line(Char('+'), Zoom(0.5), "+ -", "zoom in, out, around the current time"),
    more(Char('='), Zoom(0.5)),
    more(Char('-'), Zoom(2.0)),
    more(Char('_'), Zoom(2.0)),
    line(Char('0'), Fit, "0", "show the whole traceset"),
    line(Char('['), Step(-1), "[ ] { }", "current time: by a column, by ten"),
    more(Char(']'), Step(1)),
    more(Char('{'), Step(-10)),
    more(Char('}'), Step(10)),
    line(Char('g'), GoToTime, "g", "go to a time: seconds, or +seconds from the start"),
    line(Char('/'), EditFilter, "/", "filter: event.name =~ \"sched_*\" && tracefile.cpu == 1"),
    line(Char('\\'), EditOwnFilter, "\\", "filter of the event list only"),
    line(KeyCode::Tab, Focus(1), "Tab Shift-Tab", "next, previous viewer"),
    more(KeyCode::BackTab, Focus(-1)),
    line(Char('1'), Toggle(0), "1 … 7", "show, hide a viewer"),
    more(Char('2'), Toggle(1)),
    more(Char('3'), Toggle(2)),
    more(Char('4'), Toggle(3)),
    more(Char('5'), Toggle(4)),
    more(Char('6'), Toggle(5)),
    more(Char('7'), Toggle(6)),
    line(Char('m'), Maximise, "m", "show only this viewer, or all again"),
    line(Char('a'), Inactive, "a", "show, hide rows without activity in the window"),
    line(Char('s'), Sort, "s", "change the order of rows"),
    line(Char('o'), Open, "o", "open a trace in another tab"),
    line(Char('c'), Clone, "c", "open the same traces in another tab"),
    line(Char('x'), Close, "x", "close the tab"),
    line(Char('>'), OtherTab(1), "< >", "previous, next tab"),
    more(Char('<'), OtherTab(-1)),
    line(KeyCode::Esc, Stop, "Esc", "stop a search"),
    (Char('l'), CONTROL, Redraw, "Ctrl-L Ctrl-Z", "redraw the screen; suspend the program"),
    (Char('z'), CONTROL, Suspend, "", ""),
    (Char('c'), CONTROL, Quit, "", ""),
    line(Char('?'), Help, "?", "show keys and colours"),
    line(Char('q'), Quit, "q", "quit"),
];

/// Returns the action of a key, if it has one.
pub fn action(key: KeyEvent) -> Option<Action> {
    // Shift is a part of characters and of Shift-Tab.
    let modifiers = match key.code {
        Char(_) | KeyCode::BackTab => key.modifiers & (CONTROL | KeyModifiers::ALT),
        _ => key.modifiers,
    };
    let fits = |line: &&Line| line.0 == key.code && line.1 == modifiers;
    LINES.iter().find(fits).map(|line| line.2)
}

/// Iterates over the lines of the help: keys and the text of their action.
pub fn help() -> impl Iterator<Item = (&'static str, &'static str)> {
    LINES.iter().map(|line| (line.3, line.4)).filter(|(keys, _)| !keys.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_is_a_part_of_characters() {
        for (code, expected) in [(KeyCode::BackTab, Focus(-1)), (Char('H'), Scroll(-1.0))] {
            assert_eq!(action(KeyEvent::new(code, SHIFT)), Some(expected));
        }
    }

    #[test]
    fn no_entry_hides_another() {
        for line in LINES {
            assert_eq!(action(KeyEvent::new(line.0, line.1)), Some(line.2), "{line:?}");
        }
    }
}
