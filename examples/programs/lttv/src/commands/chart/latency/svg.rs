//! The SVG picture of latencies: a panel for each family, with the lengths of durations on a logarithmic
//! axis, over time at the left and added up at the right.

use std::fmt::Write;

use lttv_common::escape;
use lttv_common::losses::Losses;
use lttv_common::paint::Color;
use lttv_common::time::date_text;
use lttv_common::units::length;
use lttv_filter::Zone;

use super::panel::{Bin, Longest, Panel};
use crate::commands::chart::axis;
use crate::commands::chart::hatch::{self, Area};
use crate::commands::chart::span::Span;

const LEFT: f64 = 78.0;
/// The width of the distribution, and of the space before it and after it.
const BARS: f64 = 130.0;
const GAP: f64 = 14.0;
const RIGHT: f64 = 64.0;
const TOP: f64 = 84.0;
/// The height of a range between powers of two.
const ROW: f64 = 9.0;
/// The height of a panel's title and its axis.
const HEAD: f64 = 26.0;
const FOOT: f64 = 22.0;
/// The width of a column.
const COLUMN: f64 = 4.0;
/// The colours of few to many durations.
const COLORS: [Color; 5] = [
    Color(0x2b, 0x3a, 0x8c),
    Color(0x1f, 0x7f, 0xa6),
    Color(0x3f, 0xb2, 0x7f),
    Color(0xf2, 0xc1, 0x4e),
    Color(0xff, 0xf4, 0xc8),
];
const MEDIAN: &str = "#ffffff";
const P99: &str = "#ff7a7a";

/// Returns the number of columns for a width.
pub(super) fn columns(pixels: u32) -> u64 {
    (chart_width(pixels) / COLUMN) as u64
}

/// Returns the width of the chart over time.
fn chart_width(pixels: u32) -> f64 {
    f64::from(pixels) - LEFT - GAP - BARS - RIGHT
}

/// The contents of a picture.
pub(super) struct Picture<'p> {
    pub(super) panels: &'p [Panel],
    /// The families whose events were not recorded.
    pub(super) missing: &'p [String],
    pub(super) span: &'p Span,
    pub(super) losses: &'p Losses,
    /// The time of a column in ns.
    pub(super) column: u64,
    pub(super) width: u32,
    pub(super) zone: Zone,
}

/// The place of a panel: its vertical axis.
struct Place {
    top: f64,
    height: f64,
    /// The number of significant bits of the shortest durations.
    first: u32,
}

impl Place {
    /// Returns the height of a duration in ns. Each power of two is one row higher.
    fn y(&self, duration: u64) -> f64 {
        let bits = if duration == 0 { 0.0 } else { 1.0 + (duration as f64).log2() };
        (self.top + self.height - (bits - f64::from(self.first)) * ROW)
            .clamp(self.top, self.top + self.height)
    }
}

/// Returns the number of significant bits of the durations in a range between powers of two.
fn bits(bin: &Bin) -> u32 {
    u64::BITS - bin.range.start.leading_zeros()
}

