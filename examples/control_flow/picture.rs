//! The picture: SVG, a row for each process.

use std::fmt::Write;

use ltt_read::Timestamp;
use lttv_examples::control_flow::{ControlFlow, ProcessRow};
use lttv_examples::palette::Paint;
use lttv_state::kernel::{KernelState, NameId};

use crate::segments::{Scale, Segment, Segments};

/// Where the chart begins, and how wide it is.
const LEFT: f64 = 300.0;
const WIDTH: f64 = 1100.0;
/// Above the rows there are the legend and the axis.
const TOP: f64 = 62.0;
const ROW: f64 = 18.0;
/// How thick the line of one is who does something; and of one who waits.
const ACTIVE: f64 = 12.0;
const WAITING: f64 = 4.0;
/// Marks on the axis.
const MARKS: u64 = 8;

/// Draws the rows; times are counted from one.
pub(crate) fn draw(
    flow: &ControlFlow<Segments>,
    kernel: &KernelState,
    origin: Timestamp,
    all: bool,
) -> String {
    let is_drawn = |row: &&ProcessRow<Segments>| {
        // That a processor has nothing to do is not told by a row of its own.
        all || row.track.is_active() && row.tid != Some(0)
    };
    let mut rows: Vec<_> = flow.rows().iter().filter(is_drawn).collect();
    rows.sort_by_cached_key(|row| row.order());
    let (width, height) = (LEFT + WIDTH + 10.0, TOP + ROW * rows.len() as f64 + 10.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"DejaVu Sans, Helvetica, sans-serif\" font-size=\"12\" fill=\"#ddd\">\n\
         <title>What each process was doing</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#000\"/>\n"
    );
    legend(&mut svg);
    axis(&mut svg, flow.scale(), origin, height);
    heading(&mut svg);
    // What zooms is within a window of its own, and measured in parts of its width.
    _ = writeln!(
        svg,
        "<svg class=\"chart\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{WIDTH}\" height=\"{:.0}\" \
         viewBox=\"0 0 {WIDTH} {0:.0}\" preserveAspectRatio=\"none\">",
        ROW * rows.len() as f64
    );
    for (number, row) in rows.iter().enumerate() {
        let names = |name| kernel.trace(row.key.0).map_or("", |state| state.name(name));
        chart(&mut svg, row, ROW * number as f64, flow.scale(), origin, names);
    }
    svg += "</svg>\n";
    for (number, row) in rows.iter().enumerate() {
        label(&mut svg, row, TOP + ROW * number as f64 + 13.0);
    }
    svg + "</svg>\n"
}

fn legend(svg: &mut String) {
    let mut x = 10.0;
    for paint in Paint::OF_PROCESSES {
        let (r, g, b) = paint.rgb();
        _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"8\" width=\"14\" height=\"12\" fill=\"#{r:02x}{g:02x}{b:02x}\" \
             stroke=\"#777\" stroke-width=\"0.5\"/><text x=\"{}\" y=\"18\">{}</text>",
            x + 20.0,
            paint.label()
        );
        x += 40.0 + 7.0 * paint.label().len() as f64;
    }
}

fn heading(svg: &mut String) {
    for (x, text) in [(10.0, "process"), (190.0, "pid"), (250.0, "ppid")] {
        _ = writeln!(svg, "<text x=\"{x}\" y=\"{}\" fill=\"#999\">{text}</text>", TOP - 8.0);
    }
}

fn axis(svg: &mut String, scale: &Scale, origin: Timestamp, height: f64) {
    let width = scale.end.abs_diff(scale.begin);
    _ = writeln!(
        svg,
        "<g class=\"axis\" data-begin=\"{}\" data-width=\"{width}\" fill=\"#999\">",
        scale.begin.saturating_sub(origin.ns())
    );
    for mark in 0..=MARKS {
        let part = mark as f64 / MARKS as f64;
        let x = LEFT + WIDTH * part;
        let ns = scale.begin.saturating_sub(origin.ns()) as f64 + width as f64 * part;
        let anchor = if mark == MARKS { "end" } else { "start" };
        _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {}V{height}\" stroke=\"#333\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{:.6} s</text>",
            TOP - 4.0,
            TOP - 8.0,
            ns / 1e9
        );
    }
    *svg += "</g>\n";
}

fn label(svg: &mut String, row: &ProcessRow<Segments>, y: f64) {
    let number = |of: Option<i32>| of.map_or_else(|| "?".to_owned(), |of| of.to_string());
    for (x, text) in [(10.0, row.title()), (190.0, number(row.tid)), (250.0, number(row.ppid))] {
        _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(&text));
    }
}

fn chart<'k>(
    svg: &mut String,
    row: &ProcessRow<Segments>,
    top: f64,
    scale: &Scale,
    origin: Timestamp,
    names: impl Fn(NameId) -> &'k str,
) {
    let width = scale.end.abs_diff(scale.begin) as f64;
    for segment in row.track.all() {
        let x = segment.begin.abs_diff(scale.begin) as f64 / width * WIDTH;
        let length = segment.end.abs_diff(segment.begin) as f64 / width * WIDTH;
        let thick = if segment.paint.is_active() { ACTIVE } else { WAITING };
        let (r, g, b) = segment.paint.rgb();
        _ = writeln!(
            svg,
            "<rect x=\"{x:.4}\" y=\"{:.0}\" width=\"{length:.4}\" height=\"{thick}\" \
             fill=\"#{r:02x}{g:02x}{b:02x}\"><title>{}</title></rect>",
            top + (ROW - thick) / 2.0,
            escaped(&hint(row, segment, origin, names(segment.name)))
        );
    }
}

/// What is told when somebody points at a state.
fn hint(row: &ProcessRow<Segments>, of: &Segment, origin: Timestamp, name: &str) -> String {
    let seconds = |time: i64| time.saturating_sub(origin.ns()) as f64 / 1e9;
    let (begin, end) = (seconds(of.begin), seconds(of.end));
    let mut text = format!("{}: {}", row.title(), of.paint.label());
    if of.paint.is_active() && !matches!(name, "" | "NONE" | "UNKNOWN") {
        _ = write!(text, " {name}");
    }
    let us = of.end.abs_diff(of.begin) as f64 / 1e3;
    _ = write!(text, "\n{begin:.9} – {end:.9} s\n{us:.3} µs");
    if of.states > 1 {
        _ = write!(text, ", {} states", of.states);
    }
    text
}

/// A trace may hold anything.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped.push('\n'),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
