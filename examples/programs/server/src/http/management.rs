//! Traces, experiments, bookmarks, and facts about the server.

use std::sync::{Arc, PoisonError};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use uuid::Uuid;

use super::body::Body;
use super::error::ApiError;
use super::stream::blocking;
use super::{Server, json as answers};
use crate::protocol;
use crate::protocol::models::Bookmark;
use crate::protocol::parameters::{ParameterError, Parameters};
use crate::workspace::WorkspaceError;

type Shared = State<Arc<Server>>;
type Answer = Result<Response, ApiError>;

/// The greatest number of bookmarks of an experiment.
const MOST_BOOKMARKS: usize = 10_000;

pub(super) async fn health() -> Response {
    answers::ok(&json!({ "status": "UP" }))
}

pub(super) async fn identifier() -> Response {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    answers::ok(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "os": std::env::consts::OS,
        "osArch": std::env::consts::ARCH,
        "cpuCount": cpus,
        "productId": "lttv-server",
        "launcherName": "lttv-server",
        "tspVersion": protocol::VERSION,
    }))
}

pub(super) async fn traces(State(server): Shared) -> Answer {
    Ok(answers::ok(&server.workspace.traces()))
}

pub(super) async fn open_trace(State(server): Shared, parameters: Body) -> Answer {
    let uri = parameters.required_text("uri")?.to_owned();
    let name = parameters.text("name")?.map(str::to_owned);
    parameters.text("typeID")?;
    let open = move || Ok(server.workspace.open_trace(&uri, name.as_deref())?);
    Ok(answers::ok(&blocking(open).await?))
}

pub(super) async fn trace(State(server): Shared, Path(trace): Path<String>) -> Answer {
    Ok(answers::ok(&server.workspace.trace_model(&trace)?))
}

pub(super) async fn close_trace(State(server): Shared, Path(trace): Path<String>) -> Answer {
    Ok(answers::ok(&server.workspace.close_trace(&trace)?))
}

pub(super) async fn experiments(State(server): Shared) -> Answer {
    let models: Vec<_> = server.workspace.experiments().iter().map(|of| of.model()).collect();
    Ok(answers::ok(&models))
}

pub(super) async fn create_experiment(State(server): Shared, parameters: Body) -> Answer {
    let name = parameters.required_text("name")?.to_owned();
    let traces = parameters.required_texts("traces")?;
    if traces.is_empty() {
        return Err(ParameterError::invalid("traces", "empty").into());
    }
    let traces: Vec<String> = traces.into_iter().map(str::to_owned).collect();
    let create = move || {
        let traces: Vec<&str> = traces.iter().map(String::as_str).collect();
        Ok(server.workspace.create_experiment(&name, &traces)?.model())
    };
    Ok(answers::ok(&blocking(create).await?))
}

pub(super) async fn experiment(State(server): Shared, Path(experiment): Path<String>) -> Answer {
    Ok(answers::ok(&server.workspace.experiment(&experiment)?.model()))
}

pub(super) async fn remove_experiment(
    State(server): Shared,
    Path(experiment): Path<String>,
) -> Answer {
    Ok(answers::ok(&server.workspace.remove_experiment(&experiment)?))
}

/// Runs a function with the bookmarks of an experiment.
fn with_bookmarks<T>(
    server: &Server,
    experiment: &str,
    run: impl FnOnce(&mut Vec<Bookmark>) -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    let experiment = server.workspace.experiment(experiment)?;
    run(&mut experiment.bookmarks.lock().unwrap_or_else(PoisonError::into_inner))
}

fn no_bookmark() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "No such bookmark")
}

/// Reads a bookmark from parameters.
fn parse(uuid: String, parameters: &Parameters) -> Result<Bookmark, ParameterError> {
    let time = |name: &'static str| parameters.integer(name)?.ok_or(ParameterError::Missing(name));
    let name = parameters.required_text("name")?.to_owned();
    let (start, end) = (time("start")?, time("end")?);
    if start > end {
        return Err(ParameterError::invalid("start", "after the end"));
    }
    Ok(Bookmark { uuid, name, start, end })
}

pub(super) async fn bookmarks(State(server): Shared, Path(experiment): Path<String>) -> Answer {
    Ok(answers::ok(&with_bookmarks(&server, &experiment, |all| Ok(all.clone()))?))
}

pub(super) async fn add_bookmark(
    State(server): Shared,
    Path(experiment): Path<String>,
    parameters: Body,
) -> Answer {
    let added = with_bookmarks(&server, &experiment, |all| {
        let known = all.iter().filter_map(|of| Uuid::parse_str(&of.uuid).ok());
        // Ids are different from all present ones, and the same in each run.
        let number = known.map(|uuid| uuid.as_u128()).max().unwrap_or(0);
        let uuid = Uuid::from_u128(number.wrapping_add(1)).to_string();
        let bookmark = parse(uuid, &parameters)?;
        if all.len() >= MOST_BOOKMARKS {
            return Err(WorkspaceError::TooMany.into());
        }
        all.push(bookmark.clone());
        Ok(bookmark)
    });
    Ok(answers::ok(&added?))
}

pub(super) async fn bookmark(
    State(server): Shared,
    Path((experiment, bookmark)): Path<(String, String)>,
) -> Answer {
    let found = with_bookmarks(&server, &experiment, |all| {
        all.iter().find(|of| of.uuid == bookmark).cloned().ok_or_else(no_bookmark)
    });
    Ok(answers::ok(&found?))
}

pub(super) async fn change_bookmark(
    State(server): Shared,
    Path((experiment, bookmark)): Path<(String, String)>,
    parameters: Body,
) -> Answer {
    let changed = with_bookmarks(&server, &experiment, |all| {
        let place = all.iter_mut().find(|of| of.uuid == bookmark).ok_or_else(no_bookmark)?;
        *place = parse(bookmark.clone(), &parameters)?;
        Ok(place.clone())
    });
    Ok(answers::ok(&changed?))
}

pub(super) async fn remove_bookmark(
    State(server): Shared,
    Path((experiment, bookmark)): Path<(String, String)>,
) -> Answer {
    let removed = with_bookmarks(&server, &experiment, |all| {
        let at = all.iter().position(|of| of.uuid == bookmark).ok_or_else(no_bookmark)?;
        Ok(all.remove(at))
    });
    Ok(answers::ok(&removed?))
}

pub(super) async fn configuration_types() -> Response {
    answers::ok(&json!([]))
}

pub(super) async fn no_configuration() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "No such configuration")
}
