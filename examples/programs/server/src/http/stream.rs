//! Answers that are computed on a thread of their own, and sent while they are computed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_core::Stream;
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::timeout;

use super::connections::Client;
use super::encoding::{COMPRESSED, Gzip, add_headers};
use super::error::ApiError;
use super::json;
use super::kept::Final;
use super::slow::SlowClients;
use crate::error::OutputError;
use crate::outputs::turns::{Turn, Turns};
use crate::outputs::work::{PART, Sink, Work};

/// The number of parts that wait for a client.
const WAITING: usize = 4;
/// The number of answers that wait for slow clients. One more ends the one that has waited the longest.
const MOST_SLOW: usize = 16;
/// The number of samples beyond which an answer is large: windows have fewer pixels.
const SAMPLES: usize = 8192;
/// The number of large answers that are computed at the same time.
const LARGE: usize = 4;

/// The number of filters that are checked at the same time.
const FILTERS: usize = 1;

/// The longest time for one answer, and for sending it to a client that accepts it slowly.
pub const LONGEST: Duration = Duration::from_secs(60);

/// The form of an answer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AnswerForm {
    /// The number of samples.
    pub(super) samples: usize,
    /// Answers that are long enough are compressed.
    pub(super) is_compressed: bool,
    /// A filter is checked, for which much memory may be needed.
    pub(super) checks_filter: bool,
}

/// The threads that compute answers.
#[derive(Debug, Clone)]
pub struct Workers {
    free: Arc<Semaphore>,
    large: Arc<Semaphore>,
    filters: Arc<Semaphore>,
    turns: Turns,
    slow: SlowClients,
    longest: Duration,
}

impl Workers {
    /// Creates workers for a number of answers at the same time, each of which takes at most the
    /// [longest](LONGEST) time.
    pub fn new(count: usize) -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        let (free, large, filters) = (places(count), places(LARGE), places(FILTERS));
        let (turns, slow) = (Turns::default(), SlowClients::new(MOST_SLOW));
        Workers { free, large, filters, turns, slow, longest: LONGEST }
    }

    /// Sets another longest time.
    #[must_use]
    pub fn longest(self, longest: Duration) -> Self {
        Workers { longest, ..self }
    }

    /// Computes an answer. Nothing is sent before `compute` has written a part or has ended:
    /// until then its error becomes the answer. When the client goes away, the work is
    /// cancelled.
    ///
    /// Answers with many samples wait for each other, as checks of filters do, for their memory, but keep no others waiting.
    pub(super) async fn answer<F>(&self, client: Client, form: AnswerForm, compute: F) -> Response
    where
        F: FnOnce(&mut Work<'_>) -> Result<(), OutputError> + Send + 'static,
    {
        let places = match form {
            AnswerForm { checks_filter: true, .. } => &self.filters,
            AnswerForm { samples, .. } if samples > SAMPLES => &self.large,
            _ => &self.free,
        };
        let Ok(permit) = Arc::clone(places).acquire_owned().await else {
            return ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "The server ends")
                .into_response();
        };
        let turn = self.turns.next().await;
        let (begin, begun) = oneshot::channel();
        let cancel = CancelOnDrop(Arc::new(AtomicBool::new(false)));
        let cancelled = Arc::clone(&cancel.0);
        let is_final = Final::default();
        let final_flag = is_final.clone();
        let (runtime, slow, longest) = (Handle::current(), self.slow.clone(), self.longest);
        tokio::task::spawn_blocking(move || {
            let deadline = Instant::now() + longest;
            let mut out = Parts {
                buffer: Vec::new(),
                is_compressed: form.is_compressed,
                gzip: None,
                begin: Some(begin),
                send: None,
                is_whole: Arc::default(),
                is_final: final_flag,
                permit: Some(permit),
                turn: turn.clone(),
                runtime,
                client,
                slow,
                deadline,
            };
            let mut work = Work::new(&mut out, turn, cancelled, deadline);
            let result = compute(&mut work);
            out.finish(result);
        });
        // The headers of whole answers that are not compressed are added with those of others.
        let (body, is_marked) = match begun.await {
            Ok(Begin::Whole(bytes, is_compressed)) => (Body::from(bytes), is_compressed),
            Ok(Begin::Parts(receive, is_whole)) => {
                let stream = PartStream { receive, is_whole, has_ended: false, _cancel: cancel };
                (Body::from_stream(stream), true)
            }
            Ok(Begin::Failed(error)) => return ApiError::from(error).into_response(),
            // The computation has panicked.
            Err(_) => {
                return ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "The request failed")
                    .into_response();
            }
        };
        let mut response = json::of_body(StatusCode::OK, body);
        if is_marked {
            add_headers(response.headers_mut(), form.is_compressed);
        }
        response.extensions_mut().insert(is_final);
        response
    }
}

