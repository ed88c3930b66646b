//! Running of a script.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use ltt_read::{Timestamp, Trace};
use lttv_context::{Bounds, Level, StalePosition, Traceset, TracesetContext, TracesetPosition};
use lttv_filter::{Expression, FilterError, Filters};
use lttv_requests::{
    Budget, EventsRequest, Owner, RequestId, Scheduler, Status, SubmitError, Urgency,
};

use super::log::Log;
use super::script::{Priority, Request, Script, Start};

/// An error from running a script.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    /// The start or end of a request is an event beyond the last one.
    #[error("request {request}: event {event} does not exist, the traceset has {events} events")]
    NoSuchEvent {
        /// The id of the request.
        request: String,
        /// The number of the event, counted from 0.
        event: u64,
        /// The number of events in the traceset.
        events: u64,
    },
    /// The filter of a request cannot be parsed or compiled.
    #[error("request {request}: invalid filter: {error}")]
    Filter {
        /// The id of the request.
        request: String,
        /// The fault and its place in the expression.
        error: FilterError,
    },
    /// The scheduler refuses a request.
    #[error("request {request}: {error}")]
    Submit {
        /// The id of the request.
        request: String,
        /// The reason of the scheduler.
        error: SubmitError,
    },
    /// A position belongs to another traceset.
    #[error(transparent)]
    Stale(#[from] StalePosition),
    /// The traces cannot be read up to a position.
    #[error(transparent)]
    Read(#[from] lttv_context::ReadError),
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Write(io::Error),
}

impl From<io::Error> for ReplayError {
    fn from(error: io::Error) -> Self {
        ReplayError::Write(error)
    }
}

/// The read errors of a replay.
#[derive(Debug)]
pub(crate) struct Replayed {
    /// The errors kept by the context.
    pub(crate) errors: Vec<ltt_read::Error>,
    /// The number of errors not kept.
    pub(crate) errors_omitted: u64,
}

/// Runs the requests of a script over traces. Writes a line for each call of a hook, and a
/// last line with the totals.
///
/// A request is submitted, and after that cancelled, before the call of `service_chunk`
/// that it names. While no request is pending, calls are counted but not made.
///
/// # Errors
///
/// If the script contains an invalid request, or if `out` fails.
pub(crate) fn replay(
    script: &Script,
    traces: &[Arc<Trace>],
    out: &mut dyn io::Write,
) -> Result<Replayed, ReplayError> {
    let log = Log::new(out);
    let traceset = Traceset::from(traces.to_vec());
    let positions = positions(&script.requests, &traceset)?;
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    let mut owners: HashMap<&str, Owner> = HashMap::new();
    let mut requests: Vec<Option<EventsRequest<'_>>> = Vec::new();
    for scripted in &script.requests {
        let name = scripted.owner.as_deref().unwrap_or(&scripted.id);
        let owner = *owners.entry(name).or_insert_with(Owner::unique);
        requests.push(Some(request(scripted, owner, traces, &positions, &log)?));
    }

    let budget = script.chunk_events.map_or(Budget::default(), Budget::events);
    let mut ids: Vec<Option<RequestId>> = vec![None; requests.len()];
    let (mut read, mut seeks, mut call) = (0, 0, 0);
    loop {
        for ((scripted, request), id) in script.requests.iter().zip(&mut requests).zip(&mut ids) {
            if scripted.submit_at.unwrap_or(0) <= call
                && let Some(request) = request.take()
            {
                let refused = |error| ReplayError::Submit { request: scripted.id.clone(), error };
                *id = Some(scheduler.submit(request).map_err(refused)?);
            }
        }
        for (scripted, id) in script.requests.iter().zip(&ids) {
            if scripted.cancel_at == Some(call)
                && let Some(id) = id
            {
                scheduler.cancel(*id);
            }
        }
        let chunk = scheduler.service_chunk(budget);
        log.check()?;
        read += chunk.read;
        seeks += chunk.seeks;
        call += 1;
        if chunk.status == Status::Idle {
            let waiting = script.requests.iter().zip(&requests).filter(|(_, r)| r.is_some());
            match waiting.map(|(scripted, _)| scripted.submit_at.unwrap_or(0)).min() {
                Some(next) => call = call.max(next),
                None => break,
            }
        }
    }
    log.line("read", format_args!("{read} delivered {} seeks {seeks}", log.events()));
    log.check()?;
    let context = scheduler.context_mut();
    let (errors, errors_omitted) = (context.take_errors(), context.merge().errors_omitted());
    Ok(Replayed { errors, errors_omitted })
}

/// Builds the request that the script describes.
fn request<'h>(
    scripted: &'h Request,
    owner: Owner,
    traces: &[Arc<Trace>],
    positions: &BTreeMap<u64, TracesetPosition>,
    log: &'h Log<'_>,
) -> Result<EventsRequest<'h>, ReplayError> {
    let id = scripted.id.as_str();
    let mut request = EventsRequest::new(owner).urgency(match scripted.priority {
        Some(Priority::High) => Urgency::HIGH,
        Some(Priority::Low) | None => Urgency::LOW,
    });
    request = match scripted.start {
        None => request,
        Some(Start::Time(time)) => request.starting_at(Timestamp::from_ns(time)),
        Some(Start::Event(event)) => request.starting_at(&positions[&event]),
    };
    if let Some(time) = scripted.end_time {
        request = request.until(Timestamp::from_ns(time));
    }
    if let Some(event) = scripted.end_event {
        request = request.until_position(&positions[&event]);
    }
    if let Some(events) = scripted.num_events {
        request = request.max_events(events);
    }
    if let Some(text) = &scripted.filter {
        let filters = Expression::parse(text).and_then(|e| Filters::new(&e, traces));
        let wrong = |error| ReplayError::Filter { request: scripted.id.clone(), error };
        request = request.filter(filters.map_err(wrong)?);
    }
    let mut calls = 0;
    Ok(request
        .before_request(move |_, _| log.line(id, format_args!("before_request")))
        .before_chunk(Level::Traceset, move |_, _| log.line(id, format_args!("before_chunk")))
        .on_every_event(move |call, control| {
            let time = call.event.timestamp().unwrap_or(call.event_time());
            log.event(id, time.as_ns(), call.event.event_type().name());
            calls += 1;
            if scripted.stop_after == Some(calls) {
                control.stop();
            }
        })
        .after_chunk(Level::Traceset, move |_, _| log.line(id, format_args!("after_chunk")))
        .after_request(move |_, _, reason| {
            log.line(id, format_args!("after_request {}", reason.name()));
        }))
}

/// Returns the positions before all events that requests refer to by number.
fn positions(
    requests: &[Request],
    traceset: &Traceset,
) -> Result<BTreeMap<u64, TracesetPosition>, ReplayError> {
    let mut named = BTreeMap::new();
    for request in requests {
        let start = match request.start {
            Some(Start::Event(event)) => Some(event),
            _ => None,
        };
        for event in start.into_iter().chain(request.end_event) {
            named.entry(event).or_insert(request);
        }
    }
    let mut context = TracesetContext::new(traceset);
    let mut events = 0;
    let mut positions = BTreeMap::new();
    for (event, request) in named {
        events += context.read(&Bounds::all().events(event - events))?.events;
        if events < event {
            return Err(ReplayError::NoSuchEvent { request: request.id.clone(), event, events });
        }
        positions.insert(event, context.position());
    }
    Ok(positions)
}
