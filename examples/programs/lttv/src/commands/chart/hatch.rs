//! Hatched ranges: the times in which events were lost.

use std::fmt::Write;

use ltt_read::TimeSpan;
use lttv_common::escape;
use lttv_common::losses::{LossRange, Losses, Lost};

use super::span::Span;

/// The definition of the pattern.
pub(super) const PATTERN: &str = r##"<defs><pattern id="lost" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="2" height="5" fill="#ff4fd8"/></pattern></defs>
"##;

/// The text of the legend.
pub(super) const LABEL: &str = "events lost";

/// An area of a picture whose width shows the time of a chart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) width: f64,
    pub(super) top: f64,
    pub(super) height: f64,
}

/// Adds the box and the text of the legend.
pub(super) fn legend(svg: &mut String, x: f64, y: f64) {
    _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"14\" height=\"12\" fill=\"url(#lost)\" stroke=\"#777\" \
         stroke-width=\"0.5\"/><text x=\"{}\" y=\"{}\">{LABEL}</text>",
        x + 20.0,
        y + 10.0
    );
}

/// Adds a hatched rectangle for each time with losses. Each is wide enough to be seen.
pub(super) fn ranges(svg: &mut String, losses: &Losses, span: &Span, area: Area, opacity: f64) {
    let Area { left, width, top, height } = area;
    for of in losses.spans(TimeSpan { start: span.from, end: span.to }) {
        let x = (span.part(of.start) * width).min(width - 1.5);
        let length = (span.part(of.end) * width - x).max(1.5);
        _ = writeln!(
            svg,
            "<rect class=\"lost\" x=\"{:.2}\" y=\"{top:.1}\" width=\"{length:.2}\" \
             height=\"{height:.1}\" fill=\"url(#lost)\" opacity=\"{opacity}\"><title>{}</title></rect>",
            left + x,
            escape::xml(&hint(losses, of, span))
        );
    }
}

/// Describes the losses of a time.
fn hint(losses: &Losses, of: TimeSpan, span: &Span) -> String {
    let overlaps = |range: &&LossRange| {
        range.start.is_none_or(|start| start <= of.end)
            && range.end.is_none_or(|end| end >= of.start)
    };
    let (mut ranges, mut events, mut packets) = (0u64, 0u64, 0u64);
    for range in losses.ranges().iter().filter(overlaps) {
        ranges += 1;
        let count = range.at_most.unwrap_or(0);
        match range.what {
            Lost::Events => events = events.saturating_add(count),
            Lost::Packets => packets = packets.saturating_add(count),
        }
    }
    let (from, to) = (span.seconds(of.start), span.seconds(of.end));
    let packets = if packets > 0 { format!(", {packets} packets") } else { String::new() };
    format!("lost: up to {events} events{packets} in {ranges} ranges, {from:.9} – {to:.9} s")
}
