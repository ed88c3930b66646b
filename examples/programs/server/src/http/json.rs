//! Answers in JSON.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;

/// The type of all answers of the interface. Clients compare it literally.
pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Creates an answer that is complete in memory.
pub(super) fn answer(status: StatusCode, content: &impl Serialize) -> Response {
    let bytes = serde_json::to_vec(content).unwrap_or_default();
    of_body(status, Body::from(bytes))
}

/// Creates an answer with status 200.
pub(super) fn ok(content: &impl Serialize) -> Response {
    answer(StatusCode::OK, content)
}

/// Creates an answer from its body.
pub(super) fn of_body(status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}