impl Picture<'_> {
    /// Returns the picture.
    pub(super) fn draw(&self) -> String {
        let (span, width) = (self.span, self.width);
        let (from, to) = (date_text(span.from, &self.zone), date_text(span.to, &self.zone));
        let most = self.panels.iter().flat_map(|panel| &panel.cells).map(|cell| cell.bin.count);
        let most = most.max().unwrap_or(1);
        let mut body = String::new();
        let mut top = TOP;
        for panel in self.panels {
            top = self.panel(&mut body, panel, top, most);
        }
        if self.panels.is_empty() {
            _ = writeln!(
                body,
                r#"<text x="12" y="{}">no durations in this window</text>"#,
                top + 14.0
            );
            top += 24.0;
        }
        for line in self.missing {
            _ = writeln!(
                body,
                r##"<text x="12" y="{}" fill="#9a9a9a">{}</text>"##,
                top + 12.0,
                escape::xml(line)
            );
            top += 16.0;
        }
        let height = top + 8.0;
        let mut svg = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="11" fill="#d8d8d8">
{}<rect width="{width}" height="{height}" fill="#1c1c1c"/>
<text x="12" y="24" font-size="15" fill="#ffffff">Latencies</text>
<text x="12" y="42">{from} to {to}; durations at the time of their end, in ns to s on a logarithmic scale; times are after the first event</text>
"##,
            hatch::PATTERN,
        );
        self.legend(&mut svg, most);
        svg + &body + "</svg>\n"
    }

    /// Draws the legend of the colours and lines.
    fn legend(&self, svg: &mut String, most: u64) {
        let mut x = 12.0;
        let scale = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
        for count in scale.into_iter().take_while(|count| *count < most).chain([most]) {
            _ = writeln!(
                svg,
                r##"<rect x="{x}" y="54" width="14" height="12" fill="{}"/><text x="{}" y="64">{count}</text>"##,
                color(count, most),
                x + 19.0
            );
            x += 34.0 + 7.0 * count.to_string().len() as f64;
        }
        _ = writeln!(svg, r#"<text x="{x}" y="64">durations</text>"#);
        x += 76.0;
        for (stroke, text) in [(MEDIAN, "p50"), (P99, "p99")] {
            _ = writeln!(
                svg,
                r##"<path d="M{x} 60h18" stroke="{stroke}" stroke-dasharray="4 3"/><text x="{}" y="64">{text}</text>"##,
                x + 23.0
            );
            x += 56.0;
        }
        _ = writeln!(
            svg,
            r##"<circle cx="{}" cy="60" r="4" fill="none" stroke="#ff4fd8" stroke-width="1.5"/><text x="{}" y="64">longest</text>"##,
            x + 5.0,
            x + 14.0
        );
        if !self.losses.is_empty() {
            hatch::legend(svg, x + 74.0, 54.0);
        }
    }

    /// Draws a panel. Returns the height of its end.
    fn panel(&self, svg: &mut String, panel: &Panel, top: f64, most: u64) -> f64 {
        let rows = panel.bins.len().max(1) as f64;
        let first = panel.bins.first().map_or(0, bits);
        let place = Place { top: top + HEAD, height: rows * ROW, first };
        let max = panel.longest.as_ref().map_or(0, |of| of.duration);
        _ = writeln!(
            svg,
            r##"<g class="panel" data-family="{}" data-column="{}"><text x="12" y="{}" fill="#ffffff" font-size="12">{}</text><text x="{}" y="{}" text-anchor="end">{} durations, p50 {}, p99 {}, max {}</text>"##,
            panel.key,
            self.column,
            top + 16.0,
            escape::xml(&panel.title),
            f64::from(self.width) - 12.0,
            top + 16.0,
            panel.count,
            length(panel.median),
            length(panel.p99),
            length(max),
        );
        let width = chart_width(self.width);
        let area = Area { left: LEFT, width, top: place.top, height: place.height };
        axis::time(svg, self.span, area);
        self.decades(svg, &place, panel);
        self.cells(svg, &place, panel, most);
        self.bars(svg, &place, panel);
        for (duration, stroke) in [(panel.median, MEDIAN), (panel.p99, P99)] {
            _ = writeln!(
                svg,
                r##"<path d="M{LEFT} {:.1}h{}" stroke="{stroke}" stroke-dasharray="4 3" opacity="0.7"/>"##,
                place.y(duration),
                width + GAP + BARS
            );
        }
        hatch::ranges(svg, self.losses, self.span, area, 0.25);
        if let Some(longest) = &panel.longest {
            self.longest(svg, &place, longest);
        }
        *svg += "</g>\n";
        place.top + place.height + FOOT
    }

    /// Draws lines at powers of ten.
    fn decades(&self, svg: &mut String, place: &Place, panel: &Panel) {
        let Some((low, high)) = panel.bins.first().zip(panel.bins.last()) else { return };
        let right = f64::from(self.width) - RIGHT;
        let decades = (0..20).map(|power| 10u64.pow(power));
        let inside = |decade: &u64| (low.range.start..=high.range.end).contains(decade);
        let mut inside: Vec<u64> = decades.filter(inside).collect();
        // A narrow range needs a scale, too.
        if inside.is_empty() {
            inside.push(low.range.start);
        }
        for decade in inside {
            let y = place.y(decade);
            _ = writeln!(
                svg,
                r##"<path d="M{LEFT} {y:.1}H{right}" stroke="#3a3a3a"/><text x="{}" y="{:.1}" text-anchor="end" fill="#9a9a9a">{}</text>"##,
                LEFT - 6.0,
                y + 4.0,
                length(decade)
            );
        }
    }

    /// Draws the numbers of durations over time.
    fn cells(&self, svg: &mut String, place: &Place, panel: &Panel, most: u64) {
        let width = chart_width(self.width);
        let per_column = self.column as f64 / self.span.length() as f64 * width;
        _ = writeln!(svg, r##"<g shape-rendering="crispEdges">"##);
        for cell in &panel.cells {
            let x = cell.column as f64 * per_column;
            let begin = self.span.from.saturating_add(cell.column.saturating_mul(self.column));
            _ = writeln!(
                svg,
                r##"<rect x="{:.2}" y="{:.1}" width="{:.2}" height="{ROW}" fill="{}"><title>{}, ended {:.9} s after the first event or up to {} later</title></rect>"##,
                LEFT + x,
                place.y(cell.bin.range.start) - ROW,
                per_column.min(width - x),
                color(cell.bin.count, most),
                described(&cell.bin),
                self.span.seconds(begin),
                length(self.column),
            );
        }
        *svg += "</g>\n";
    }

    /// Draws the distribution.
    fn bars(&self, svg: &mut String, place: &Place, panel: &Panel) {
        let left = LEFT + chart_width(self.width) + GAP;
        let most = panel.bins.iter().map(|bin| bin.count).max().unwrap_or(1).max(1);
        for bin in panel.bins.iter().filter(|bin| bin.count > 0) {
            let y = place.y(bin.range.start) - ROW;
            let width = bin.count as f64 / most as f64 * BARS;
            _ = writeln!(
                svg,
                r##"<rect x="{left}" y="{y:.1}" width="{:.2}" height="{}" fill="#7aa6d8"><title>{}</title></rect><text x="{}" y="{:.1}" font-size="9" fill="#9a9a9a">{}</text>"##,
                width.max(0.75),
                ROW - 1.0,
                described(bin),
                left + BARS + 6.0,
                y + ROW - 1.0,
                bin.count
            );
        }
    }

    /// Draws the mark of the longest duration.
    fn longest(&self, svg: &mut String, place: &Place, of: &Longest) {
        let x = LEFT + self.span.part(of.end) * chart_width(self.width);
        let at = date_text(of.begin, &self.zone);
        let mut text = format!("longest: {} {}, began {at}", length(of.duration), of.text);
        if let Some(options) = &of.why {
            text += &format!("\nlttv why --at {} {options}", date_text(of.begin, &self.zone));
        }
        let lines: Vec<_> = text.split('\n').map(escape::xml).collect();
        _ = writeln!(
            svg,
            r##"<circle cx="{x:.1}" cy="{:.1}" r="5" fill="none" stroke="#ff4fd8" stroke-width="1.5"><title>{}</title></circle>"##,
            place.y(of.duration),
            lines.join("\n"),
        );
    }
}

/// Returns the text of a range of durations.
fn described(bin: &Bin) -> String {
    let range = format!("{} to {}", length(bin.range.start), length(bin.range.end));
    match bin.count {
        1 => format!("1 duration of {range}"),
        count => format!("{count} durations of {range}"),
    }
}

/// Returns the colour of a number of durations, on a logarithmic scale up to the greatest one.
fn color(count: u64, most: u64) -> Color {
    let part = if most > 1 { (count.max(1) as f64).ln() / (most as f64).ln() } else { 1.0 };
    let at = part.clamp(0.0, 1.0) * (COLORS.len() - 1) as f64;
    let low = (at as usize).min(COLORS.len() - 2);
    let part = at - low as f64;
    let (Color(r, g, b), Color(red, green, blue)) = (COLORS[low], COLORS[low + 1]);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    Color(mix(r, red), mix(g, green), mix(b, blue))
}
