//! The SVG picture.

use std::fmt::Write;

use lttv_common::escape;
use lttv_common::losses::Losses;
use lttv_common::paint::Paint;
use lttv_common::settings::color_of;
use lttv_common::time::date_text;
use lttv_context::Traceset;
use lttv_filter::Zone;

use super::TraceRows;
use super::rows::{BLACK, Column, Row};
use crate::commands::chart::hatch::{self, Area};
use crate::commands::chart::span::Span;
use crate::commands::chart::{axis, clock_note};

/// The paints of CPUs with a known state.
const CPU: [Paint; 5] = [Paint::Busy, Paint::Irq, Paint::Softirq, Paint::Trap, Paint::Idle];

const LEFT: u32 = 190;
const RIGHT: u32 = 70;
const TOP: u32 = 56;
const ROW: u32 = 18;
const BAR: u32 = 12;
const GAP: u32 = 26;
/// The left edge of legends, and the height of their lines.
const KEY: u32 = 86;
const LINE: u32 = 22;

/// Returns the number of columns of pixels for a width.
pub(super) fn columns(width: u32) -> usize {
    (width - LEFT - RIGHT) as usize
}

/// The contents of a picture.
pub(super) struct Picture<'p> {
    pub(super) traces: &'p [TraceRows],
    pub(super) span: &'p Span,
    pub(super) losses: &'p Losses,
    pub(super) traceset: &'p Traceset,
    /// The number of events in the window.
    pub(super) events: u64,
    /// The clocks of the times, if they are corrected.
    pub(super) clock: Option<&'p str>,
    pub(super) width: u32,
    pub(super) zone: Zone,
}

impl Picture<'_> {
    /// Returns the picture.
    pub(super) fn draw(&self) -> String {
        let (span, width) = (self.span, self.width);
        let heights = self
            .traces
            .iter()
            .map(|of| 2 * GAP + (of.rows.cpus.len() + of.rows.processes.len()) as u32 * ROW);
        let first = TOP + 14;
        let bottom = first + heights.sum::<u32>();
        let legend = bottom + 22;
        let (legends, losses) = self.legends(legend);
        let height = losses + if self.losses.is_empty() { 6 } else { LINE + 6 };
        let (from, to) = (date_text(span.from, &self.zone), date_text(span.to, &self.zone));
        let mut svg = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="11" fill="#d8d8d8">
{}<rect width="{width}" height="{height}" fill="#1c1c1c"/>
<text x="12" y="24" font-size="15" fill="#ffffff">CPUs and the busiest processes</text>
<text x="12" y="42">{from} to {to}, {} events; times are after the first event{}</text>
"##,
            hatch::PATTERN,
            self.events,
            clock_note(self.clock),
        );
        let area = (LEFT, columns(width) as u64);
        axis::draw(&mut svg, span, area, (first + 10, bottom + 2));
        _ = writeln!(svg, r##"<g shape-rendering="crispEdges">"##);
        let mut top = first;
        for of in self.traces {
            top += GAP;
            self.group(&mut svg, (&format!("CPUs{}", of.label), "busy"), &of.rows.cpus, top);
            self.losses_of_cpus(&mut svg, of, top);
            top += of.rows.cpus.len() as u32 * ROW + GAP;
            let title = format!("Processes{}", of.label);
            self.group(&mut svg, (&title, "on CPU"), &of.rows.processes, top);
            top += of.rows.processes.len() as u32 * ROW;
        }
        // What happened meanwhile to all else is uncertain.
        let height = f64::from(bottom - first - 10);
        hatch::ranges(&mut svg, self.losses, span, self.area(first + 10, height), 0.25);
        svg += "</g>\n";
        svg += &legends;
        if !self.losses.is_empty() {
            _ = writeln!(svg, r##"<text x="12" y="{}" fill="#ffffff">Losses</text>"##, losses + 10);
            hatch::legend(&mut svg, f64::from(KEY), f64::from(losses));
        }
        svg + "</svg>\n"
    }

    /// Draws the legends of the colours. Returns them, and the height of their end.
    fn legends(&self, top: u32) -> (String, u32) {
        let (mut svg, width) = (String::new(), self.width);
        let named = |paint: Paint| (paint, paint.label());
        let cpus = CPU.map(named).into_iter().chain([(BLACK, "unknown")]);
        let end = key(&mut svg, "CPUs", cpus, (top, width));
        let processes = Paint::OF_PROCESSES.map(named).into_iter();
        let end = key(&mut svg, "Processes", processes, (end, width));
        (svg, end)
    }

    /// Returns the area of the chart between two heights.
    fn area(&self, top: u32, height: f64) -> Area {
        let width = columns(self.width) as f64;
        Area { left: f64::from(LEFT), width, top: f64::from(top), height }
    }

    /// Hatches the rows of the CPUs that lost events.
    fn losses_of_cpus(&self, svg: &mut String, of: &TraceRows, top: u32) {
        let Some(trace) = self.traceset.traces().get(of.index.0) else { return };
        for (number, row) in (0..).zip(&of.rows.cpus) {
            let cpus = (0..).map(ltt_read::TracefileIndex).zip(trace.tracefiles());
            for (place, _) in cpus.filter(|(_, file)| file.cpu() == row.cpu) {
                let losses = self.losses.of_tracefile(of.index, place);
                let area = self.area(top + number * ROW, f64::from(BAR));
                hatch::ranges(svg, &losses, self.span, area, 0.9);
            }
        }
    }

    /// Draws the rows of one kind, with their share of active time.
    fn group(&self, svg: &mut String, (title, share): (&str, &str), rows: &[Row], top: u32) {
        let (y, end) = (top - 6, self.width - 12);
        _ = writeln!(
            svg,
            r##"<text x="12" y="{y}" fill="#ffffff">{title}</text>
<text x="{end}" y="{y}" text-anchor="end" fill="#9a9a9a">{share}</text>"##
        );
        for (number, row) in (0..).zip(rows) {
            let y = top + number * ROW;
            let (text_y, label_x) = (y + BAR - 2, LEFT - 10);
            let label = escape::xml(&row.label);
            _ = writeln!(
                svg,
                r##"<text x="{label_x}" y="{text_y}" text-anchor="end">{label}</text>"##
            );
            bar(svg, row, y);
            let (percent, part, whole) = (row.share.percent(), row.share.part, row.share.whole);
            _ = writeln!(
                svg,
                r##"<text x="{end}" y="{text_y}" text-anchor="end">{percent:.1} %<title>{label}: {part} ns of {whole} ns</title></text>"##
            );
        }
    }
}

