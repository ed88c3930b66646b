//! The colours of states, and their contrast.
//!
//! LTTV's own colours are for bars as high as a row. Bars of a terminal can be as low as an
//! eighth of a line, so that dark ones would be invisible.

use lttv_common::paint::{Color as Rgb, Paint};
use ratatui::style::Color;

/// The background of charts in any theme: the colours of states are chosen for it.
pub(super) const BLACK: Rgb = Rgb(0, 0, 0);
/// The column of the current time.
pub(super) const MARKER: Rgb = Rgb(0x3a, 0x3a, 0x3a);
/// The selected time range.
pub(super) const RANGE: Rgb = Rgb(0x1c, 0x3a, 0x6e);
/// The sign of a note, and its column.
pub(super) const NOTE: Rgb = Rgb(0xff, 0xb0, 0x00);
pub(super) const NOTE_COLUMN: Rgb = Rgb(0x4a, 0x32, 0x00);
/// The last two among 256 colours: the nearest ones are too light.
pub(super) const RANGE_INDEX: u8 = 17;
pub(super) const NOTE_INDEX: u8 = 52;
/// The bars of the histogram, and those that extend above it.
pub(super) const COUNT: Rgb = Rgb(0x00, 0xd0, 0x00);
pub(super) const OVERFLOW: Rgb = Rgb(0xff, 0xff, 0xff);
/// Messages between hosts.
pub(super) const MESSAGE: Rgb = Rgb(0xff, 0xd1, 0x66);
/// Less important text on the background of charts.
pub(super) const FAINT: Rgb = Rgb(0xbc, 0xbc, 0xbc);
/// Errors.
pub(super) const ERROR: Rgb = Rgb(0xff, 0xff, 0xff);
pub(super) const ERROR_GROUND: Rgb = Rgb(0xaf, 0x00, 0x00);

/// Returns the colour of a state on black: LTTV's, or a lighter one where that is too dark.
pub(super) const fn color(paint: Paint) -> Rgb {
    match paint {
        Paint::Wait => Rgb(0xe8, 0x68, 0x68),
        Paint::WaitCpu => Rgb(0xa0, 0xa0, 0x00),
        Paint::WaitFork => Rgb(0x20, 0xa0, 0x20),
        Paint::Exit => Rgb(0xdf, 0x5f, 0xd7),
        Paint::Zombie => Rgb(0xb0, 0x78, 0xb0),
        Paint::Reading => Rgb(0x68, 0x80, 0xff),
        Paint::Writing => Rgb(0xff, 0x40, 0x40),
        other => other.color(),
    }
}

