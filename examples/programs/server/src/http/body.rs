//! The bodies of requests.

use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body as HttpBody;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use hyper::body::Body as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Server;
use super::encoding::accepts_gzip;
use super::error::ApiError;
use super::kept::Question;
use crate::protocol::parameters::Parameters;

/// The greatest number of bytes in a body.
const MOST_BYTES: usize = 4 << 20;
/// The number of bytes up to which a body is small: those of viewers are.
const SMALL: usize = 16 << 10;
/// The number of bytes in the parts of bodies beyond small ones, at the same time.
const LARGE: usize = 8 << 20;
/// The longest time for receiving a body.
const LONGEST: Duration = Duration::from_secs(20);

/// The memory for the large bodies of all requests.
#[derive(Debug, Clone)]
pub(super) struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Room(Arc::new(Semaphore::new(LARGE)))
    }
}

/// The parameters of a request, with the memory that its body takes.
#[derive(Debug, Default)]
pub(super) struct Body {
    parameters: Parameters,
    /// The request, if it is small.
    question: Option<Question>,
    /// The client accepts compressed answers.
    accepts_gzip: bool,
    _room: Option<OwnedSemaphorePermit>,
}

impl Body {
    /// Returns `true` if the client accepts compressed answers.
    pub(super) fn accepts_gzip(&self) -> bool {
        self.accepts_gzip
    }

    /// Takes the request, if it is small.
    pub(super) fn take_question(&mut self) -> Option<Question> {
        self.question.take()
    }
}

impl Deref for Body {
    type Target = Parameters;

    fn deref(&self) -> &Parameters {
        &self.parameters
    }
}

impl FromRequest<Arc<Server>> for Body {
    type Rejection = ApiError;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, ApiError> {
        let path = request.uri().path().to_owned();
        let encodings = request.headers().get(header::ACCEPT_ENCODING).cloned();
        let read = read(request.into_body(), &server.room);
        match tokio::time::timeout(LONGEST, read).await {
            Ok(read) => {
                let (body, _room) = read?;
                let parameters = Parameters::from_body(&body)?;
                let accepts_gzip = accepts_gzip(encodings.as_ref());
                let is_small = body.len() <= SMALL;
                let question = is_small.then(|| Question { path, body, encodings });
                Ok(Body { parameters, question, accepts_gzip, _room })
            }
            Err(_) => Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "The request is too slow")),
        }
    }
}

/// Reads a body while there is room for it.
async fn read(
    mut body: HttpBody,
    room: &Room,
) -> Result<(Vec<u8>, Option<OwnedSemaphorePermit>), ApiError> {
    let (mut bytes, mut taken) = (Vec::new(), None::<OwnedSemaphorePermit>);
    let broken = || ApiError::new(StatusCode::BAD_REQUEST, "The request has no valid body");
    let too_large = || ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "The request is too large");
    while let Some(frame) = std::future::poll_fn(|at| Pin::new(&mut body).poll_frame(at)).await {
        let Ok(data) = frame.map_err(|_| broken())?.into_data() else { continue };
        let length = bytes.len() + data.len();
        if length > MOST_BYTES {
            return Err(too_large());
        }
        let held = taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        if let Some(more) = length.checked_sub(SMALL + held).filter(|more| *more > 0) {
            let none = |_| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "The server is busy");
            let more = Arc::clone(&room.0).try_acquire_many_owned(more as u32).map_err(none)?;
            match &mut taken {
                Some(taken) => taken.merge(more),
                None => taken = Some(more),
            }
        }
        bytes.extend_from_slice(&data);
    }
    Ok((bytes, taken))
}
