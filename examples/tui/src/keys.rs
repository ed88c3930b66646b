//! What keys do: one table, for the program and for its help.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    /// End the program.
    Quit,
    /// Show the keys and colours, or no longer.
    Help,
    /// Edit the filter of the tab.
    EditFilter,
    /// Edit the filter of the event list alone.
    EditOwnFilter,
    /// Type a time to go to.
    GoToTime,
    /// Type the directory of a trace for another tab.
    Open,
    /// The same traceset in another tab.
    Clone,
    /// Close the tab.
    Close,
    /// Go so many tabs on, or back.
    OtherTab(isize),
    /// Give another viewer the focus: so many on, or back.
    Focus(isize),
    /// Show the viewer of a number, or no longer.
    Toggle(usize),
    /// Show the viewer that has the focus alone, or all again.
    Maximise,
    /// Go so many rows in the viewer that has the focus.
    Rows(isize),
    /// Go so many pages.
    Pages(isize),
    /// Go to the first row, or the last.
    Edge {
        /// The last.
        last: bool,
    },
    /// Do what the selected row is for.
    Enter,
    /// Move the window by so many times its width.
    Scroll(f64),
    /// Make the window so many times as wide.
    Zoom(f64),
    /// Show all of the traceset.
    Fit,
    /// Move the current time by so many columns.
    Step(isize),
    /// Go to the next event of the selected process, or to the previous one.
    OfProcess {
        /// The previous one.
        back: bool,
    },
    /// Show processes that did nothing in the window too, or no longer.
    Inactive,
    /// Sort rows in another way.
    Sort,
    /// Draw everything anew.
    Redraw,
    /// Stop what is in progress.
    Stop,
    /// Stop the program until a shell continues it.
    Suspend,
}

/// A key, what it does, and how the help calls both. Several lines of one text
/// are one in the help.
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

/// The table. The first line that fits counts.
const LINES: &[Line] = &[
    line(KeyCode::Up, Rows(-1), "↑ ↓ k j", "previous, next row or event"),
    more(Char('k'), Rows(-1)),
    more(KeyCode::Down, Rows(1)),
    more(Char('j'), Rows(1)),
    line(KeyCode::PageUp, Pages(-1), "PgUp PgDn", "a page of them"),
    more(KeyCode::PageDown, Pages(1)),
    (Char('b'), CONTROL, Pages(-1), "", ""),
    (Char('f'), CONTROL, Pages(1), "", ""),
    line(KeyCode::Home, Edge { last: false }, "Home End", "the first, the last"),
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
    line(Char('H'), Scroll(-1.0), "H L Shift-← →", "by all of it"),
    more(Char('L'), Scroll(1.0)),
    line(Char('+'), Zoom(0.5), "+ -", "zoom in, out, around the current time"),
    more(Char('='), Zoom(0.5)),
    more(Char('-'), Zoom(2.0)),
    more(Char('_'), Zoom(2.0)),
    line(Char('0'), Fit, "0", "all of the traceset"),
    line(Char('['), Step(-1), "[ ] { }", "current time: by a column, by ten"),
    more(Char(']'), Step(1)),
    more(Char('{'), Step(-10)),
    more(Char('}'), Step(10)),
    line(Char('g'), GoToTime, "g", "go to a time: seconds, or +seconds from the begin"),
    line(Char('/'), EditFilter, "/", "filter: event.name =~ \"sched_*\" && tracefile.cpu == 1"),
    line(Char('\\'), EditOwnFilter, "\\", "filter of the event list alone"),
    line(KeyCode::Tab, Focus(1), "Tab Shift-Tab", "next, previous viewer"),
    more(KeyCode::BackTab, Focus(-1)),
    line(Char('1'), Toggle(0), "1 … 7", "show, hide a viewer"),
    more(Char('2'), Toggle(1)),
    more(Char('3'), Toggle(2)),
    more(Char('4'), Toggle(3)),
    more(Char('5'), Toggle(4)),
    more(Char('6'), Toggle(5)),
    more(Char('7'), Toggle(6)),
    line(Char('m'), Maximise, "m", "this viewer alone, or all again"),
    line(Char('a'), Inactive, "a", "show, hide what was idle in all of the window"),
    line(Char('s'), Sort, "s", "sort rows in another way"),
    line(Char('o'), Open, "o", "open a trace in another tab"),
    line(Char('c'), Clone, "c", "the same traces in another tab"),
    line(Char('x'), Close, "x", "close the tab"),
    line(Char('>'), OtherTab(1), "< >", "previous, next tab"),
    more(Char('<'), OtherTab(-1)),
    line(KeyCode::Esc, Stop, "Esc", "stop a search"),
    (
        Char('l'),
        CONTROL,
        Redraw,
        "Ctrl-L Ctrl-Z",
        "draw everything anew; stop until the shell continues it",
    ),
    (Char('z'), CONTROL, Suspend, "", ""),
    (Char('c'), CONTROL, Quit, "", ""),
    line(Char('?'), Help, "?", "these keys, and what colours mean"),
    line(Char('q'), Quit, "q", "quit"),
];

/// What a key means, if it means anything.
pub fn action(key: KeyEvent) -> Option<Action> {
    // Shift is part of the character, and of what Shift-Tab is.
    let modifiers = match key.code {
        Char(_) | KeyCode::BackTab => key.modifiers & (CONTROL | KeyModifiers::ALT),
        _ => key.modifiers,
    };
    let fits = |line: &&Line| line.0 == key.code && line.1 == modifiers;
    LINES.iter().find(fits).map(|line| line.2)
}

/// What there is: the keys, and what they do.
pub fn help() -> impl Iterator<Item = (&'static str, &'static str)> {
    LINES.iter().map(|line| (line.3, line.4)).filter(|(keys, _)| !keys.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_does_not_hide_what_it_is_part_of() {
        for (code, expected) in [(KeyCode::BackTab, Focus(-1)), (Char('H'), Scroll(-1.0))] {
            assert_eq!(action(KeyEvent::new(code, SHIFT)), Some(expected));
        }
    }

    #[test]
    fn no_line_hides_another() {
        for line in LINES {
            assert_eq!(action(KeyEvent::new(line.0, line.1)), Some(line.2), "{line:?}");
        }
    }
}