/// Returns the colour of a state among the 16 of a theme.
pub(super) const fn of_sixteen(paint: Paint) -> Color {
    match paint {
        Paint::Unknown | Paint::Busy => Color::White,
        Paint::Running => Color::Gray,
        Paint::User => Color::LightGreen,
        Paint::Syscall | Paint::Reading => Color::LightBlue,
        Paint::Trap => Color::LightYellow,
        Paint::Irq => Color::LightMagenta,
        Paint::Softirq => Color::LightCyan,
        Paint::Wait | Paint::Writing => Color::LightRed,
        Paint::WaitCpu => Color::Yellow,
        Paint::WaitFork => Color::Green,
        Paint::Exit => Color::Magenta,
        Paint::Zombie => Color::DarkGray,
        Paint::Dead => Color::Black,
        Paint::Idle | Paint::Pending => Color::Gray,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Look, nearest_indexed, of_index};
    use super::*;

    /// The least contrast of text, and that of graphics, by WCAG 2.1.
    const TEXT: f64 = 4.5;
    const GRAPHICS: f64 = 3.0;

    /// The backgrounds of terminals that are assumed for text in the terminal's own colours.
    const GROUNDS: [Rgb; 3] = [BLACK, Rgb(0x1c, 0x1f, 0x24), Rgb(0xff, 0xff, 0xff)];

    /// Returns the relative luminance of a colour, by WCAG 2.1.
    fn luminance(Rgb(red, green, blue): Rgb) -> f64 {
        let of = |channel: u8| match f64::from(channel) / 255.0 {
            part if part <= 0.040_45 => part / 12.92,
            part => ((part + 0.055) / 1.055).powf(2.4),
        };
        0.2126 * of(red) + 0.7152 * of(green) + 0.0722 * of(blue)
    }

    /// Returns the contrast of two colours, from 1 to 21.
    fn contrast(one: Rgb, other: Rgb) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    /// Returns the colours that a terminal shows for one: exactly, and the nearest of 256.
    fn shown(rgb: Rgb) -> [Rgb; 2] {
        [rgb, of_index(nearest_indexed(rgb))]
    }

    /// The backgrounds in charts, as [`shown`].
    fn grounds() -> [(&'static str, [Rgb; 2]); 3] {
        [
            ("marker", shown(MARKER)),
            ("range", [RANGE, of_index(RANGE_INDEX)]),
            ("note", [NOTE_COLUMN, of_index(NOTE_INDEX)]),
        ]
    }

    fn check(name: &str, front: Rgb, ground: [Rgb; 2], least: f64) {
        for (front, ground) in shown(front).into_iter().zip(ground) {
            let found = contrast(front, ground);
            assert!(found >= least, "{name}: {front:?} on {ground:?} has a contrast of {found:.2}");
        }
    }

    #[test]
    fn the_contrast_is_that_of_wcag() {
        let white = Rgb(255, 255, 255);
        assert!((contrast(white, BLACK) - 21.0).abs() < 1e-9);
        // Known values: #777777 on white fails, #767676 passes.
        assert!((contrast(Rgb(0x77, 0x77, 0x77), white) - 4.48).abs() < 0.005);
        assert!((contrast(Rgb(0x76, 0x76, 0x76), white) - 4.54).abs() < 0.005);
    }

    #[test]
    fn each_state_and_its_legend_are_readable() {
        for paint in Paint::ALL.into_iter().filter(|paint| *paint != Paint::Dead) {
            // Legends show them beside text.
            check(paint.label(), color(paint), [BLACK; 2], TEXT);
            for (name, ground) in grounds() {
                let name = format!("{} in the {name}", paint.label());
                check(&name, color(paint), ground, GRAPHICS);
            }
        }
        check("histogram", COUNT, [BLACK; 2], TEXT);
        check("message", MESSAGE, [BLACK; 2], TEXT);
        check("histogram above the chart", OVERFLOW, [BLACK; 2], TEXT);
    }

    #[test]
    fn text_is_readable_on_each_background_of_its_own() {
        let white = Rgb(255, 255, 255);
        for (name, ground) in [("chart", [BLACK; 2])].into_iter().chain(grounds()) {
            check(name, white, ground, TEXT);
            check(&format!("faint text, {name}"), FAINT, ground, TEXT);
        }
        check("note", NOTE, grounds()[2].1, TEXT);
        check("error", ERROR, shown(ERROR_GROUND), TEXT);
        // An error is visible as such on each background: its text is on its own.
        for ground in GROUNDS {
            assert!(contrast(ERROR, ground).max(contrast(ERROR_GROUND, ground)) >= TEXT);
        }
    }

    /// The colours of a terminal's theme are unknown: text outside of charts has no colour of
    /// its own, and is never dimmed.
    #[test]
    fn other_text_has_the_colours_of_the_terminal() {
        for look in [Look::Mono, Look::Sixteen, Look::Indexed, Look::True] {
            for style in [look.faint(), look.heading(), look.selected(), look.focus()] {
                assert_eq!((style.fg, style.bg), (None, None), "{look:?}");
                assert!(!style.add_modifier.contains(ratatui::style::Modifier::DIM), "{look:?}");
            }
        }
    }

    /// The usual theme of 16 colours, that of xterm.
    #[test]
    fn states_are_readable_in_sixteen_colours() {
        let of = |color: Color| match color {
            Color::White => Rgb(255, 255, 255),
            Color::LightGreen => Rgb(0, 255, 0),
            Color::LightBlue => Rgb(0x5c, 0x5c, 0xff),
            Color::LightYellow => Rgb(255, 255, 0),
            Color::LightMagenta => Rgb(255, 0, 255),
            Color::LightCyan => Rgb(0, 255, 255),
            Color::LightRed => Rgb(255, 0, 0),
            Color::Yellow => Rgb(0xcd, 0xcd, 0),
            Color::Green => Rgb(0, 0xcd, 0),
            Color::Magenta => Rgb(0xcd, 0, 0xcd),
            Color::DarkGray => Rgb(0x7f, 0x7f, 0x7f),
            Color::Gray => Rgb(0xe5, 0xe5, 0xe5),
            other => panic!("{other:?}"),
        };
        for legend in [&Paint::OF_PROCESSES[..], &Paint::OF_RESOURCES] {
            let mut seen = Vec::new();
            for paint in legend.iter().copied().filter(|paint| *paint != Paint::Dead) {
                let found = contrast(of(of_sixteen(paint)), BLACK);
                assert!(found >= GRAPHICS, "{} has a contrast of {found:.2}", paint.label());
                seen.push(of_sixteen(paint));
            }
            let all = seen.len();
            seen.sort_by_key(|color| format!("{color:?}"));
            seen.dedup();
            // Idle and pending resources have the same colour and different heights.
            assert!(seen.len() + 1 >= all, "{seen:?}");
        }
    }
}