/// The start of an answer.
enum Begin {
    /// The whole answer, and whether it is compressed.
    Whole(Vec<u8>, bool),
    /// The parts of an answer, and whether these are all once the last one is there.
    Parts(mpsc::Receiver<Bytes>, Arc<AtomicBool>),
    /// A failure in place of an answer.
    Failed(OutputError),
}

/// An answer that ends early, so that the client sees that it is not whole.
#[derive(Debug, thiserror::Error)]
#[error("the answer could not be completed")]
struct Broken;

/// Sets a flag when it is dropped.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The writer of an answer.
struct Parts {
    buffer: Vec<u8>,
    is_compressed: bool,
    /// The compressor of an answer of several parts.
    gzip: Option<Gzip>,
    begin: Option<oneshot::Sender<Begin>>,
    send: Option<mpsc::Sender<Bytes>>,
    is_whole: Arc<AtomicBool>,
    is_final: Final,
    /// The place among the answers that are computed; `None` after the client was waited for.
    permit: Option<OwnedSemaphorePermit>,
    turn: Turn,
    runtime: Handle,
    client: Client,
    slow: SlowClients,
    /// The time at which a client that does not accept what is sent loses its answer.
    deadline: Instant,
}

impl Sink for Parts {
    fn text(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    fn set_final(&mut self) {
        self.is_final.0.store(true, Ordering::Release);
    }

    fn send(&mut self) -> io::Result<()> {
        if let Some(begin) = self.begin.take() {
            let (send, receive) = mpsc::channel(WAITING);
            self.send = Some(send);
            let parts = Begin::Parts(receive, Arc::clone(&self.is_whole));
            begin.send(parts).map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
        let part = self.take_part(false);
        // The compressor may wait for more.
        if part.is_empty() { Ok(()) } else { self.pass(part) }
    }
}

impl Parts {
    /// Passes a part on to the client.
    fn pass(&mut self, part: Bytes) -> io::Result<()> {
        let send = self.send.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        let part = match send.try_send(part) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Closed(_)) => return Err(io::ErrorKind::BrokenPipe.into()),
            Err(TrySendError::Full(part)) => part,
        };
        // A slow client is waited for until the deadline, but keeps no others waiting.
        self.permit = None;
        self.turn.end();
        let rest = self.deadline.saturating_duration_since(Instant::now());
        let mut wait = self.slow.wait();
        let passed = self.runtime.block_on(async {
            tokio::select! {
                sent = timeout(rest, send.send(part)) => sent.ok(),
                () = wait.ended() => None,
            }
        });
        match passed {
            Some(sent) => sent.map_err(|_| io::ErrorKind::BrokenPipe.into()),
            None => {
                // What was sent is not kept for a client that does not accept it.
                self.client.close();
                Err(io::ErrorKind::TimedOut.into())
            }
        }
    }

    /// Takes what was written, as it is sent. After the last part follows nothing.
    fn take_part(&mut self, is_last: bool) -> Bytes {
        if !self.is_compressed {
            let next = if is_last { 0 } else { PART + PART / 8 };
            return std::mem::replace(&mut self.buffer, Vec::with_capacity(next)).into();
        }
        let gzip = self.gzip.get_or_insert_with(Gzip::new);
        gzip.add(&self.buffer);
        self.buffer.clear();
        let part = gzip.take();
        match self.gzip.take_if(|_| is_last) {
            Some(gzip) => [part, gzip.finish()].concat().into(),
            None => part.into(),
        }
    }

    /// Ends the answer.
    fn finish(mut self, result: Result<(), OutputError>) {
        match (result, self.begin.take()) {
            (Ok(()), Some(begin)) => {
                let is_compressed = self.is_compressed && self.buffer.len() >= COMPRESSED;
                let whole = match is_compressed {
                    true => Gzip::whole(&self.buffer),
                    false => self.buffer,
                };
                _ = begin.send(Begin::Whole(whole, is_compressed));
            }
            (Err(error), Some(begin)) => _ = begin.send(Begin::Failed(error)),
            (Ok(()), None) => {
                let last = self.take_part(true);
                let is_whole = self.pass(last).is_ok();
                self.is_whole.store(is_whole, Ordering::Release);
            }
            // The stream ends without being whole.
            (Err(_), None) => {}
        }
    }
}

/// The parts of an answer, as a stream. If they are not all, an error follows the last one.
struct PartStream {
    receive: mpsc::Receiver<Bytes>,
    is_whole: Arc<AtomicBool>,
    has_ended: bool,
    _cancel: CancelOnDrop,
}

