//! Answers that report a failure.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::json;
use crate::error::OutputError;
use crate::protocol::models;
use crate::protocol::parameters::ParameterError;
use crate::workspace::WorkspaceError;

/// A failure, with its status and description.
#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    content: Box<Content>,
}

#[derive(Debug, Serialize)]
struct Content {
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<models::Trace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    experiment: Option<models::Experiment>,
}

impl ApiError {
    /// Creates a failure without further description.
    pub fn new(status: StatusCode, title: impl Into<String>) -> Self {
        let content = Content { title: title.into(), detail: None, trace: None, experiment: None };
        ApiError { status, content: content.into() }
    }

    /// Adds a description.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.content.detail = Some(detail.into());
        self
    }

    /// Creates the answer for an unknown experiment.
    pub fn no_experiment() -> Self {
        ApiError::new(StatusCode::NOT_FOUND, "No such trace")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        json::answer(self.status, &*self.content)
    }
}

impl From<ParameterError> for ApiError {
    fn from(error: ParameterError) -> Self {
        let of = ApiError::new(StatusCode::BAD_REQUEST, error.to_string());
        match error {
            ParameterError::Missing(_) => of,
            ParameterError::Body(detail) | ParameterError::Invalid { reason: detail, .. } => {
                of.detail(detail)
            }
        }
    }
}

impl From<OutputError> for ApiError {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Parameter(error) => error.into(),
            OutputError::NotOffered => {
                ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "Analysis cannot run")
            }
            OutputError::TooLong => {
                ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "The request takes too long")
            }
            OutputError::Cancelled => {
                ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "The request was cancelled")
            }
            OutputError::History(_) | OutputError::Temporary(_) | OutputError::Stopped => {
                ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "The data cannot be read")
            }
        }
    }
}

impl From<WorkspaceError> for ApiError {
    fn from(error: WorkspaceError) -> Self {
        let title = error.to_string();
        let status = match &error {
            WorkspaceError::NoSuchPath => StatusCode::NOT_FOUND,
            WorkspaceError::NoSuchTrace | WorkspaceError::NoSuchExperiment => StatusCode::NOT_FOUND,
            WorkspaceError::Unreadable(_) => StatusCode::NOT_ACCEPTABLE,
            WorkspaceError::NotATrace => StatusCode::NOT_IMPLEMENTED,
            WorkspaceError::TooManyFiles => StatusCode::NOT_ACCEPTABLE,
            WorkspaceError::TooMany => StatusCode::SERVICE_UNAVAILABLE,
            WorkspaceError::Clocks(_) => StatusCode::INTERNAL_SERVER_ERROR,
            WorkspaceError::TraceExists(_)
            | WorkspaceError::TraceInUse(_)
            | WorkspaceError::ExperimentExists(_) => StatusCode::CONFLICT,
        };
        let mut of = ApiError::new(status, title);
        match error {
            WorkspaceError::TraceExists(trace) | WorkspaceError::TraceInUse(trace) => {
                of.content.trace = Some(*trace);
            }
            WorkspaceError::ExperimentExists(experiment) => {
                of.content.experiment = Some(*experiment);
            }
            WorkspaceError::Unreadable(detail) | WorkspaceError::Clocks(detail) => {
                of.content.detail = Some(detail);
            }
            _ => {}
        }
        of
    }
}
