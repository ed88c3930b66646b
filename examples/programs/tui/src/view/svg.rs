//! A screen as an SVG picture.

use lttv_common::escape::xml;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

/// The default colours of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Light text on a dark background.
    #[default]
    Dark,
    /// Dark text on a light background.
    Light,
}

/// The colours of background, text and faint text.
type Colors = (&'static str, &'static str, &'static str);

impl Theme {
    const fn colors(self) -> Colors {
        match self {
            Theme::Dark => ("#1c1f24", "#d0d0d0", "#8a9099"),
            Theme::Light => ("#ffffff", "#202020", "#6a6a6a"),
        }
    }
}

/// A theme by which backgrounds are compared.
const DARK: Colors = Theme::Dark.colors();

/// The size of a cell, in pixels.
const WIDTH: f32 = 8.4;
const HEIGHT: f32 = 18.0;
const BARS: &str = "▁▂▃▄▅▆▇█";

/// Draws a screen with a title, with bars as rectangles, so that they do not depend on the font.
pub fn svg(buffer: &Buffer, theme: Theme, title: &str) -> String {
    let theme = theme.colors();
    let area = buffer.area;
    let (width, height) = (f32::from(area.width) * WIDTH, f32::from(area.height) * HEIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
        xml(title),
        theme.0
    );
    for y in 0..area.height {
        let cells: Vec<&Cell> = (0..area.width).map(|x| &buffer[(x, y)]).collect();
        let runs = |is_same: fn(&Cell, &Cell) -> bool| cells.chunk_by(move |a, b| is_same(a, b));
        let top = f32::from(y) * HEIGHT;
        let mut x = 0.0;
        for run in runs(|a, b| colors(a, DARK).1 == colors(b, DARK).1) {
            let length = run.len() as f32 * WIDTH;
            if let Some(ground) = colors(run[0], theme).1 {
                svg += &rect(x, top, length, HEIGHT, &ground);
            }
            x += length;
        }
        x = 0.0;
        for run in runs(|a, b| a.fg == b.fg && a.modifier == b.modifier && bar(a) == bar(b)) {
            let length = run.len() as f32 * WIDTH;
            let fill = colors(run[0], theme).0;
            match bar(run[0]) {
                Some(eighths) => {
                    let bar = HEIGHT * eighths as f32 / 8.0;
                    svg += &rect(x, top + HEIGHT - bar, length, bar, &fill);
                }
                None => {
                    let text: String = run.iter().map(|cell| cell.symbol()).collect();
                    svg += &words(&text, x, top + 13.5, &fill, run[0]);
                }
            }
            x += length;
        }
    }
    svg + "</svg>"
}

fn rect(x: f32, y: f32, width: f32, height: f32, fill: &str) -> String {
    format!(
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>\n"
    )
}

/// Draws a text. Parts with more than one blank between them are elements of their own, since viewers
/// may put blanks together.
fn words(text: &str, x: f32, y: f32, fill: &str, cell: &Cell) -> String {
    let bold = if cell.modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let mut svg = String::new();
    let mut column = 0;
    for part in text.split("  ") {
        let blanks = part.chars().take_while(|c| *c == ' ').count();
        let shown = part.trim();
        if !shown.is_empty() {
            let x = x + (column + blanks) as f32 * WIDTH;
            // The explicit length keeps columns aligned with any font.
            let length = shown.chars().count() as f32 * WIDTH;
            let shown = xml(shown);
            svg += &format!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\" \
                 fill=\"{fill}\"{bold}>{shown}</text>\n"
            );
        }
        column += part.chars().count() + 2;
    }
    svg
}

/// Returns the height of a bar in eighths, if the cell contains one.
fn bar(cell: &Cell) -> Option<usize> {
    BARS.chars().position(|bar| cell.symbol() == bar.to_string()).map(|at| at + 1)
}

/// Returns the colours of text and background; `None` for the default background.
fn colors(cell: &Cell, (ground, text, faint): Colors) -> (String, Option<String>) {
    let fg = color(cell.fg).unwrap_or_else(|| text.to_owned());
    let bg = color(cell.bg);
    if cell.modifier.contains(Modifier::REVERSED) {
        return (bg.unwrap_or_else(|| ground.to_owned()), Some(fg));
    }
    (if cell.modifier.contains(Modifier::DIM) { faint.to_owned() } else { fg }, bg)
}

fn color(color: Color) -> Option<String> {
    match color {
        Color::Rgb(r, g, b) => Some(format!("#{r:02x}{g:02x}{b:02x}")),
        Color::White => Some("#ffffff".to_owned()),
        Color::Red => Some("#e06c75".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    /// Viewers that put blanks together would move what follows them.
    #[test]
    fn columns_are_elements_of_their_own() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 30, 1));
        buffer.set_string(1, 0, "a b   c  d", Style::new());
        let svg = svg(&buffer, Theme::Dark, "columns");
        let texts: Vec<&str> = svg.lines().filter(|line| line.starts_with("<text")).collect();
        let expected = [("8.4", "25.2", "a b"), ("58.8", "8.4", "c"), ("84.0", "8.4", "d")];
        assert_eq!(texts.len(), expected.len(), "{svg}");
        for (line, (x, length, text)) in texts.iter().zip(expected) {
            assert!(line.contains(&format!("x=\"{x}\"")), "{line}");
            assert!(line.contains(&format!("textLength=\"{length}\"")), "{line}");
            assert!(line.ends_with(&format!(">{text}</text>")), "{line}");
        }
    }
}
