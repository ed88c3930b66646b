//! The SVG picture.

use std::fmt::Write;

use lttv_common::escape;
use lttv_common::losses::Losses;
use lttv_common::time::date_text;
use lttv_context::Traceset;
use lttv_filter::Zone;
use lttv_state::counters::{Counter, CounterFigures, Series};

use crate::commands::chart::hatch::{self, Area};
use crate::commands::chart::span::Span;
use crate::commands::chart::{axis, clock_note, trace_label};
use crate::tables::counters::key;

const LEFT: u32 = 190;
const RIGHT: u32 = 110;
const TOP: u32 = 56;
/// The height of a series, and that of its curve.
const ROW: u32 = 52;
const CURVE: u32 = 40;
const GAP: u32 = 26;

/// Returns the number of columns of pixels for a width.
pub(super) fn columns(width: u32) -> u64 {
    (width - LEFT - RIGHT).into()
}

/// The contents of a picture.
pub(super) struct Picture<'p> {
    pub(super) counters: &'p [Counter],
    /// The series, those of each counter together.
    pub(super) series: &'p [&'p Series],
    /// The number of series that are not shown.
    pub(super) omitted: usize,
    pub(super) span: &'p Span,
    pub(super) losses: &'p Losses,
    pub(super) traceset: &'p Traceset,
    /// The clocks of the times, if they are corrected.
    pub(super) clock: Option<&'p str>,
    pub(super) width: u32,
    pub(super) zone: Zone,
}

impl Picture<'_> {
    /// Returns the picture.
    pub(super) fn draw(&self) -> String {
        let (span, width) = (self.span, self.width);
        let groups = self.series.chunk_by(|a, b| a.counter() == b.counter());
        let groups: Vec<&[&Series]> = groups.collect();
        let first = TOP + 14;
        let rows = self.series.len() as u32 * ROW;
        // Also without any there is an axis.
        let bottom = first + (groups.len() as u32 * GAP).max(GAP) + rows;
        let height = bottom + if self.losses.is_empty() { 24 } else { 48 };
        let (from, to) = (date_text(span.from, &self.zone), date_text(span.to, &self.zone));
        let omitted = match self.omitted {
            0 => String::new(),
            more => format!("; {more} more series"),
        };
        let mut svg = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="11" fill="#d8d8d8">
{}<rect width="{width}" height="{height}" fill="#1c1c1c"/>
<text x="12" y="24" font-size="15" fill="#ffffff">Counters</text>
<text x="12" y="42">{from} to {to}; times are after the first event{}{omitted}</text>
"##,
            hatch::PATTERN,
            clock_note(self.clock),
        );
        let area = Area {
            left: f64::from(LEFT),
            width: columns(width) as f64,
            top: f64::from(first + 10),
            height: f64::from(bottom - first - 10),
        };
        axis::time(&mut svg, span, area);
        let mut top = first;
        for group in groups {
            top += GAP;
            self.title(&mut svg, group[0], top - 6);
            for series in group {
                self.row(&mut svg, series, top);
                top += ROW;
            }
        }
        hatch::ranges(&mut svg, self.losses, span, area, 0.25);
        if !self.losses.is_empty() {
            let y = bottom + 24;
            _ = writeln!(svg, r##"<text x="12" y="{}" fill="#ffffff">Losses</text>"##, y + 10);
            hatch::legend(&mut svg, 86.0, f64::from(y));
        }
        svg + "</svg>\n"
    }

    /// Draws the name and the unit of a counter.
    fn title(&self, svg: &mut String, series: &Series, y: u32) {
        let Some(counter) = self.counters.get(series.counter()) else { return };
        let name = escape::xml(counter.name());
        let unit = match counter.unit_text() {
            "" => String::new(),
            unit => format!(", {}", escape::xml(unit)),
        };
        _ = writeln!(svg, r##"<text x="12" y="{y}" fill="#ffffff">{name}{unit}</text>"##);
    }

    /// Draws the curve of a series: the range of its values in each column of pixels.
    fn row(&self, svg: &mut String, series: &Series, top: u32) {
        let figures = series.figures();
        let (Some(least), Some(greatest)) = (figures.least(), figures.greatest()) else { return };
        let mut label = key(series);
        label += &trace_label(self.traceset, series.trace().0);
        let label = escape::xml(label.trim());
        let (x, middle) = (LEFT - 10, top + CURVE / 2 + 4);
        _ = writeln!(svg, r##"<text x="{x}" y="{middle}" text-anchor="end">{label}</text>"##);
        let (x, low) = (LEFT + columns(self.width) as u32 + 6, top + CURVE);
        _ = writeln!(
            svg,
            r##"<text x="{x}" y="{}" fill="#9a9a9a">{greatest}</text><text x="{x}" y="{low}" fill="#9a9a9a">{least}</text>"##,
            top + 8
        );
        let (least, greatest) = (least.as_f64(), greatest.as_f64());
        let height = |value: f64| {
            let size = greatest - least;
            let part = if size > 0.0 { (value - least) / size } else { 0.5 };
            f64::from(top + CURVE) - part * f64::from(CURVE)
        };
        let mut path = String::new();
        let mut at_end: Option<f64> = None;
        for (column, of) in series.intervals() {
            let Some(column_range) = range(&of) else { continue };
            let x = f64::from(LEFT) + column as f64;
            let (low, high) = (height(column_range.0), height(column_range.1));
            let last = of.last().map_or(low, |last| height(last.as_f64()));
            // A column without an event continues the line; one with events shows all values.
            match at_end {
                None => _ = write!(path, "M{x:.0} {last:.1}"),
                Some(before) if of.count() == 0 => _ = write!(path, "M{x:.0} {before:.1}"),
                Some(before) => _ = write!(path, "M{x:.0} {before:.1}V{high:.1}V{low:.1}"),
            }
            _ = write!(path, "M{x:.0} {last:.1}H{:.0}", x + 1.0);
            at_end = Some(last);
        }
        let (count, mean) = (figures.count(), figures.mean().unwrap_or(least));
        _ = writeln!(
            svg,
            r##"<path d="{path}" fill="none" stroke="#6fb7ff"><title>{label}: {count} events, mean {mean}</title></path>"##
        );
    }
}

/// Returns the least and the greatest value in a column.
fn range(figures: &CounterFigures) -> Option<(f64, f64)> {
    Some((figures.least()?.as_f64(), figures.greatest()?.as_f64()))
}
