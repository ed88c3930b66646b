//! The SVG picture.

use std::io::{self, Write};

use lttv_examples::escape;
use lttv_examples::paint::Paint;
use lttv_state::stats::TraceStatistics;

use crate::rows::{BLACK, Column, Row, Rows};

/// The paints of CPUs with a known state.
const CPU: [Paint; 5] = [Paint::Busy, Paint::Irq, Paint::Softirq, Paint::Trap, Paint::Idle];

const LEFT: u32 = 190;
const RIGHT: u32 = 70;
const TOP: u32 = 56;
const ROW: u32 = 18;
const BAR: u32 = 12;
const GAP: u32 = 26;

/// Returns the number of columns of pixels for a width.
pub(crate) fn columns(width: u32) -> usize {
    (width - LEFT - RIGHT) as usize
}

/// Writes the picture.
pub(crate) fn write(
    out: &mut impl Write,
    rows: &Rows,
    trace: &TraceStatistics,
    width: u32,
) -> io::Result<()> {
    let cpus = TOP + GAP;
    let processes = cpus + rows.cpus.len() as u32 * ROW + GAP;
    let legend = processes + rows.processes.len() as u32 * ROW + 34;
    let height = legend + 64;
    writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="11" fill="#d8d8d8">
<rect width="{width}" height="{height}" fill="#1c1c1c"/>
<text x="12" y="24" font-size="15" fill="#ffffff">CPUs and the busiest processes</text>
<text x="12" y="42">{} to {} (seconds), {} events</text>"##,
        trace.start(),
        trace.end(),
        trace.total().events.total(),
    )?;
    axis(out, rows, width, cpus - 8, legend - 26)?;
    writeln!(out, r##"<g shape-rendering="crispEdges">"##)?;
    let total = rows.time();
    group(out, ("CPUs", "busy"), &rows.cpus, cpus, (width, total))?;
    group(out, ("Processes", "on CPU"), &rows.processes, processes, (width, total))?;
    writeln!(out, "</g>")?;
    let named = |paint: Paint| (paint, paint.label());
    key(out, "CPUs", CPU.map(named).into_iter().chain([(BLACK, "unknown")]), legend)?;
    key(out, "Processes", Paint::OF_PROCESSES.map(named).into_iter(), legend + 22)?;
    writeln!(out, "</svg>")
}

/// Writes the rows of one kind, with their share of active time.
fn group(
    out: &mut impl Write,
    (title, share): (&str, &str),
    rows: &[Row],
    top: u32,
    (width, time): (u32, u64),
) -> io::Result<()> {
    let (y, end) = (top - 6, width - 12);
    writeln!(out, r##"<text x="12" y="{y}" fill="#ffffff">{title}</text>"##)?;
    writeln!(out, r##"<text x="{end}" y="{y}" text-anchor="end" fill="#9a9a9a">{share}</text>"##)?;
    for (number, row) in (0..).zip(rows) {
        let y = top + number * ROW;
        let (text_y, label_x) = (y + BAR - 2, LEFT - 10);
        let label = escape::xml(&row.label);
        writeln!(out, r##"<text x="{label_x}" y="{text_y}" text-anchor="end">{label}</text>"##)?;
        bar(out, row, y)?;
        let active = Paint::ALL.into_iter().filter(|paint| paint.is_active());
        let on: u64 = active.map(|paint| row.time_of(paint)).sum();
        let percent = on as f64 * 100.0 / time.max(1) as f64;
        writeln!(out, r##"<text x="{end}" y="{text_y}" text-anchor="end">{percent:.1} %</text>"##)?;
    }
    Ok(())
}

/// Writes a row. Each column of pixels is divided among its colours in proportion to their
/// times; adjacent columns of one colour become one rectangle.
fn bar(out: &mut impl Write, row: &Row, top: u32) -> io::Result<()> {
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
            let rgb = Paint::ALL[color].color();
            writeln!(
                out,
                r##"<rect x="{left}" y="{top}" width="{same}" height="{BAR}" fill="{rgb}"/>"##
            )?;
            x += same;
            continue;
        }
        let time: u64 = column.iter().sum();
        let mut at = f64::from(top + BAR);
        for (color, part) in column.iter().enumerate().filter(|(_, part)| **part > 0) {
            let height = *part as f64 / time as f64 * f64::from(BAR);
            at -= height;
            let rgb = Paint::ALL[color].color();
            writeln!(
                out,
                r##"<rect x="{left}" y="{at:.2}" width="1" height="{height:.2}" fill="{rgb}" shape-rendering="auto"/>"##
            )?;
        }
        x += 1;
    }
    Ok(())
}

/// Writes lines at round times after the start of the trace.
fn axis(out: &mut impl Write, rows: &Rows, width: u32, top: u32, bottom: u32) -> io::Result<()> {
    let time = rows.time().max(1);
    let mut step = 1u64;
    // About ten lines, 1, 2 or 5 times a power of ten ns apart.
    while time / step > 12 {
        step = match step.to_string().as_bytes()[0] {
            b'1' => step * 2,
            b'2' => step / 2 * 5,
            _ => step * 2,
        };
    }
    let (unit, name) = match step {
        1_000_000_000.. => (1e9, "s"),
        1_000_000.. => (1e6, "ms"),
        1_000.. => (1e3, "µs"),
        _ => (1.0, "ns"),
    };
    let columns = columns(width) as f64;
    for line in 0..=time / step {
        let x = f64::from(LEFT) + (line * step) as f64 / time as f64 * columns;
        let text = (line * step) as f64 / unit;
        writeln!(
            out,
            r##"<path d="M{x:.1} {top}V{bottom}" stroke="#4a4a4a"/><text x="{x:.1}" y="{}" text-anchor="middle" fill="#9a9a9a">{text} {name}</text>"##,
            bottom + 14
        )?;
    }
    Ok(())
}

fn key<'l>(
    out: &mut impl Write,
    title: &str,
    paints: impl Iterator<Item = (Paint, &'l str)>,
    y: u32,
) -> io::Result<()> {
    writeln!(out, r##"<text x="12" y="{}" fill="#ffffff">{title}</text>"##, y + 10)?;
    let mut x = 86;
    for (paint, meaning) in paints {
        let rgb = paint.color();
        writeln!(
            out,
            r##"<rect x="{x}" y="{y}" width="12" height="12" fill="{rgb}" stroke="#777777"/><text x="{}" y="{}">{meaning}</text>"##,
            x + 17,
            y + 10
        )?;
        x += 30 + meaning.len() as u32 * 6;
    }
    Ok(())
}
