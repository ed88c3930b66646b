//! The picture of a pair: its messages, and the possible relations of both clocks.

mod axes;
mod points;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use ltt_read::{ClockTransform, Timestamp};
use lttv_common::clocks::{Found, drift_ppm, labels, messages};
use lttv_common::escape;
use lttv_common::report::Report;
use lttv_common::text::output::Output;
use lttv_context::Traceset;
use lttv_context::synchronize::HostIndex;
use lttv_context::synchronize::graph::PairResult;
use lttv_context::synchronize::pairs::PairQuality;

use self::axes::{Axis, number};
use self::points::Points;

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 660.0;
const LEFT: f64 = 100.0;
const RIGHT: f64 = 1170.0;
const TOP: f64 = 76.0;
const BOTTOM: f64 = 560.0;

/// The colours of the messages in both directions, of the line and of the band.
const FORWARD: &str = "#5aa9e6";
const BACKWARD: &str = "#f4a259";
const LINE: &str = "#8fd18f";
const BAND: &str = "#8fd18f";

/// The number of places at which the band is drawn.
const STEPS: u32 = 240;

/// Draws the messages between two hosts, or between those with the most messages.
///
/// Reads the traces once more.
pub(super) fn write(
    path: &Path,
    pair: Option<(HostIndex, HostIndex)>,
    found: &Found,
    traceset: &Traceset,
    report: &mut Report,
) -> Result<(), Box<dyn std::error::Error>> {
    let names = labels(&found.hosts);
    let pairs = found.clocks.pairs().iter();
    let chosen = match pair {
        Some((a, b)) => {
            pairs.into_iter().find(|of| [(a, b), (b, a)].contains(&(of.first, of.second)))
        }
        None => pairs.max_by_key(|of| of.forward + of.backward),
    };
    let Some(chosen) = chosen else {
        let between = match pair {
            Some((a, b)) => format!("`{}` and `{}`", names[a.0], names[b.0]),
            None => "hosts".to_owned(),
        };
        let path = path.display();
        report.error(format!("{path}: not written: there are no messages between {between}"));
        return Ok(());
    };
    let line = chosen.bounds.line().and_then(|line| line.transform().ok());
    let mut points = Points::new(line);
    let read = messages(traceset, &found.hosts, |message| {
        if (message.sender, message.receiver) == (chosen.first, chosen.second) {
            points.add(true, message.sent, message.received);
        } else if (message.sender, message.receiver) == (chosen.second, chosen.first) {
            points.add(false, message.received, message.sent);
        }
    })?;
    if let Some(interrupted) = read.interrupted {
        return Err(interrupted.into());
    }
    let picture = Picture {
        pair: chosen,
        names: [&names[chosen.first.0], &names[chosen.second.0]].map(|name| escape::xml(name)),
        points: &points,
        line,
    };
    let mut out = Output::new(Some(path))?;
    out.write_all(picture.draw().as_bytes())?;
    Ok(out.finish()?)
}

/// The contents of a picture.
struct Picture<'p> {
    pair: &'p PairResult,
    /// The names of both hosts, escaped.
    names: [String; 2],
    points: &'p Points,
    line: Option<ClockTransform>,
}

