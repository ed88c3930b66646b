//! Stores the states of services or sensors in a state history, queries it, and draws it. No
//! trace is involved: the history is a library of its own.
//!
//! ```text
//! cargo run --release -p lttv-start --example service_states -- store day.history [LOG.csv]
//! cargo run --release -p lttv-start --example service_states -- at day.history 2026-11-20T14:10:00Z
//! cargo run --release -p lttv-start --example service_states -- intervals day.history web/api
//! cargo run --release -p lttv-start --example service_states -- durations day.history 'web/*'
//! cargo run --release -p lttv-start --example service_states -- draw day.history > day.svg
//! ```
//!
//! Only the modules `history`, `tree` and `value` of `lttv-state` are used, which are
//! available without its default features.

use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::ops::Range;

use lttv_state::history::{History, IntervalBuilder, Settings, Timestamp};
use lttv_state::tree::Quark;
use lttv_state::value::StateValue;

/// The log that comes with the program: lines `service,start,end,state`. The end of a state is not
/// included, lines can have any order, and a service is a path of names.
const BUNDLED: &str = include_str!("services.csv");

const USAGE: &str = "\
usage: service_states store HISTORY [LOG.csv]
       service_states at HISTORY TIME [PATTERN]
       service_states intervals HISTORY SERVICE [FROM TO]
       service_states durations HISTORY [PATTERN [FROM TO]]
       service_states draw HISTORY [PATTERN [FROM TO]]
TIME is like 2026-11-20T14:10:00Z; in PATTERN, * is one name of a path and ** any number";

type Out<'a> = &'a mut dyn Write;

fn main() -> Result<(), Box<dyn Error>> {
    // A reader that has seen enough, like `head`, is no error.
    match run(&mut io::stdout().lock()) {
        Err(error) if is_closed(&*error) => Ok(()),
        done => done,
    }
}

/// Returns `true` if an error is that the reader of the output has left.
fn is_closed(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref().is_some_and(|error: &io::Error| error.kind() == ErrorKind::BrokenPipe)
}

/// Runs the query of the command line.
fn run(out: Out<'_>) -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["store", path] => store(out, path, BUNDLED),
        ["store", path, log] => store(out, path, &std::fs::read_to_string(log)?),
        ["at", path, time] => at(out, &History::open(path)?, time, "**"),
        ["at", path, time, pattern] => at(out, &History::open(path)?, time, pattern),
        ["intervals", path, service, ref range @ ..] => {
            let history = History::open(path)?;
            intervals(out, &history, service, &within(&history, range)?)
        }
        ["durations", path] => durations(out, &History::open(path)?, "**", &[]),
        ["durations", path, pattern, ref range @ ..] => {
            durations(out, &History::open(path)?, pattern, range)
        }
        ["draw", path] => draw(out, &History::open(path)?, "**", &[]),
        ["draw", path, pattern, ref range @ ..] => draw(out, &History::open(path)?, pattern, range),
        _ => Err(USAGE.into()),
    }
}

/// Stores a log in a history.
fn store(out: Out<'_>, path: &str, log: &str) -> Result<(), Box<dyn Error>> {
    // States are sorted, in files if they are many.
    let mut builder = IntervalBuilder::create(path, Settings::default())?;
    for (number, line) in log.lines().enumerate().skip(1) {
        let add = |builder: &mut IntervalBuilder| -> Result<(), Box<dyn Error>> {
            let columns: Vec<&str> = line.split(',').map(str::trim).collect();
            let [service, start, end, state] = columns[..] else {
                return Err("four columns expected: service,start,end,state".into());
            };
            let service = builder.add(service)?;
            Ok(builder.add_interval(service, parse(start)?..parse(end)?, state)?)
        };
        add(&mut builder).map_err(|error| format!("line {}: {error}", number + 1))?;
    }
    let count = builder.len();
    let span = builder.span().ok_or("the log has no states")?;
    let history = builder.close(span.clone())?;
    let services = services(&history, "**")?.len();
    writeln!(
        out,
        "{count} states of {services} services, {} to {}",
        text(span.start),
        text(span.end)
    )?;
    Ok(())
}

/// Prints the states of services at a time.
fn at(out: Out<'_>, history: &History, time: &str, pattern: &str) -> Result<(), Box<dyn Error>> {
    for service in services(history, pattern)? {
        let found = history.at(service, parse(time)?)?;
        let (path, state) = (history.tree().path(service), state(found.value));
        writeln!(
            out,
            "{path:24} {state:<12} since {}, until {}",
            text(found.start),
            text(found.end)
        )?;
    }
    Ok(())
}

/// Prints the states of one service.
fn intervals(
    out: Out<'_>,
    history: &History,
    service: &str,
    range: &Range<Timestamp>,
) -> Result<(), Box<dyn Error>> {
    let quark = history.tree().find(Quark::ROOT, service)?.ok_or("no such service")?;
    for interval in history.intervals(quark, range.clone())? {
        let interval = interval?;
        let (start, end) = (interval.start.max(range.start), interval.end.min(range.end));
        let seconds = end.since(start) / 1_000_000_000;
        writeln!(
            out,
            "{}  {}  {:<12} {seconds:>8} s",
            text(start),
            text(end),
            state(interval.value)
        )?;
    }
    Ok(())
}

