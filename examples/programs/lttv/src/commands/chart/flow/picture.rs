//! An SVG picture with a row for each CPU and process.

use std::fmt::Write;

use ltt_read::{Timestamp, TraceIndex};
use lttv_common::escape;
use lttv_common::losses::Losses;
use lttv_common::paint::Paint;
use lttv_common::settings::color_of;
use lttv_common::time::date_text;
use lttv_filter::Zone;
use lttv_requests::views::{
    ControlFlow, CpuThreads, ProcessLabel, ProcessState, Segment, TimeWindow,
};
use lttv_state::kernel::{KernelState, NameId};

use super::arrows::{self, Arrows};
use super::cpus;
use super::hint::{lines_escaped, times};
use super::{ROW, WIDTH};
use crate::commands::chart::clock_note;
use crate::commands::chart::hatch::{self, Area};
use crate::commands::chart::span::Span;

/// The columns of the labels: their left edges and headings.
const COLUMNS: [(f64, &str); 3] = [(10.0, "command"), (190.0, "TID"), (250.0, "PID")];
/// The left edge of the chart or of the names of hosts, if there are several, and their width.
const LEFT: f64 = 300.0;
const HOST: f64 = 110.0;
/// The height of the title, the legend and the axis, above the rows.
const TOP: f64 = 82.0;
/// The thickness of the line of an active state, and of a waiting one.
const ACTIVE: f64 = 12.0;
const WAITING: f64 = 4.0;
/// The number of intervals on the axis.
const MARKS: u64 = 6;

/// The contents of a picture.
pub(super) struct Picture<'p> {
    pub(super) flow: &'p ControlFlow,
    pub(super) cpus: &'p CpuThreads,
    pub(super) kernel: &'p KernelState,
    pub(super) span: &'p Span,
    pub(super) losses: &'p Losses,
    pub(super) arrows: Arrows<'p>,
    /// The clocks of the times, if they are corrected.
    pub(super) clock: Option<&'p str>,
    /// The host of each trace, if there are several hosts.
    pub(super) hosts_of_traces: Option<Vec<&'p str>>,
}