impl Picture<'_> {
    /// Returns the picture.
    fn draw(&self) -> String {
        let [first, second] = &self.names;
        let (start, length) = self.points.span();
        let x = Axis::new(0.0, length, LEFT, RIGHT);
        let (low, high) = self.points.range();
        let y = Axis::new(low, high, BOTTOM, TOP);
        let mut svg = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="12" fill="#d8d8d8">
<clipPath id="plot"><rect x="{LEFT}" y="{TOP}" width="{}" height="{}"/></clipPath>
<rect width="{WIDTH}" height="{HEIGHT}" fill="#1c1c1c"/>
<text x="12" y="26" font-size="16" fill="#ffffff">Messages between {first} and {second}</text>
<text x="12" y="48">{}</text>
"##,
            RIGHT - LEFT,
            BOTTOM - TOP,
            self.summary(),
        );
        x.vertical_lines(&mut svg, TOP, BOTTOM);
        y.horizontal_lines(&mut svg, LEFT, RIGHT);
        let (middle, under) = ((LEFT + RIGHT) / 2.0, BOTTOM + 36.0);
        let across = (TOP + BOTTOM) / 2.0;
        let difference = match self.line {
            Some(_) => "after subtracting the line",
            None => "after subtracting that of the first message",
        };
        _ = writeln!(
            svg,
            r##"<text x="{middle}" y="{under}" text-anchor="middle">time of {first} after the first message</text>
<text transform="translate(20 {across}) rotate(-90)" text-anchor="middle">time of {second} − time of {first}, {difference}</text>
<g clip-path="url(#plot)">"##
        );
        self.band(&mut svg, start, &x, &y);
        for (is_forward, color) in [(true, FORWARD), (false, BACKWARD)] {
            let mut path = String::new();
            for (at, height) in self.points.of(is_forward) {
                _ = write!(path, "M{:.1} {:.1}h0", x.at(at), y.at(height));
            }
            _ = writeln!(
                svg,
                r##"<path class="messages" d="{path}" stroke="{color}" stroke-width="4" stroke-linecap="round" fill="none" opacity="0.75"/>"##
            );
            let hull: Vec<_> = self.points.hull(is_forward).collect();
            let corners: Vec<_> = hull
                .iter()
                .map(|(at, height)| format!("{:.1},{:.1}", x.at(*at), y.at(*height)))
                .collect();
            _ = writeln!(
                svg,
                r##"<polyline class="hull" points="{}" fill="none" stroke="{color}" stroke-width="1.5"/>"##,
                corners.join(" ")
            );
        }
        if self.line.is_some() {
            let zero = y.at(0.0);
            _ = writeln!(
                svg,
                r##"<path class="line" d="M{LEFT} {zero:.1}H{RIGHT}" stroke="{LINE}" stroke-width="1.5" stroke-dasharray="8 4"/>"##
            );
        }
        svg += "</g>\n";
        self.legend(&mut svg);
        svg + "</svg>\n"
    }

    /// Returns the line under the title.
    fn summary(&self) -> String {
        let [first, second] = &self.names;
        let (forward, backward) = (self.pair.forward, self.pair.backward);
        let mut text = format!("{forward} to {second}, {backward} to {first}");
        match (self.pair.bounds.quality(), &self.line) {
            (PairQuality::Contradiction(of), _) => {
                let (amount, unit) = number(of.ns as f64, of.ns as f64);
                text += &format!(
                    "; no line satisfies all: they contradict each other by {amount} {unit}"
                );
            }
            (_, Some(line)) => {
                text += &format!(
                    "; the clock of {second} drifts by {:.3} ppm against that of {first}",
                    drift_ppm(line)
                );
                if let Some(ns) = self.pair.weight {
                    let (amount, unit) = number(ns as f64, ns as f64);
                    text += &format!(", known within {amount} {unit}");
                }
            }
            (quality, None) => text += &format!("; {quality}: they do not determine a line"),
        }
        match self.points.outside() {
            0 => text,
            1 => text + "; 1 slower message is outside of the picture",
            more => text + &format!("; {more} slower messages are outside of the picture"),
        }
    }

    /// Draws the range of possible times.
    fn band(&self, svg: &mut String, start: Timestamp, x: &Axis, y: &Axis) {
        let Some(line) = self.line else { return };
        let (_, length) = self.points.span();
        let (mut upper, mut lower) = (Vec::new(), Vec::new());
        for step in 0..=STEPS {
            let at = length * f64::from(step) / f64::from(STEPS);
            let time = start.saturating_add(at as u64);
            let Some(possible) = self.pair.bounds.band().at(time) else { continue };
            let chosen = line.apply(time);
            let corner = |end: Timestamp| {
                let height = end.signed_ns_since(chosen) as f64;
                format!("{:.1},{:.1}", x.at(at), y.at(height))
            };
            upper.push(corner(possible.end));
            lower.push(corner(possible.start));
        }
        upper.extend(lower.into_iter().rev());
        _ = writeln!(
            svg,
            r##"<polygon class="band" points="{}" fill="{BAND}" fill-opacity="0.2"/>"##,
            upper.join(" ")
        );
    }

    /// Draws the legend below the picture.
    fn legend(&self, svg: &mut String) {
        let [first, second] = &self.names;
        let y = BOTTOM + 70.0;
        let dot = |color: &str| {
            format!(
                r##"<path d="M8 -4h0" stroke="{color}" stroke-width="6" stroke-linecap="round"/>"##
            )
        };
        let stroke = |color: &str, more: &str| {
            format!(r##"<path d="M0 -4H18" stroke="{color}" stroke-width="1.5"{more}/>"##)
        };
        let mut entries = vec![
            (dot(FORWARD), format!("message to {second}")),
            (dot(BACKWARD), format!("message to {first}")),
            (stroke("#d8d8d8", ""), "hull: a possible line does not cross it".to_owned()),
        ];
        if self.line.is_some() {
            let square = format!(
                r##"<rect y="-10" width="18" height="12" fill="{BAND}" fill-opacity="0.35"/>"##
            );
            entries.push((square, "possible times".to_owned()));
            let dashes = r##" stroke-dasharray="8 4""##;
            entries.push((stroke(LINE, dashes), "chosen line".to_owned()));
        }
        let mut x = LEFT;
        for (mark, text) in entries {
            _ = writeln!(
                svg,
                r##"<g transform="translate({x:.0} {y})">{mark}<text x="24">{text}</text></g>"##
            );
            x += 54.0 + text.chars().count() as f64 * 7.0;
        }
    }
}
