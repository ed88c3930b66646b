//! Colours and signs for terminals of different capabilities.

use lttv_common::paint::{Color as Rgb, Paint};
use lttv_common::settings;
use ratatui::style::{Color, Modifier, Style};

use self::palette::{
    BLACK, COUNT, ERROR, ERROR_GROUND, FAINT, MARKER, MESSAGE, NOTE, NOTE_COLUMN, NOTE_INDEX,
    OVERFLOW, RANGE, RANGE_INDEX,
};
use crate::model::cells::Cell;

mod palette;

/// The colours of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Look {
    /// No colours: states have different signs.
    Mono,
    /// The 16 colours of the terminal's theme.
    Sixteen,
    /// 256 colours, of which 216 form a cube.
    Indexed,
    /// All RGB colours.
    #[default]
    True,
}

impl Look {
    /// Creates a look from environment variables: `NO_COLOR`, `COLORTERM`, `TERM`.
    pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
        let term = variable("TERM").unwrap_or_default();
        if is_set("NO_COLOR") || term == "dumb" || term.starts_with("vt1") {
            return Look::Mono;
        }
        let colors = variable("COLORTERM").unwrap_or_default();
        match () {
            () if colors.contains("truecolor") || colors.contains("24bit") => Look::True,
            () if term.contains("256color") || term.contains("direct") => Look::Indexed,
            () => Look::Sixteen,
        }
    }

    /// Converts a colour to the nearest one of the terminal.
    pub fn color(self, rgb: Rgb) -> Color {
        match self {
            Look::Mono => Color::Reset,
            Look::True => Color::Rgb(rgb.0, rgb.1, rgb.2),
            Look::Indexed => Color::Indexed(nearest_indexed(rgb)),
            Look::Sixteen => nearest_of_sixteen(rgb),
        }
    }

    /// Returns the colour of a state in a chart: that of the user's settings, if there is one.
    pub fn paint(self, paint: Paint) -> Color {
        if let Some(chosen) = settings::current().palette().get(paint) {
            return self.color(chosen);
        }
        match self {
            Look::Sixteen => palette::of_sixteen(paint),
            _ => self.color(palette::color(paint)),
        }
    }

    /// Returns the style of the background of charts.
    pub fn canvas(self) -> Style {
        match self {
            Look::Mono => Style::new(),
            _ => Style::new().fg(self.color(Rgb(255, 255, 255))).bg(self.color(BLACK)),
        }
    }

    /// Returns the sign and style of a cell in a chart's row.
    pub fn cell(self, cell: Option<Cell>) -> (char, Style) {
        let Some(Cell { paint, share }) = cell else { return (' ', self.canvas()) };
        if self == Look::Mono {
            return (paint.sign(), Style::new());
        }
        // Never the full height, so that rows stay separate.
        let bar = match paint {
            _ if share > 0 => BARS[usize::from(share).div_ceil(37).clamp(1, 7) - 1],
            Paint::WaitCpu | Paint::WaitFork | Paint::Pending => BARS[1],
            _ => BARS[0],
        };
        (bar, self.canvas().fg(self.paint(paint)))
    }

    /// Returns the sign and style of a paint in a legend.
    pub fn legend(self, paint: Paint) -> (char, Style) {
        let share = if paint.is_active() { 255 } else { 0 };
        self.cell(Some(Cell { paint, share }))
    }

    /// Returns the sign and style of a histogram bar of this height, in eighths of a line.
    pub fn bar(self, eighths: usize) -> (char, Style) {
        let sign = match (self, eighths) {
            (_, 0) => ' ',
            (Look::Mono, _) => '#',
            (_, 8..) => '█',
            (_, eighths) => BARS[eighths - 1],
        };
        (sign, self.canvas().fg(self.color(COUNT)))
    }

    /// Returns the sign and style of a histogram bar that extends above the chart. `is_top` is
    /// true for its topmost line.
    pub fn overflow(self, is_top: bool) -> (char, Style) {
        let sign = match (self, is_top) {
            (Look::Mono, true) => '^',
            (Look::Mono, false) => '#',
            _ => '█',
        };
        (sign, self.canvas().fg(self.color(OVERFLOW)))
    }

    /// Returns the style of the current time in a chart.
    pub fn marker(self) -> Style {
        match self {
            Look::Mono => Style::new().add_modifier(Modifier::REVERSED),
            Look::Sixteen => Style::new().bg(Color::DarkGray),
            _ => Style::new().bg(self.color(MARKER)),
        }
    }

    /// Returns the style of a selected time range in a chart.
    pub fn range(self) -> Style {
        match self {
            Look::Mono => Style::new().add_modifier(Modifier::UNDERLINED),
            Look::Sixteen => Style::new().bg(Color::Blue),
            Look::Indexed => Style::new().bg(Color::Indexed(RANGE_INDEX)),
            _ => Style::new().bg(self.color(RANGE)),
        }
    }

    /// Returns the sign and style of a note.
    pub fn note(self) -> (char, Style) {
        let style = Style::new().add_modifier(Modifier::BOLD);
        match self {
            Look::Mono => ('*', style),
            Look::Sixteen => ('◆', style.fg(Color::Black).bg(Color::Yellow)),
            _ => ('◆', self.note_column().patch(style.fg(self.color(NOTE)))),
        }
    }

    /// Returns the style of a chart's column in which there is a note.
    pub fn note_column(self) -> Style {
        match self {
            Look::Mono => Style::new(),
            Look::Sixteen => Style::new().bg(Color::Yellow),
            Look::Indexed => Style::new().bg(Color::Indexed(NOTE_INDEX)),
            _ => Style::new().bg(self.color(NOTE_COLUMN)),
        }
    }

    /// Returns the sign and style of a chart's column in which something was lost.
    pub fn loss(self) -> (char, Style) {
        ('!', self.error())
    }

    /// Returns the style of messages between hosts in a chart.
    pub fn message(self) -> Style {
        let style = Style::new().add_modifier(Modifier::BOLD);
        match self {
            Look::Mono => style,
            Look::Sixteen => style.fg(Color::LightYellow),
            _ => style.fg(self.color(MESSAGE)),
        }
    }

    /// Returns the style of a selected row.
    pub fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Returns the style of a heading.
    pub fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Returns the style of the heading with the focus.
    pub fn focus(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED)
    }

    /// Returns the style of less important text. Terminals dim text so much that it cannot be
    /// read on some backgrounds, so it has no style of its own.
    pub fn faint(self) -> Style {
        Style::new()
    }

    /// Returns the style of less important text on the background of charts.
    pub fn faint_on_canvas(self) -> Style {
        match self {
            Look::Mono => Style::new(),
            Look::Sixteen => self.canvas().fg(Color::Gray),
            _ => self.canvas().fg(self.color(FAINT)),
        }
    }

    /// Returns the style of errors.
    pub fn error(self) -> Style {
        let style = Style::new().add_modifier(Modifier::BOLD);
        match self {
            Look::Mono => style,
            _ => style.fg(self.color(ERROR)).bg(self.color(ERROR_GROUND)),
        }
    }
}

