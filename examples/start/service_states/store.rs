//! Storing of a log in a history.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::ops::ControlFlow;
use std::path::Path;

use lttv_common::inputs;
use lttv_common::progress::Progress;
use lttv_common::text_dump::output::Output;
use lttv_state::history::{HistoryError, HistoryIdentity, IntervalBuilder, Settings};

use crate::time::Time;

/// The log that comes with the example.
const BUNDLED: &str = include_str!("services.csv");

/// The columns that a log must have.
const COLUMNS: [&str; 4] = ["service", "start", "end", "state"];

/// Stores a log in a history. Sorting takes about `memory` bytes.
pub(crate) fn store(
    history: &Path,
    log: Option<&Path>,
    memory: usize,
    out: &mut Output,
) -> Result<(), Box<dyn Error>> {
    let name = log.map_or("the log of the example".to_owned(), |log| log.display().to_string());
    let reader: Box<dyn Read> = match log {
        Some(log) => {
            inputs::refuse(history, &[], &[log.to_owned()])?;
            Box::new(BufReader::new(File::open(log).map_err(|e| format!("{name}: {e}"))?))
        }
        None => Box::new(BUNDLED.as_bytes()),
    };
    let mut settings = Settings::default();
    settings.identity = HistoryIdentity {
        producer: "service_states".to_owned(),
        version: 1,
        ..HistoryIdentity::default()
    };
    let mut builder = IntervalBuilder::create(history, settings)?;
    builder.set_memory_limit(memory);
    read(reader, &mut builder).map_err(|error| format!("{name}: {error}"))?;

    let count = builder.len();
    let span = builder.span().ok_or_else(|| format!("{name}: there are no states"))?;
    let mut progress = Progress::new(out.is_terminal());
    let built = builder.close_with(span.clone(), |done, total| {
        progress.update(ltt_read::Progress { done, total });
        ControlFlow::Continue(())
    });
    drop(progress);
    let built = built.map_err(|error| format!("{name}: {}", explained(&error)))?;
    let services = crate::query::services(&built, "**")?.len();
    let (start, end) = (Time(span.start), Time(span.end));
    writeln!(out, "{count} states of {services} services, {start} to {end}")?;
    Ok(())
}

/// Adds all lines of a log to a builder.
fn read(log: impl Read, builder: &mut IntervalBuilder) -> Result<(), Box<dyn Error>> {
    let mut csv = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(log);
    let names = csv.headers()?.clone();
    let mut columns = [0; 4];
    for (column, name) in columns.iter_mut().zip(COLUMNS) {
        let found = names.iter().position(|other| other == name);
        *column = found.ok_or_else(|| format!("there is no column {name:?}"))?;
    }
    let mut line = csv::StringRecord::new();
    while csv.read_record(&mut line)? {
        let number = line.position().map_or(0, csv::Position::line);
        let [service, start, end, state] = columns.map(|column| line.get(column).unwrap_or(""));
        add(builder, service, start, end, state)
            .map_err(|error| format!("line {number}: {error}"))?;
    }
    Ok(())
}

fn add(
    builder: &mut IntervalBuilder,
    service: &str,
    start: &str,
    end: &str,
    state: &str,
) -> Result<(), Box<dyn Error>> {
    if service.trim_matches('/').is_empty() {
        return Err("there is no service".into());
    }
    let (start, end) = (start.parse::<Time>()?, end.parse::<Time>()?);
    let service = builder.add(service)?;
    builder.add_interval(service, start.0..end.0, state).map_err(|error| explained(&error))?;
    Ok(())
}

/// Describes an error with times as a log contains them.
fn explained(error: &HistoryError) -> String {
    match error {
        HistoryError::Overlap { path, first, second } => format!(
            "two states of {path} at the same time: {} to {}, and {} to {}",
            Time(first.start),
            Time(first.end),
            Time(second.start),
            Time(second.end)
        ),
        HistoryError::EmptyInterval { range } => {
            format!("the end {} is not after the start {}", Time(range.end), Time(range.start))
        }
        error => error.to_string(),
    }
}
