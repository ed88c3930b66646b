//! The bodies of requests.

use std::time::Duration;

use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;

use super::error::ApiError;
use crate::protocol::parameters::Parameters;

/// The greatest number of bytes in a body.
const MOST_BYTES: usize = 4 << 20;
/// The longest time for receiving a body.
const LONGEST: Duration = Duration::from_secs(20);

impl<S: Send + Sync> FromRequest<S> for Parameters {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let body = request.into_body();
        let bytes = tokio::time::timeout(LONGEST, axum::body::to_bytes(body, MOST_BYTES)).await;
        match bytes {
            Ok(Ok(bytes)) => Ok(Parameters::from_body(&bytes)?),
            Ok(Err(_)) => {
                Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "The request is too large"))
            }
            Err(_) => Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "The request is too slow")),
        }
    }
}