/// Bars of one to seven eighths of a line.
const BARS: [char; 7] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇'];

fn distance(a: Rgb, b: Rgb) -> u32 {
    let of = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    of(a.0, b.0) + of(a.1, b.1) + of(a.2, b.2)
}

/// Returns the nearest colour of the cube and the greys; the first 16 belong to the theme.
fn nearest_indexed(rgb: Rgb) -> u8 {
    (16..=255).min_by_key(|index| distance(of_index(*index), rgb)).unwrap_or(16)
}

/// Returns a colour of the cube or a grey.
fn of_index(index: u8) -> Rgb {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    match index {
        16..=231 => {
            let at = usize::from(index - 16);
            Rgb(STEPS[at / 36], STEPS[at / 6 % 6], STEPS[at % 6])
        }
        _ => {
            let grey = 8 + 10 * index.saturating_sub(232);
            Rgb(grey, grey, grey)
        }
    }
}

fn nearest_of_sixteen(rgb: Rgb) -> Color {
    const ALL: [(Color, Rgb); 16] = [
        (Color::Black, Rgb(0, 0, 0)),
        (Color::Red, Rgb(128, 0, 0)),
        (Color::Green, Rgb(0, 128, 0)),
        (Color::Yellow, Rgb(128, 128, 0)),
        (Color::Blue, Rgb(0, 0, 128)),
        (Color::Magenta, Rgb(128, 0, 128)),
        (Color::Cyan, Rgb(0, 128, 128)),
        (Color::Gray, Rgb(192, 192, 192)),
        (Color::DarkGray, Rgb(96, 96, 96)),
        (Color::LightRed, Rgb(255, 64, 64)),
        (Color::LightGreen, Rgb(0, 255, 0)),
        (Color::LightYellow, Rgb(255, 255, 0)),
        (Color::LightBlue, Rgb(64, 128, 255)),
        (Color::LightMagenta, Rgb(255, 0, 255)),
        (Color::LightCyan, Rgb(0, 255, 255)),
        (Color::White, Rgb(255, 255, 255)),
    ];
    ALL.into_iter().min_by_key(|(_, of)| distance(*of, rgb)).map_or(Color::Reset, |of| of.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(variables: &[(&str, &str)]) -> Look {
        Look::of_environment(|name| {
            variables.iter().find(|(of, _)| *of == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_determines_the_look() {
        assert_eq!(look(&[("TERM", "xterm")]), Look::Sixteen);
        assert_eq!(look(&[("TERM", "screen-256color")]), Look::Indexed);
        assert_eq!(look(&[("TERM", "xterm"), ("COLORTERM", "truecolor")]), Look::True);
        assert_eq!(look(&[("COLORTERM", "truecolor"), ("NO_COLOR", "1")]), Look::Mono);
        assert_eq!(look(&[("COLORTERM", "truecolor"), ("NO_COLOR", "")]), Look::True);
    }

    #[test]
    fn states_of_different_colours_stay_different() {
        for look in [Look::Indexed, Look::True] {
            for legend in [&Paint::OF_PROCESSES[..], &Paint::OF_RESOURCES] {
                let mut seen: Vec<_> = legend.iter().map(|p| look.paint(*p)).collect();
                seen.sort_by_key(|color| format!("{color:?}"));
                seen.dedup();
                // Only busy CPUs and unknown states have the same colour, white.
                assert!(seen.len() + 1 >= legend.len(), "{look:?} {seen:?}");
            }
        }
    }
}
