//! An SVG picture with a row for each process.

use std::fmt::Write;

use ltt_read::Timestamp;
use lttv_examples::escape;
use lttv_examples::paint::Paint;
use lttv_requests::views::{ControlFlow, ProcessLabel, ProcessState, Segment, TimeWindow};
use lttv_state::kernel::{KernelState, NameId};

/// The left edge and the width of the chart.
const LEFT: f64 = 300.0;
const WIDTH: f64 = 1100.0;
/// The height of the legend and the axis, above the rows.
const TOP: f64 = 62.0;
/// The height of a row.
const ROW: f64 = 18.0;
/// The thickness of the line of an active state, and of a waiting one.
const ACTIVE: f64 = 12.0;
const WAITING: f64 = 4.0;
/// The number of intervals on the axis.
const MARKS: u64 = 8;

/// Draws the rows. Times are relative to `origin`.
pub(crate) fn draw(
    flow: &ControlFlow,
    kernel: &KernelState,
    origin: Timestamp,
    all: bool,
) -> String {
    let (timeline, labels) = (flow.timeline(), flow.labels());
    let mut order = flow.order();
    // Idle CPUs have no row of their own.
    order.retain(|row| all || timeline.rows()[*row].is_active() && labels[*row].tid != Some(0));
    let rows: Vec<_> = order.iter().map(|row| (&timeline.rows()[*row], &labels[*row])).collect();
    let window = timeline.window();
    let (width, height) = (LEFT + WIDTH + 10.0, TOP + ROW * rows.len() as f64 + 10.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"DejaVu Sans, Helvetica, sans-serif\" font-size=\"12\" fill=\"#ddd\">\n\
         <title>States of each process</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#000\"/>\n"
    );
    legend(&mut svg);
    axis(&mut svg, window, origin, height);
    heading(&mut svg);
    // The zoomed part is in an inner SVG, measured in parts of its width.
    _ = writeln!(
        svg,
        "<svg class=\"chart\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{WIDTH}\" height=\"{:.0}\" \
         viewBox=\"0 0 {WIDTH} {0:.0}\" preserveAspectRatio=\"none\">",
        ROW * rows.len() as f64
    );
    for (number, (row, label)) in rows.iter().enumerate() {
        let names = |name| kernel.trace(row.key().trace).map_or("", |state| state.name(name));
        let top = ROW * number as f64;
        for segment in row.segments() {
            state(&mut svg, &segment, top, window, &hint(label, &segment, origin, names));
        }
    }
    svg += "</svg>\n";
    for (number, (_, of)) in rows.iter().enumerate() {
        label(&mut svg, of, TOP + ROW * number as f64 + 13.0);
    }
    svg + "</svg>\n"
}

fn legend(svg: &mut String) {
    let mut x = 10.0;
    for paint in Paint::OF_PROCESSES {
        _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"8\" width=\"14\" height=\"12\" fill=\"{}\" stroke=\"#777\" \
             stroke-width=\"0.5\"/><text x=\"{}\" y=\"18\">{}</text>",
            paint.color(),
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

fn axis(svg: &mut String, window: TimeWindow, origin: Timestamp, height: f64) {
    let (begin, width) = (window.start().as_ns().saturating_sub(origin.as_ns()), window.width());
    _ = writeln!(
        svg,
        "<g class=\"axis\" data-begin=\"{begin}\" data-width=\"{width}\" fill=\"#999\">"
    );
    for mark in 0..=MARKS {
        let part = mark as f64 / MARKS as f64;
        let x = LEFT + WIDTH * part;
        let ns = begin as f64 + width as f64 * part;
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

fn label(svg: &mut String, of: &ProcessLabel, y: f64) {
    let number = |of: Option<i32>| of.map_or_else(|| "?".to_owned(), |of| of.to_string());
    let texts =
        [(10.0, of.title().into_owned()), (190.0, number(of.tid)), (250.0, number(of.parent))];
    for (x, text) in texts {
        _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{}</text>", escape::xml(&text));
    }
}

/// Draws a line over the time of a state. Its thickness shows the share of active time.
fn state(svg: &mut String, of: &Segment<ProcessState>, top: f64, window: TimeWindow, hint: &str) {
    let width = window.width() as f64;
    let x = of.start.as_ns().abs_diff(window.start().as_ns()) as f64 / width * WIDTH;
    let length = of.length() as f64 / width * WIDTH;
    let active = of.active as f64 / of.length() as f64;
    let thick = WAITING + (ACTIVE - WAITING) * active;
    _ = writeln!(
        svg,
        "<rect x=\"{x:.4}\" y=\"{:.1}\" width=\"{length:.4}\" height=\"{thick:.1}\" \
         fill=\"{}\"><title>{}</title></rect>",
        top + (ROW - thick) / 2.0,
        Paint::from(of.state).color(),
        lines_escaped(hint)
    );
}

/// Returns the details of a state, shown when the user points at it.
fn hint<'k>(
    label: &ProcessLabel,
    of: &Segment<ProcessState>,
    origin: Timestamp,
    names: impl Fn(NameId) -> &'k str,
) -> String {
    let seconds = |time: Timestamp| time.as_ns().saturating_sub(origin.as_ns()) as f64 / 1e9;
    let us = |ns: u64| ns as f64 / 1e3;
    let paint = Paint::from(of.state);
    let mut text = format!("{}: {}", label.title(), paint.label());
    let name = names(of.state.submode);
    if paint.is_active() && !matches!(name, "" | "NONE" | "UNKNOWN") {
        _ = write!(text, " {name}");
    }
    if of.crowded {
        text += " and others";
    }
    if of.crowded && of.active > 0 {
        _ = write!(text, ", {:.3} µs of work", us(of.active));
    }
    let (begin, end) = (seconds(of.start), seconds(of.end));
    _ = write!(text, "\n{begin:.9} – {end:.9} s\n{:.3} µs", us(of.length()));
    text
}

/// Escapes each line of a text for XML.
fn lines_escaped(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(escape::xml).collect();
    lines.join("\n")
}
