//! Draws a bar chart of the output of `compare.sh -t FILE`.

use std::fmt::Write;
use std::process::ExitCode;

/// A line of the file.
struct Row<'a> {
    trace: &'a str,
    events: f64,
    work: &'a str,
    ours_ms: f64,
    /// The time of babeltrace2 in ms; `None` if it was not measured.
    peer_ms: Option<f64>,
}

impl<'a> Row<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut columns = line.split('\t');
        let (trace, events, work) = (columns.next()?, columns.next()?, columns.next()?);
        let (ours, _, peer) = (columns.next()?, columns.next()?, columns.next()?);
        let (events, ours_ms) = (events.parse().ok()?, ours.parse().ok()?);
        Some(Row { trace, events, work, ours_ms, peer_ms: peer.parse().ok() })
    }

    /// Returns the CPU time per event of the trace, in ns.
    fn ns(&self, ms: f64) -> f64 {
        ms * 1e6 / self.events
    }
}

const WIDTH: f64 = 860.0;
const LABELS: f64 = 250.0;
const BARS: f64 = 480.0;
const ROW: f64 = 44.0;
const BAR: f64 = 15.0;
const OURS: &str = "#c4501b";
const PEER: &str = "#8a9099";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(from), Some(to)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: performance_chart FIGURES.tsv CHART.svg");
        return ExitCode::FAILURE;
    };
    let drawn = std::fs::read_to_string(&from).and_then(|text| {
        let rows: Vec<Row<'_>> = text.lines().filter_map(Row::parse).collect();
        std::fs::write(&to, chart(&rows))
    });
    match drawn {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("performance_chart: {from} to {to}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn chart(rows: &[Row<'_>]) -> String {
    let times = rows.iter().flat_map(|r| [r.ns(r.ours_ms), r.ns(r.peer_ms.unwrap_or(0.0))]);
    let scale = BARS / times.fold(1.0, f64::max);
    let (mut body, mut y) = (String::new(), 58.0);
    for traces in rows.chunk_by(|a, b| a.trace == b.trace) {
        y += 26.0;
        text(&mut body, 16.0, y, "bold", traces[0].trace);
        y += 10.0;
        for row in traces {
            draw(&mut body, row, y, scale);
            y += ROW;
        }
    }
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        height = y + 12.0
    );
    text(&mut svg, 16.0, 26.0, "bold", "CPU time per event of the trace, in nanoseconds");
    for (x, color, name) in [(16.0, OURS, "LTTV for Rust"), (150.0, PEER, "babeltrace2")] {
        bar(&mut svg, x, 38.0, 12.0, color);
        text(&mut svg, x + 20.0, 50.0, "normal", name);
    }
    svg + &body + "</svg>\n"
}

/// Draws both bars of a row, with its label and the ratio.
fn draw(svg: &mut String, row: &Row<'_>, y: f64, scale: f64) {
    text(svg, 16.0, y + 20.0, "normal", row.work);
    let ratio = row.peer_ms.map(|peer| format!("  ({:.1} times faster)", peer / row.ours_ms));
    let ours = (row.ours_ms, OURS, ratio.unwrap_or_default());
    let peer = row.peer_ms.map(|ms| (ms, PEER, String::new()));
    for (number, (ms, color, note)) in [Some(ours), peer].into_iter().flatten().enumerate() {
        let (ns, top) = (row.ns(ms), y + number as f64 * (BAR + 1.0));
        bar(svg, LABELS, top, (ns * scale).max(1.0), color);
        let label = if ns < 10.0 { format!("{ns:.1}{note}") } else { format!("{ns:.0}{note}") };
        text(svg, LABELS + ns * scale + 6.0, top + 12.0, "normal", &label);
    }
}

fn bar(svg: &mut String, x: f64, y: f64, width: f64, color: &str) {
    let _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width:.1}\" height=\"{BAR}\" fill=\"{color}\"/>"
    );
}

fn text(svg: &mut String, x: f64, y: f64, weight: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" font-weight=\"{weight}\">{text}</text>");
}
