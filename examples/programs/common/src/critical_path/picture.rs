//! An SVG picture of a critical path, with a row for each thread on it.

use std::collections::BTreeMap;
use std::fmt::Write;

use ltt_read::Timestamp;
use lttv_filter::Zone;
use lttv_state::waits::{CriticalPath, Segment, TimelineId, WaitGraph};

use super::{PAINTS, label, paint, words};
use crate::escape;
use crate::paint::Paint;
use crate::settings::color_of;
use crate::time::date_text;

/// The width of the labels and that of the chart.
const LEFT: f64 = 210.0;
const WIDTH: f64 = 1100.0;
/// The height of the title, the legend and the axis, and that of a row.
const TOP: f64 = 76.0;
const ROW: f64 = 20.0;
/// The greatest number of rows. The threads with the least time share the last one.
const MAX_ROWS: usize = 40;
/// The greatest number of hand-overs that are drawn.
const MAX_ARROWS: usize = 1000;
/// The width below which neighbouring segments of a row are drawn as one.
const NARROW: f64 = 0.4;
/// The number of intervals on the axis.
const MARKS: u64 = 6;

/// A rectangle of a row: the left and right edges, the colour, and the text at the pointer.
struct Bar {
    from: f64,
    to: f64,
    paint: Paint,
    hint: String,
}

/// Draws a critical path: time goes to the right, and each thread on the path has a row. Vertical
/// lines are hand-overs from one thread to another.
///
/// ```
/// use lttv_filter::Zone;
/// use lttv_context::{Bounds, TracesetContext, Traceset};
/// use lttv_common::critical_path::{busiest, picture};
/// use lttv_state::kernel::KernelState;
/// use lttv_state::analysis::attach;
/// use lttv_state::waits::WaitAnalysis;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let kernel = context.attach(KernelState::new());
/// let waits = attach(&mut context, kernel, .., WaitAnalysis::new());
/// assert_eq!(context.read(&Bounds::all())?.errors, 0);
/// let graph = waits.take(context.extensions_mut());
/// let window = graph.begin()..graph.end();
/// let thread = busiest(&graph, &window).expect("a thread");
/// let svg = picture(&graph, &graph.critical_path(thread, window), &Zone::UTC);
/// assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn picture(graph: &WaitGraph, path: &CriticalPath, zone: &Zone) -> String {
    let window = path.window();
    let length = window.end.as_ns().abs_diff(window.start.as_ns()).max(1);
    let x = |time: Timestamp| {
        LEFT + time.as_ns().abs_diff(window.start.as_ns()) as f64 / length as f64 * WIDTH
    };
    let rows = rows(path);
    let shown = rows.values().max().map_or(1, |last| last + 1);
    let (width, height) = (LEFT + WIDTH + 10.0, TOP + ROW * shown as f64 + 10.0);
    let (from, to) = (date_text(window.start, zone), date_text(window.end, zone));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"DejaVu Sans, Helvetica, sans-serif\" font-size=\"12\" fill=\"#ddd\">\n\
         <title>Critical path</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#000\"/>\n\
         <text x=\"10\" y=\"18\">Critical path of {}, {from} to {to}</text>\n",
        escape::xml(&label(graph, path.thread()))
    );
    legend(&mut svg);
    axis(&mut svg, length, height);
    for (row, name) in names(graph, path, &rows) {
        let y = TOP + ROW * row as f64 + 14.0;
        _ = writeln!(svg, "<text x=\"10\" y=\"{y}\">{}</text>", escape::xml(&name));
    }
    let mut bars: BTreeMap<usize, Vec<Bar>> = BTreeMap::new();
    for segment in path.segments() {
        let (from, to, paint) = (x(segment.start), x(segment.end), paint(segment.kind));
        let bars = bars.entry(rows[&segment.thread]).or_default();
        match bars.last_mut() {
            // The colour is that of the first one, which is wider or as narrow.
            Some(last) if to - from < NARROW && from - last.to < NARROW => last.to = to,
            _ => bars.push(Bar { from, to, paint, hint: hint(graph, segment, window.start) }),
        }
    }
    let changes =
        path.segments().windows(2).filter(|pair| rows[&pair[0].thread] != rows[&pair[1].thread]);
    if changes.clone().count() <= MAX_ARROWS {
        for pair in changes {
            let [from, to] =
                [pair[0].thread, pair[1].thread].map(|id| TOP + ROW * rows[&id] as f64 + ROW / 2.0);
            let x = x(pair[1].start);
            _ = writeln!(
                svg,
                "<path d=\"M{x:.2} {from}V{to}\" stroke=\"#aaa\" stroke-width=\"0.7\"/>"
            );
        }
    }
    for (row, bars) in bars {
        for Bar { from, to, paint, hint } in bars {
            let thick = if paint == Paint::User { 12.0 } else { 6.0 };
            let top = TOP + ROW * row as f64 + (ROW - thick) / 2.0;
            _ = writeln!(
                svg,
                "<rect x=\"{from:.3}\" y=\"{top:.1}\" width=\"{:.3}\" height=\"{thick}\" \
                 fill=\"{}\"><title>{}</title></rect>",
                (to - from).max(NARROW),
                color_of(paint),
                hint.split('\n').map(escape::xml).collect::<Vec<_>>().join("\n"),
            );
        }
    }
    svg + "</svg>\n"
}