/// Draws a row. Each column of pixels is divided among its colours in proportion to their
/// times; adjacent columns of one colour become one rectangle.
fn bar(svg: &mut String, row: &Row, top: u32) {
    let single = |column: &Column| {
        let mut used = column.iter().enumerate().filter(|(_, time)| **time > 0);
        let first = used.next().map(|(color, _)| color);
        if used.next().is_some() { None } else { first }
    };
    let mut x = 0;
    while let Some(column) = row.columns.get(x) {
        let left = LEFT as usize + x;
        if let Some(color) = single(column) {
            let same = row.columns[x..].iter().take_while(|c| single(c) == Some(color)).count();
            let rgb = color_of(Paint::ALL[color]);
            _ = writeln!(
                svg,
                r##"<rect x="{left}" y="{top}" width="{same}" height="{BAR}" fill="{rgb}"/>"##
            );
            x += same;
            continue;
        }
        let time: u64 = column.iter().sum();
        let mut at = f64::from(top + BAR);
        for (color, part) in column.iter().enumerate().filter(|(_, part)| **part > 0) {
            let height = *part as f64 / time as f64 * f64::from(BAR);
            at -= height;
            let rgb = color_of(Paint::ALL[color]);
            _ = writeln!(
                svg,
                r##"<rect x="{left}" y="{at:.2}" width="1" height="{height:.2}" fill="{rgb}" shape-rendering="auto"/>"##
            );
        }
        x += 1;
    }
}

/// Draws a legend at a height, in lines that fit a width. Returns the height of its end.
fn key<'l>(
    svg: &mut String,
    title: &str,
    paints: impl Iterator<Item = (Paint, &'l str)>,
    (mut y, width): (u32, u32),
) -> u32 {
    _ = writeln!(svg, r##"<text x="12" y="{}" fill="#ffffff">{title}</text>"##, y + 10);
    let mut x = KEY;
    for (paint, meaning) in paints {
        let rgb = color_of(paint);
        let end = x + 30 + meaning.len() as u32 * 6;
        if end > width && x > KEY {
            (x, y) = (KEY, y + LINE);
        }
        _ = writeln!(
            svg,
            r##"<rect x="{x}" y="{y}" width="12" height="12" fill="{rgb}" stroke="#777777"/><text x="{}" y="{}">{meaning}</text>"##,
            x + 17,
            y + 10
        );
        x += 30 + meaning.len() as u32 * 6;
    }
    y + LINE
}