/// Prints the total time of each state of services.
fn durations(
    out: Out<'_>,
    history: &History,
    pattern: &str,
    range: &[&str],
) -> Result<(), Box<dyn Error>> {
    let range = within(history, range)?;
    for service in services(history, pattern)? {
        let mut states = history.durations(service, range.clone())?;
        states.sort_by_key(|state| std::cmp::Reverse(state.time));
        for of in states {
            let (path, seconds) = (history.tree().path(service), of.time / 1_000_000_000);
            writeln!(
                out,
                "{path:24} {:<12} {seconds:>8} s {:>4} times",
                state(of.value),
                of.count
            )?;
        }
    }
    Ok(())
}

/// Draws the states of services over time as an SVG picture, a row for each service.
fn draw(
    out: Out<'_>,
    history: &History,
    pattern: &str,
    range: &[&str],
) -> Result<(), Box<dyn Error>> {
    const COLORS: [&str; 6] = ["#2ea043", "#e3a008", "#d73535", "#3b7dd8", "#7a5cc4", "#708090"];
    const LEFT: f64 = 160.0;
    const WIDTH: f64 = 800.0;
    const ROW: usize = 24;
    let (range, services) = (within(history, range)?, services(history, pattern)?);
    let x = |time: Timestamp| {
        LEFT + time.since(range.start) as f64 * WIDTH / range.end.since(range.start) as f64
    };
    // The states so far; their places are those of their colours.
    let (mut legend, height): (Vec<String>, _) = (Vec::new(), (services.len() + 3) * ROW);
    writeln!(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"980\" height=\"{height}\"")?;
    writeln!(out, " font-family=\"sans-serif\" font-size=\"11\" fill=\"#24292f\">")?;
    writeln!(out, "<text x=\"12\" y=\"16\">{} to {}</text>", text(range.start), text(range.end))?;
    for (row, service) in (1..).zip(&services) {
        let (y, path) = (row * ROW, escaped(&history.tree().path(*service)));
        writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{path}</text>",
            LEFT - 8.0,
            y + 12
        )?;
        for interval in history.intervals(*service, range.clone())? {
            let interval = interval?;
            if interval.value.is_null() {
                continue;
            }
            let (state, start) = (state(interval.value), interval.start.max(range.start));
            let known = legend.iter().position(|known| *known == state);
            let color = known.unwrap_or(legend.len());
            if known.is_none() {
                legend.push(state.clone());
            }
            let (left, right) = (x(start), x(interval.end.min(range.end)));
            let title = escaped(&format!("{state} since {}", text(start)));
            writeln!(
                out,
                "<rect x=\"{left:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"16\" fill=\"{}\">\
                 <title>{title}</title></rect>",
                (right - left).max(1.0),
                COLORS[color % COLORS.len()],
            )?;
        }
    }
    for (number, state) in legend.iter().enumerate() {
        let (x, y) = (LEFT + number as f64 * 110.0, height - ROW);
        let color = COLORS[number % COLORS.len()];
        writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"12\" height=\"12\" fill=\"{color}\"/>")?;
        writeln!(out, "<text x=\"{}\" y=\"{}\">{}</text>", x + 17.0, y + 10, escaped(state))?;
    }
    writeln!(out, "</svg>")?;
    Ok(())
}

/// Returns the services that match a pattern, in the order of their paths. An attribute
/// without a state at any time is only a part of paths.
fn services(history: &History, pattern: &str) -> Result<Vec<Quark>, Box<dyn Error>> {
    let (tree, all) = (history.tree(), history.start()..history.end());
    let mut found = Vec::new();
    for quark in tree.matching(Quark::ROOT, pattern)? {
        if history.first_with(quark, all.clone(), |value| !value.is_null())?.is_some() {
            found.push(quark);
        }
    }
    found.sort_by_cached_key(|quark| tree.path(*quark));
    if found.is_empty() { Err("no service matches".into()) } else { Ok(found) }
}

/// Returns a time range of the command line: by default, that of the history.
fn within(history: &History, range: &[&str]) -> Result<Range<Timestamp>, Box<dyn Error>> {
    match range {
        [] => Ok(history.start()..history.end()),
        [from, to] if parse(from)? < parse(to)? => Ok(parse(from)?..parse(to)?),
        _ => Err("a time range is FROM TO, and not empty".into()),
    }
}

/// Returns a state as text.
fn state(value: StateValue<'_>) -> String {
    match value {
        StateValue::Null => "-".to_owned(),
        StateValue::Str(text) => text.escape_debug().to_string(),
        value => value.to_string(),
    }
}

/// Parses a time like `2026-11-20T14:10:00Z`.
fn parse(text: &str) -> Result<Timestamp, Box<dyn Error>> {
    let time: jiff::Timestamp = text.parse()?;
    Ok(Timestamp::from_ns(time.as_nanosecond().try_into()?))
}

/// Formats a time like `2026-11-20T14:10:00Z`.
fn text(time: Timestamp) -> String {
    let formatted = jiff::Timestamp::from_nanosecond(time.as_ns().into());
    formatted.map_or_else(|_| time.to_string(), |time| time.to_string())
}

/// Escapes a text for XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