impl Picture<'_> {
    /// Draws the rows: those that were active, or all.
    pub(super) fn draw(&self, all: bool, zone: &Zone) -> String {
        let Picture { flow, kernel, span, losses, arrows, clock, hosts_of_traces, .. } = self;
        let (timeline, labels) = (flow.timeline(), flow.labels());
        let mut order = flow.order();
        // Idle CPUs have no row of their own.
        order.retain(|row| all || timeline.rows()[*row].is_active() && labels[*row].tid != Some(0));
        let rows: Vec<_> =
            order.iter().map(|row| (&timeline.rows()[*row], &labels[*row])).collect();
        let window = timeline.window();
        let (cpus, timeline_of_cpus) = (self.cpus.order(), self.cpus.timeline());
        let inner = ROW * (cpus.len() + rows.len()) as f64;
        let left = LEFT + if hosts_of_traces.is_some() { HOST } else { 0.0 };
        let (width, height) = (left + WIDTH + 10.0, TOP + inner + 10.0);
        let (from, to) = (date_text(span.from, zone), date_text(span.to, zone));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"DejaVu Sans, Helvetica, sans-serif\" font-size=\"12\" fill=\"#ddd\">\n\
             <title>Threads on CPUs and states of each process</title>\n{}\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#000\"/>\n\
             <text x=\"10\" y=\"18\">{from} to {to}; times are after the first event{}</text>\n",
            hatch::PATTERN,
            clock_note(*clock)
        );
        legend(&mut svg, !arrows.messages.is_empty(), !losses.is_empty());
        axis(&mut svg, window, span.first, left, height);
        heading(&mut svg, hosts_of_traces.is_some());
        // The zoomed part is in an inner SVG, measured in parts of its width.
        _ = writeln!(
            svg,
            "<svg class=\"chart\" x=\"{left}\" y=\"{TOP}\" width=\"{WIDTH}\" \
             height=\"{inner:.0}\" viewBox=\"0 0 {WIDTH} {inner:.0}\" \
             preserveAspectRatio=\"none\">"
        );
        let names =
            |trace: TraceIndex, name| kernel.trace(trace).map_or("", |state| state.name(name));
        cpus::draw(&mut svg, self.cpus, &cpus, span.first, names);
        for (number, (row, label)) in (cpus.len()..).zip(&rows) {
            let names = |name| names(row.key().trace, name);
            let top = ROW * number as f64;
            for segment in row.segments() {
                state(&mut svg, &segment, top, window, &hint(label, &segment, span.first, names));
            }
        }
        let places = (cpus.len()..).zip(&rows).map(|(number, (row, _))| (*row.key(), number));
        arrows.draw(&mut svg, &places.collect(), span);
        let area = Area { left: 0.0, width: WIDTH, top: 0.0, height: inner };
        hatch::ranges(&mut svg, losses, span, area, 0.5);
        svg += "</svg>\n";
        let host_of =
            |trace: TraceIndex| hosts_of_traces.as_ref().and_then(|hosts| hosts.get(trace.0));
        for (number, row) in cpus.iter().enumerate() {
            let trace = timeline_of_cpus.rows()[*row].key().trace;
            let y = TOP + ROW * number as f64 + 13.0;
            for (x, text) in
                [(COLUMNS[0].0, Some(&*self.cpus.labels()[*row])), (LEFT, host_of(trace).copied())]
            {
                let Some(text) = text else { continue };
                _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{}</text>", escape::xml(text));
            }
        }
        for (number, (row, of)) in (cpus.len()..).zip(&rows) {
            let host = host_of(row.key().trace);
            label(&mut svg, of, host.copied(), TOP + ROW * number as f64 + 13.0);
        }
        svg + "</svg>\n"
    }
}

fn legend(svg: &mut String, with_messages: bool, with_losses: bool) {
    let mut x = 10.0;
    for paint in Paint::OF_PROCESSES {
        _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"28\" width=\"14\" height=\"12\" fill=\"{}\" stroke=\"#777\" \
             stroke-width=\"0.5\"/><text x=\"{}\" y=\"38\">{}</text>",
            color_of(paint),
            x + 20.0,
            paint.label()
        );
        x += 40.0 + 7.0 * paint.label().len() as f64;
    }
    if with_messages {
        arrows::legend(svg, x, 28.0);
        x += 170.0;
    }
    if with_losses {
        hatch::legend(svg, x, 28.0);
    }
}

fn heading(svg: &mut String, with_hosts: bool) {
    for (x, text) in COLUMNS.into_iter().chain(with_hosts.then_some((LEFT, "host"))) {
        _ = writeln!(svg, "<text x=\"{x}\" y=\"{}\" fill=\"#999\">{text}</text>", TOP - 8.0);
    }
}

fn axis(svg: &mut String, window: TimeWindow, origin: Timestamp, left: f64, height: f64) {
    let (begin, width) = (window.start().as_ns().saturating_sub(origin.as_ns()), window.width());
    _ = writeln!(
        svg,
        "<g class=\"axis\" data-begin=\"{begin}\" data-width=\"{width}\" fill=\"#999\">"
    );
    for mark in 0..=MARKS {
        let part = mark as f64 / MARKS as f64;
        let x = left + WIDTH * part;
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

fn label(svg: &mut String, of: &ProcessLabel, host: Option<&str>, y: f64) {
    let number = |of: Option<i32>| of.map_or_else(|| "?".to_owned(), |of| of.to_string());
    let texts = [of.title().into_owned(), number(of.tid), number(of.pid)];
    let texts = COLUMNS.map(|(x, _)| x).into_iter().zip(texts);
    for (x, text) in texts.chain(host.map(|host| (LEFT, host.to_owned()))) {
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
        color_of(Paint::from(of.state)),
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
    text += &times(of, origin);
    text
}
