//! The SVG picture of a flame graph: a rectangle for each path, on top of that of its caller.

use std::io::{self, Write};

use lttv_common::calls::color::color;
use lttv_common::escape;
use lttv_common::paint::Color;
use lttv_common::units::length;
use lttv_state::flame_graph::{FlameGraph, FlameNode};
use lttv_state::stack_samples::WeightUnit;

const MARGIN: f64 = 10.0;
const TOP: f64 = 46.0;
const ROW: f64 = 18.0;
/// The width of a character of a label.
const CHARACTER: f64 = 6.7;
/// The colour of the root.
const ROOT: Color = Color(0xd8, 0xd8, 0xd8);
/// Narrower rectangles are left out.
const NARROWEST: f64 = 0.1;

/// Writes the picture of a graph.
pub(super) fn write(
    out: &mut impl Write,
    graph: &FlameGraph,
    title: &str,
    width: u32,
) -> io::Result<()> {
    let picture = Picture { graph, width: f64::from(width) - 2.0 * MARGIN };
    let rects = picture.rects();
    let rows = rects.iter().map(|rect| graph.node(rect.node).depth).max().unwrap_or(0) + 1;
    let height = TOP + ROW * rows as f64 + MARGIN;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"DejaVu Sans Mono, monospace\" \
         font-size=\"11\">\n\
         <style>g:hover rect {{ stroke: #000; stroke-width: 1 }}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{}\" y=\"28\" font-size=\"16\" text-anchor=\"middle\">{}</text>",
        f64::from(width) / 2.0,
        escape::xml(title),
    )?;
    for rect in &rects {
        picture.write(out, rect, height)?;
    }
    writeln!(out, "</svg>")
}

/// The place of a path.
struct Rect {
    node: usize,
    x: f64,
    width: f64,
}

struct Picture<'g> {
    graph: &'g FlameGraph,
    width: f64,
}

impl Picture<'_> {
    /// Returns the places of all paths that are wide enough, callers first.
    fn rects(&self) -> Vec<Rect> {
        let all = self.graph.node(0).total.max(1) as f64;
        let mut rects = vec![Rect { node: 0, x: MARGIN, width: self.width }];
        let mut at = 0;
        while let Some(Rect { node, x, .. }) = rects.get(at) {
            let mut x = *x;
            for child in &self.graph.node(*node).children {
                let width = self.graph.node(*child).total as f64 / all * self.width;
                if width >= NARROWEST {
                    rects.push(Rect { node: *child, x, width });
                }
                x += width;
            }
            at += 1;
        }
        rects
    }

    fn write(&self, out: &mut impl Write, rect: &Rect, height: f64) -> io::Result<()> {
        let node = self.graph.node(rect.node);
        let name = if node.parent.is_none() { "all" } else { &node.name };
        let y = height - MARGIN - ROW * (node.depth + 1) as f64;
        let Rect { x, width, .. } = rect;
        writeln!(
            out,
            "<g><title>{}</title><rect x=\"{x:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{}\" \
             fill=\"{}\" rx=\"1\"/>{}</g>",
            escape::xml(&self.description(name, node)),
            (width - 0.3).max(NARROWEST),
            ROW - 1.0,
            if node.parent.is_none() { ROOT } else { color(name) },
            label(name, *x, y, *width),
        )
    }

    /// Returns a weight with its unit.
    fn amount(&self, weight: u64) -> String {
        match self.graph.unit() {
            WeightUnit::Nanoseconds => length(weight),
            unit => format!("{weight} {unit}"),
        }
    }

    /// Returns the text of a frame's title.
    fn description(&self, name: &str, node: &FlameNode) -> String {
        let all = self.graph.node(0).total.max(1) as f64;
        let percent = |weight: u64| 100.0 * weight as f64 / all;
        let mut text = format!(
            "{name}: {} ({:.2} %), itself {} ({:.2} %)",
            self.amount(node.total),
            percent(node.total),
            self.amount(node.own),
            percent(node.own),
        );
        if let (Some(mean), Some(least), Some(most)) =
            (node.calls.mean(), node.calls.shortest(), node.calls.longest())
        {
            text += &format!(
                "; {}, {} on average, {} to {}",
                match node.calls.count() {
                    1 => "1 call".to_owned(),
                    calls => format!("{calls} calls"),
                },
                length(mean as u64),
                length(least),
                length(most),
            );
        }
        text
    }
}

/// Returns the label of a frame, cut to its width; nothing if there is no room.
fn label(name: &str, x: f64, y: f64, width: f64) -> String {
    let room = ((width - 6.0) / CHARACTER).max(0.0) as usize;
    let text: String = match name.chars().count() {
        len if len <= room => name.to_owned(),
        _ if room >= 4 => name.chars().take(room - 2).chain("..".chars()).collect(),
        _ => return String::new(),
    };
    format!("<text x=\"{:.2}\" y=\"{}\">{}</text>", x + 3.0, y + 12.5, escape::xml(&text))
}
