//! The rows of CPUs: the thread on each.

use std::fmt::Write;

use ltt_read::{Timestamp, TraceIndex};
use lttv_common::calls::color::color;
use lttv_common::escape;
use lttv_requests::views::{CpuThread, CpuThreads, Segment};
use lttv_state::kernel::NameId;

use super::hint::{lines_escaped, times};
use super::{ROW, WIDTH};

/// The height of a run, and of the line of an idle CPU.
const RUN: f64 = 14.0;
const IDLE: f64 = 1.0;
/// The width of a character of a name.
const CHARACTER: f64 = 7.0;

/// Draws the rows of CPUs in an order, with the names of threads where they fit. `names` returns the name of
/// a thread of a trace.
pub(super) fn draw<'k>(
    svg: &mut String,
    cpus: &CpuThreads,
    order: &[usize],
    origin: Timestamp,
    names: impl Fn(TraceIndex, NameId) -> &'k str,
) {
    let (timeline, labels) = (cpus.timeline(), cpus.labels());
    let width = timeline.window().width() as f64;
    let start = timeline.window().start();
    let mut fitting = String::new();
    for (number, row) in order.iter().enumerate() {
        let (label, row) = (&labels[*row], &timeline.rows()[*row]);
        let middle = ROW * (number as f64 + 0.5);
        for run in row.segments() {
            let x = run.start.since(start) as f64 / width * WIDTH;
            let length = run.length() as f64 / width * WIDTH;
            if run.active == 0 {
                let top = middle - IDLE / 2.0;
                _ = writeln!(
                    svg,
                    "<rect x=\"{x:.4}\" y=\"{top:.1}\" width=\"{length:.4}\" height=\"{IDLE}\" fill=\"#777\"/>"
                );
                continue;
            }
            let name = names(row.key().trace, run.state.name);
            let title = title(run.state, name);
            let height = (RUN * run.active as f64 / run.length() as f64).max(IDLE);
            _ = writeln!(
                svg,
                "<rect x=\"{x:.4}\" y=\"{:.1}\" width=\"{length:.4}\" height=\"{height:.1}\" fill=\"{}\" \
                 data-name=\"{}\"><title>{}</title></rect>",
                middle - height / 2.0,
                color(&title),
                escape::xml(&title),
                lines_escaped(&hint(label, &title, &run, origin)),
            );
            if !run.crowded && length >= CHARACTER * title.chars().count() as f64 + 4.0 {
                _ = writeln!(
                    fitting,
                    "<text x=\"{:.4}\" y=\"{:.1}\">{}</text>",
                    x + 3.0,
                    middle + 4.0,
                    escape::xml(&title)
                );
            }
        }
    }
    _ = writeln!(svg, "<g class=\"names\" fill=\"#000\" font-size=\"11\">\n{fitting}</g>");
}

/// Returns the name of a thread, or its number.
fn title(thread: CpuThread, name: &str) -> String {
    match (name, thread.tid) {
        ("", None) => "?".to_owned(),
        ("", Some(tid)) => tid.to_string(),
        (name, _) => name.to_owned(),
    }
}

/// Returns the details of a run, shown when the user points at it.
fn hint(cpu: &str, title: &str, run: &Segment<CpuThread>, origin: Timestamp) -> String {
    let mut text = format!("{cpu}: {title}");
    if let Some(tid) = run.state.tid {
        _ = write!(text, " ({tid})");
    }
    if run.crowded {
        _ = write!(text, " and others, {:.3} µs of work", run.active as f64 / 1e3);
    }
    text + &times(run, origin)
}
