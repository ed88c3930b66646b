//! Answers with states and tooltips.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use ltt_read::Timestamp;
use lttv_state::history::History;
use serde::Serialize;

use super::super::work::Work;
use super::columns;
use super::filter::{EXCLUDED, Filter, RowFacts};
use super::lane::{LaneReader, Span};
use crate::dataset::{ChartRow, Lane, ThreadRows, clamped};
use crate::error::{OutputError, Result};
use crate::protocol::models::{Answer, State, StyleRef};
use crate::protocol::parameters::{ParameterError, Parameters};
use crate::protocol::samples::Samples;

/// Answers a request for states.
pub(in super::super) fn states<'r>(
    (history, threads): (&History, Option<&ThreadRows>),
    headers: &[&'static str],
    rows: impl Iterator<Item = &'r ChartRow>,
    parameters: &Parameters,
    work: &mut Work<'_>,
) -> Result {
    if parameters.flag("lttv_columns")? {
        return columns::answer((history, threads), rows, parameters, work);
    }
    let samples = parameters.samples("nbTimes")?;
    let items = parameters.items()?;
    let filter = Filter::parse(parameters)?;
    let by_id: HashMap<i64, &ChartRow> = rows.map(|row| (row.id, row)).collect();
    work.text(r#"{"model":{"rows":["#)?;
    let mut is_first = true;
    for id in super::super::xy::unique(items) {
        let Some(row) = by_id.get(&id) else { continue };
        let facts = RowFacts { headers, labels: &row.labels };
        work.list_text(&mut is_first, |out| {
            // Writing to a vector cannot fail.
            _ = write!(out, r#"{{"entryId":{id},"states":["#);
        })?;
        let mut states = States { work, filter: &filter, facts, is_first: true };
        match filter.is_deep && !filter.is_empty() {
            false => {
                let write = |span: Span<'_>| states.write(&span);
                row.lane.at_samples(history, threads, &samples, write)?;
            }
            true => {
                let reader = row.lane.reader(history, threads)?;
                deep(history, row.lane, reader, &samples, &mut states)?;
            }
        }
        work.text("]}")?;
    }
    work.text("]}")?;
    work.end(history.is_complete())
}

/// Answers a request for states before there is a history.
pub(in super::super) fn no_states(parameters: &Parameters, work: &mut Work<'_>) -> Result {
    parameters.samples("nbTimes")?;
    parameters.items()?;
    Filter::parse(parameters)?;
    work.json(&Answer::running(Some(serde_json::json!({ "rows": [] }))))
}

/// Writes the states of one row.
struct States<'s, 'w> {
    work: &'s mut Work<'w>,
    filter: &'s Filter,
    facts: RowFacts<'s>,
    is_first: bool,
}

impl States<'_, '_> {
    fn write(&mut self, span: &Span<'_>) -> std::result::Result<(), OutputError> {
        // A gap needs no state.
        if span.style.is_none() {
            return self.work.tick();
        }
        let tags = self.filter.tags(self.facts, span);
        let is_excluded = tags & EXCLUDED != 0;
        let state = State {
            start: span.start,
            end: span.end,
            label: span.label.as_ref().map(|label| label.as_str()).filter(|_| !is_excluded),
            tags,
            style: span.style.filter(|_| !is_excluded).map(StyleRef::new),
        };
        self.work.list_text(&mut self.is_first, |out| state.write(out))
    }

    fn matches(&self, span: &Span<'_>) -> bool {
        span.style.is_some() && self.filter.tags(self.facts, span) == 0
    }
}

/// Writes the states at all samples, and between two of them the first one that matches.
fn deep(
    history: &History,
    lane: Lane,
    mut reader: LaneReader<'_>,
    samples: &Samples,
    states: &mut States<'_, '_>,
) -> Result {
    let (start, life_end) = lane.life(history);
    let end = life_end.min(samples.end());
    let mut reached = samples.start().max(start);
    let mut number = samples.first_from(start);
    loop {
        // Skip the samples in the state that was written last.
        number = number.max(samples.first_from(reached));
        let next = samples.at(number).filter(|time| *time < life_end);
        let until = next.unwrap_or(end);
        let mut is_found = false;
        while reached < until {
            states.work.tick()?;
            let span = reader.at(clamped(history, reached))?;
            // The state of the next sample is written with it.
            if span.end > until && next.is_some() || span.end <= reached {
                break;
            }
            let is_inside = span.start >= samples.start() && span.end <= samples.end();
            if !is_found && is_inside && states.matches(&span) {
                states.write(&span)?;
                is_found = true;
            }
            reached = span.end;
        }
        let Some(time) = next else { return Ok(()) };
        let span = reader.at(Timestamp::from_ns(time))?;
        states.write(&span)?;
        reached = span.end;
        number += 1;
    }
}

/// The element of which a tooltip tells.
#[derive(Debug, Clone)]
pub(in super::super) struct Element {
    /// The id of the entry.
    pub(in super::super) entry: i64,
    /// The time, in ns.
    pub(in super::super) time: i64,
    /// The kind, in lower case.
    pub(in super::super) kind: String,
    /// The start of the element, in ns.
    pub(in super::super) start: i64,
    /// Its length, in ns.
    pub(in super::super) duration: i64,
}

impl Element {
    /// Reads the parameters of a tooltip.
    pub(in super::super) fn parse(
        parameters: &Parameters,
    ) -> std::result::Result<Element, ParameterError> {
        const NAME: &str = "requested_element";
        let times = parameters.ids("requested_times")?;
        let time = times.ok_or(ParameterError::Missing("requested_times"))?.first().copied();
        let time = time.ok_or(ParameterError::invalid("requested_times", "empty"))?;
        let entry = parameters.items()?.first().copied();
        let entry = entry.ok_or(ParameterError::invalid("requested_items", "empty"))?;
        let element = parameters.get(NAME).ok_or(ParameterError::Missing(NAME))?;
        let kind = element.get("elementType").and_then(|kind| kind.as_str());
        let kind = kind.ok_or(ParameterError::invalid(NAME, "`elementType` is missing"))?;
        let number = |name: &str| element.get(name).and_then(|of| of.as_i64()).unwrap_or(0);
        let kind = kind.chars().take(32).collect::<String>().to_lowercase();
        Ok(Element { entry, time, kind, start: number("time"), duration: number("duration") })
    }
}

/// Answers a tooltip about a state, with further facts; about other elements, only its times.
pub(in super::super) fn tooltip(
    (history, threads): (&History, Option<&ThreadRows>),
    row: Option<&ChartRow>,
    headers: &[&'static str],
    element: &Element,
    more: impl FnOnce(&mut BTreeMap<String, String>) -> Result,
    work: &mut Work<'_>,
) -> Result {
    let mut facts = BTreeMap::new();
    let mut duration = element.duration;
    if let Some(row) = row
        && element.kind == "state"
    {
        for (header, label) in headers.iter().zip(&row.labels) {
            facts.insert((*header).to_owned(), label.clone());
        }
        let span = row.lane.at(history, threads, clamped(history, element.time))?;
        duration = span.end.saturating_sub(span.start);
        facts.insert("Start".to_owned(), format!("{} ns", span.start));
        facts.insert("State".to_owned(), span.style.unwrap_or("none").to_owned());
        if let Some(label) = span.label {
            facts.insert("Name".to_owned(), label.as_str().to_owned());
        }
        more(&mut facts)?;
    } else {
        facts.insert("Time".to_owned(), format!("{} ns", element.start));
    }
    facts.insert("Duration".to_owned(), format!("{duration} ns"));
    work.json(&Answer::complete(Facts(facts)))
}

#[derive(Serialize)]
struct Facts(BTreeMap<String, String>);