impl Stream for PartStream {
    type Item = Result<Bytes, Broken>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.receive.poll_recv(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(part)) => Poll::Ready(Some(Ok(part))),
            Poll::Ready(None) if self.has_ended || self.is_whole.load(Ordering::Acquire) => {
                Poll::Ready(None)
            }
            Poll::Ready(None) => {
                self.has_ended = true;
                Poll::Ready(Some(Err(Broken)))
            }
        }
    }
}

/// Runs a blocking function that answers no data. A panic becomes a failure.
///
/// # Errors
///
/// Returns the error of the function.
pub async fn blocking<T: Send + 'static>(
    run: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let failed = |_| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "The request failed");
    tokio::task::spawn_blocking(run).await.map_err(failed)?
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io::Read;

    use axum::body::to_bytes;
    use axum::http::header;
    use flate2::read::GzDecoder;

    use super::*;

    /// The longest time of an answer in these tests.
    const SHORT: Duration = Duration::from_millis(100);

    fn workers() -> Workers {
        Workers::new(1).longest(SHORT)
    }

    fn run<T>(test: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(test)
    }

    #[test]
    fn work_that_takes_too_long_ends_with_an_error() {
        let start = Instant::now();
        let endless = |work: &mut Work<'_>| {
            loop {
                work.tick()?;
            }
        };
        let response = run(workers().answer(Client::default(), AnswerForm::default(), endless));
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(start.elapsed() >= SHORT && start.elapsed() < LONGEST);
        // The same while it waits for a result.
        let waiting = |work: &mut Work<'_>| work.wait(|| None::<()>);
        assert_eq!(
            run(workers().answer(Client::default(), AnswerForm::default(), waiting)).status(),
            StatusCode::SERVICE_UNAVAILABLE
        );
    }

    #[test]
    fn clients_that_accept_nothing_lose_their_answers_and_delay_no_others() {
        run(async {
            let workers = workers();
            let endless = |work: &mut Work<'_>| {
                loop {
                    work.text("0123456789abcdef")?;
                }
            };
            let slow = workers.answer(Client::default(), AnswerForm::default(), endless).await;
            assert_eq!(slow.status(), StatusCode::OK);
            // The only worker is free before the slow client has lost its answer.
            let start = Instant::now();
            let other = workers
                .answer(Client::default(), AnswerForm::default(), |work| work.text("{}"))
                .await;
            assert_eq!(other.status(), StatusCode::OK);
            assert!(start.elapsed() < LONGEST);
            tokio::time::sleep(2 * SHORT).await;
            // What it gets is bounded, and ends with an error.
            let mut body = slow.into_body().into_data_stream();
            let (mut bytes, mut is_broken) = (0, false);
            while let Some(part) = poll_fn(|context| Pin::new(&mut body).poll_next(context)).await {
                match part {
                    Ok(part) => bytes += part.len(),
                    Err(_) => is_broken = true,
                }
            }
            assert!(is_broken && (PART..=(WAITING + 2) * 2 * PART).contains(&bytes), "{bytes}");
        });
    }

    #[test]
    fn compressed_answers_are_the_plain_ones() {
        for lines in [0, 1, 20, 5_000, 60_000] {
            let write = move |work: &mut Work<'_>| {
                (0..lines).try_for_each(|line| work.text(&format!("line {line} of {lines}\n")))
            };
            let answer = |is_compressed| {
                run(async {
                    let form = AnswerForm { is_compressed, ..AnswerForm::default() };
                    let answer = workers().longest(LONGEST);
                    let answer = answer.answer(Client::default(), form, write).await;
                    let encoding = answer.headers().get(header::CONTENT_ENCODING).cloned();
                    (encoding, to_bytes(answer.into_body(), usize::MAX).await.unwrap())
                })
            };
            let ((none, plain), (encoding, packed)) = (answer(false), answer(true));
            let is_packed = plain.len() >= COMPRESSED;
            assert_eq!((none, encoding.is_some()), (None, is_packed), "{lines}");
            let mut unpacked = Vec::new();
            match is_packed {
                true => _ = GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap(),
                false => unpacked.extend_from_slice(&packed),
            }
            assert!(
                unpacked == plain && plain.iter().filter(|byte| **byte == b'\n').count() == lines
            );
        }
    }

    #[test]
    fn clients_that_go_away_cancel_their_work() {
        run(async {
            let (send, ended) = std::sync::mpsc::channel();
            let endless = move |work: &mut Work<'_>| {
                loop {
                    if let Err(error) = work.text("0123456789abcdef") {
                        _ = send.send(error.to_string());
                        return Err(error);
                    }
                }
            };
            drop(Workers::new(1).answer(Client::default(), AnswerForm::default(), endless).await);
            let error = ended.recv_timeout(LONGEST / 2).unwrap();
            assert_eq!(error, OutputError::Cancelled.to_string());
        });
    }
}
