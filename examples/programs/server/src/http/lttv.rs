//! Paths of our own, for what the protocol does not have.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;

use super::Server;
use super::body::Body;
use super::connections::Client;
use super::error::ApiError;
use super::stream::AnswerForm;
use crate::activity::Activity;
use crate::filters::Checked;
use crate::spans::SpanQuery;

/// Checks a filter while it is written: `filter`, and the place `cursor` of the next character.
pub(super) async fn check_filter(
    State(server): State<Arc<Server>>,
    Path(experiment): Path<String>,
    client: Client,
    parameters: Body,
) -> Result<Response, ApiError> {
    let dataset = Arc::clone(&server.workspace.experiment(&experiment)?.dataset);
    let filter = parameters.text("filter")?.unwrap_or_default().to_owned();
    let cursor = parameters.integer("cursor")?.unwrap_or(0);
    let cursor = usize::try_from(cursor).unwrap_or(0);
    let form = AnswerForm { checks_filter: true, ..AnswerForm::default() };
    let answer = server.workers.answer(client, form, move |work| {
        work.check()?;
        work.json(&Checked::new(&filter, cursor, dataset.traceset(), dataset.vocabulary()))
    });
    Ok(answer.await)
}

/// Answers with single spans of a window.
pub(super) async fn spans(
    State(server): State<Arc<Server>>,
    Path(experiment): Path<String>,
    client: Client,
    parameters: Body,
) -> Result<Response, ApiError> {
    let dataset = Arc::clone(&server.workspace.experiment(&experiment)?.dataset);
    let form = AnswerForm { is_compressed: parameters.accepts_gzip(), ..AnswerForm::default() };
    let answer = server.workers.answer(client, form, move |work| {
        work.check()?;
        let query = SpanQuery::parse(&parameters, &dataset)?;
        query.answer(dataset.traceset(), work)
    });
    Ok(answer.await)
}

/// Answers with the time for which each row of a chart of states was active in a window.
pub(super) async fn activity(
    State(server): State<Arc<Server>>,
    Path(experiment): Path<String>,
    client: Client,
    parameters: Body,
) -> Result<Response, ApiError> {
    let dataset = Arc::clone(&server.workspace.experiment(&experiment)?.dataset);
    let form = AnswerForm { is_compressed: parameters.accepts_gzip(), ..AnswerForm::default() };
    let answer = server.workers.answer(client, form, move |work| {
        work.check()?;
        Activity::read(&parameters, &dataset, work)
    });
    Ok(answer.await)
}
