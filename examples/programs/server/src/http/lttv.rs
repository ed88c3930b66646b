//! Paths of our own, for what the protocol does not have.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;

use super::body::Body;
use super::error::ApiError;
use super::{Server, json as answers};
use crate::error::OutputError;
use crate::filters::Checked;

/// Checks a filter while it is written: `filter`, and the place `cursor` of the next character.
pub(super) async fn check_filter(
    State(server): State<Arc<Server>>,
    Path(experiment): Path<String>,
    parameters: Body,
) -> Result<Response, ApiError> {
    let dataset = Arc::clone(&server.workspace.experiment(&experiment)?.dataset);
    let filter = parameters.text("filter")?.unwrap_or_default().to_owned();
    let cursor = parameters.integer("cursor")?.unwrap_or(0);
    let cursor = usize::try_from(cursor).unwrap_or(0);
    let check = move || Checked::new(&filter, cursor, dataset.traceset(), dataset.vocabulary());
    let checked = tokio::task::spawn_blocking(check).await.map_err(|_| OutputError::Stopped)?;
    Ok(answers::ok(&checked))
}