/// Returns the row of each thread: that of the path's thread first, the others by their first
/// segment. Those with the least time share the last row if there are too many.
fn rows(path: &CriticalPath) -> BTreeMap<TimelineId, usize> {
    let kept: Vec<TimelineId> = path
        .by_thread()
        .iter()
        .map(|(id, _)| *id)
        .filter(|id| *id != path.thread())
        .take(MAX_ROWS - 2)
        .collect();
    let mut rows = BTreeMap::from([(path.thread(), 0)]);
    let mut next = 1;
    for segment in path.segments().iter().filter(|segment| kept.contains(&segment.thread)) {
        rows.entry(segment.thread).or_insert_with(|| {
            next += 1;
            next - 1
        });
    }
    for segment in path.segments() {
        rows.entry(segment.thread).or_insert(next);
    }
    rows
}

/// Returns the name of each row.
fn names(
    graph: &WaitGraph,
    path: &CriticalPath,
    rows: &BTreeMap<TimelineId, usize>,
) -> BTreeMap<usize, String> {
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    let mut others = 0;
    for (id, row) in rows {
        if *row == MAX_ROWS - 1 {
            others += 1;
            names.insert(*row, format!("{others} others"));
        } else {
            names.insert(*row, label(graph, *id));
        }
    }
    names.entry(0).or_insert_with(|| label(graph, path.thread()));
    names
}

fn hint(graph: &WaitGraph, of: &Segment, origin: Timestamp) -> String {
    let begin = of.start.as_ns().abs_diff(origin.as_ns()) as f64 / 1e9;
    let us = of.time() as f64 / 1e3;
    format!("{}\n{us:.3} µs from {begin:.9} s", words(graph, of))
}

fn legend(svg: &mut String) {
    let labels = ["runs", "waits for a CPU", "waits", "unknown"];
    let mut x = 10.0;
    for (paint, label) in PAINTS.into_iter().zip(labels) {
        _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"28\" width=\"14\" height=\"12\" fill=\"{}\" stroke=\"#777\" \
             stroke-width=\"0.5\"/><text x=\"{}\" y=\"38\">{label}</text>",
            color_of(paint),
            x + 20.0,
        );
        x += 40.0 + 7.5 * label.len() as f64;
    }
}

fn axis(svg: &mut String, length: u64, height: f64) {
    for mark in 0..=MARKS {
        let part = mark as f64 / MARKS as f64;
        let x = LEFT + WIDTH * part;
        let anchor = if mark == MARKS { "end" } else { "start" };
        _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {}V{height}\" stroke=\"#333\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"{anchor}\" fill=\"#999\">+{:.6} s</text>",
            TOP - 4.0,
            TOP - 8.0,
            length as f64 * part / 1e9
        );
    }
}
