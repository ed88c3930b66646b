//! A cache of responses, as they were sent.
//!
//! Users often return to a view, and several users look at the same one. Only answers that will not
//! change are stored, only at the second equal request, and only while their dataset is open.

use std::any::Any;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The greatest number of bytes in all answers that are kept, with their requests.
const MOST_BYTES: usize = 8 << 20;
/// The greatest number of bytes in one of them.
const LARGEST: usize = 1 << 20;
/// The greatest number of answers.
const MOST: usize = 256;
/// The number of the last requests that are remembered without their answers.
const REMEMBERED: usize = 1024;
/// The greatest number of bytes in answers that are being sent, and may be kept.
const MOST_SENT: usize = 8 << 20;
/// The headers that are kept with an answer.
const HEADERS: [HeaderName; 3] = [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::VARY];

/// The answers that are stored.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    answers: Arc<Mutex<Answers>>,
    asked: Arc<Mutex<VecDeque<u64>>>,
    hashes: RandomState,
    sent: Arc<Semaphore>,
}

/// All in a request on which its answer depends, besides the dataset.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Question {
    /// The path.
    pub(super) path: String,
    /// The body.
    pub(super) body: Vec<u8>,
    /// The encodings that the client accepts.
    pub(super) encodings: Option<HeaderValue>,
}

/// A mark of answers: whether they will not change. It is set before their end.
#[derive(Debug, Clone, Default)]
pub(super) struct Final(pub(super) Arc<AtomicBool>);

/// The dataset from which an answer is computed.
type Source = Arc<dyn Any + Send + Sync>;

/// A mark of an answer that should be kept.
#[derive(Debug, Clone)]
struct Keep {
    kept: Kept,
    source: Weak<dyn Any + Send + Sync>,
    question: Arc<Question>,
    is_final: Final,
}

/// Answers, from the one that was used last.
#[derive(Debug, Default)]
struct Answers {
    all: VecDeque<Answer>,
    bytes: usize,
}

#[derive(Debug)]
struct Answer {
    // The memory of a dataset that is closed has no other one at its address while this is kept.
    source: Weak<dyn Any + Send + Sync>,
    question: Arc<Question>,
    headers: HeaderMap,
    body: Bytes,
}

impl Default for Kept {
    fn default() -> Self {
        let sent = Arc::new(Semaphore::new(MOST_SENT));
        Kept { answers: Arc::default(), asked: Arc::default(), hashes: RandomState::new(), sent }
    }
}

impl Kept {
    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the answer of an equal request to the same dataset.
    pub(super) fn find(&self, source: &Source, question: &Question) -> Option<Response> {
        let source = Arc::downgrade(source);
        let mut answers = self.answers();
        let is_equal = |of: &Answer| of.source.ptr_eq(&source) && *of.question == *question;
        let at = answers.all.iter().position(is_equal)?;
        let answer = answers.all.remove(at)?;
        let mut response = Response::new(Body::from(answer.body.clone()));
        *response.headers_mut() = answer.headers.clone();
        answers.all.push_front(answer);
        Some(response)
    }

    /// Returns `true` if an equal request was one of the last ones, and remembers it.
    fn was_asked(&self, question: &Question) -> bool {
        let hash = self.hashes.hash_one(question);
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.contains(&hash) {
            return true;
        }
        asked.push_front(hash);
        asked.truncate(REMEMBERED);
        false
    }

    /// Marks a response that is requested again: it is stored when [`keep`] has seen it being sent, if
    /// it is final then.
    pub(super) fn mark(&self, source: &Source, question: Question, response: &mut Response) {
        let Some(is_final) = response.extensions_mut().remove::<Final>() else { return };
        if !self.was_asked(&question) {
            return;
        }
        let (kept, source) = (self.clone(), Arc::downgrade(source));
        let question = Arc::new(question);
        response.extensions_mut().insert(Keep { kept, source, question, is_final });
    }
}

/// Copies an answer with a mark while it is sent as it is now.
pub(super) async fn keep(mut response: Response) -> Response {
    let Some(keep) = response.extensions_mut().remove::<Keep>() else { return response };
    let header = |name: &HeaderName| Some((name.clone(), response.headers().get(name)?.clone()));
    let headers = HEADERS.iter().filter_map(header).collect();
    let copy = Some(PendingCopy { keep, headers, bytes: Vec::new(), room: None });
    response.map(|body| Body::new(Copied { body, copy }))
}

/// A copy of what was sent of an answer, with the room that it takes.
struct PendingCopy {
    keep: Keep,
    headers: HeaderMap,
    bytes: Vec<u8>,
    room: Option<OwnedSemaphorePermit>,
}

impl PendingCopy {
    /// Adds a part. Returns `false` if there is no room for it.
    fn add(&mut self, part: &[u8]) -> bool {
        if self.bytes.len() + part.len() > LARGEST {
            return false;
        }
        let sent = Arc::clone(&self.keep.kept.sent);
        let Ok(more) = sent.try_acquire_many_owned(part.len() as u32) else { return false };
        match &mut self.room {
            Some(room) => room.merge(more),
            None => self.room = Some(more),
        }
        self.bytes.extend_from_slice(part);
        true
    }

    /// Keeps the answer, which is whole.
    fn keep(self) {
        let Keep { kept, source, question, is_final } = self.keep;
        if is_final.0.load(Ordering::Acquire) {
            let body = Bytes::from(self.bytes.into_boxed_slice());
            kept.answers().add(Answer { source, question, headers: self.headers, body });
        }
    }
}

impl Answer {
    fn size(&self) -> usize {
        self.body.len() + self.question.body.len() + self.question.path.len()
    }
}

impl Answers {
    fn add(&mut self, answer: Answer) {
        // Equal requests at the same time have equal answers.
        let is_equal =
            |of: &Answer| of.source.ptr_eq(&answer.source) && of.question == answer.question;
        self.all.retain(|of| of.source.strong_count() > 0 && !is_equal(of));
        self.all.push_front(answer);
        self.bytes = self.all.iter().map(Answer::size).sum();
        while (self.bytes > MOST_BYTES || self.all.len() > MOST)
            && let Some(last) = self.all.pop_back()
        {
            self.bytes -= last.size();
        }
    }
}

/// A body that is copied while it is sent.
struct Copied {
    body: Body,
    copy: Option<PendingCopy>,
}

impl HttpBody for Copied {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        let is_copied = match (&frame, &mut self.copy) {
            (Some(Ok(frame)), Some(copy)) => frame.data_ref().is_some_and(|part| copy.add(part)),
            (Some(Err(_)), _) => false,
            _ => true,
        };
        if !is_copied {
            self.copy = None;
        }
        if (frame.is_none() || self.body.is_end_stream())
            && let Some(copy) = self.copy.take()
        {
            copy.keep();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    fn question(path: &str) -> Question {
        Question { path: path.to_owned(), body: b"{}".to_vec(), encodings: None }
    }

    /// Sends an answer twice.
    async fn send(kept: &Kept, source: &Source, path: &str, body: &str, is_final: bool) {
        send_once(kept, source, path, body, is_final).await;
        send_once(kept, source, path, body, is_final).await;
    }

    async fn send_once(kept: &Kept, source: &Source, path: &str, body: &str, is_final: bool) {
        let mut response = Response::new(Body::from(body.to_owned()));
        response.extensions_mut().insert(Final(Arc::new(AtomicBool::new(is_final))));
        kept.mark(source, question(path), &mut response);
        let sent = to_bytes(keep(response).await.into_body(), usize::MAX).await.unwrap();
        assert_eq!(sent, body);
    }

    async fn found(kept: &Kept, source: &Source, path: &str) -> Option<Bytes> {
        let response = kept.find(source, &question(path))?;
        Some(to_bytes(response.into_body(), usize::MAX).await.unwrap())
    }

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test);
    }

    #[test]
    fn only_whole_and_final_answers_of_equal_requests_are_kept() {
        run(async {
            let kept = Kept::default();
            let (source, other): (Source, Source) = (Arc::new(1), Arc::new(1));
            send(&kept, &source, "/a", "final", true).await;
            send(&kept, &source, "/b", "partial", false).await;
            assert_eq!(found(&kept, &source, "/a").await.as_deref(), Some(&b"final"[..]));
            assert_eq!(found(&kept, &source, "/b").await, None);
            assert_eq!(found(&kept, &other, "/a").await, None);
            let packed = HeaderValue::from_static("gzip");
            let packed = Question { encodings: Some(packed), ..question("/a") };
            assert!(kept.find(&source, &packed).is_none());
            // An answer whose client goes away is not whole.
            send_once(&kept, &source, "/c", "lost", true).await;
            assert_eq!(found(&kept, &source, "/c").await, None, "it was asked for once");
            let mut response = Response::new(Body::from("lost"));
            response.extensions_mut().insert(Final(Arc::new(AtomicBool::new(true))));
            kept.mark(&source, question("/c"), &mut response);
            drop(keep(response).await);
            assert_eq!(found(&kept, &source, "/c").await, None);
            assert_eq!(kept.sent.available_permits(), MOST_SENT);
        });
    }

    #[test]
    fn answers_are_bounded_and_end_with_their_dataset() {
        run(async {
            let kept = Kept::default();
            let (source, other): (Source, Source) = (Arc::new(1), Arc::new(2));
            let large = "x".repeat(LARGEST);
            send(&kept, &other, "/other", "other", true).await;
            drop(other);
            send(&kept, &source, "/too large", &"x".repeat(LARGEST + 1), true).await;
            assert_eq!(found(&kept, &source, "/too large").await, None);
            send(&kept, &source, "/first", "first", true).await;
            assert_eq!(kept.answers().all.len(), 1, "the closed dataset has none");
            for number in 0..2 * MOST_BYTES / LARGEST {
                // What is used stays.
                assert!(found(&kept, &source, "/first").await.is_some());
                send(&kept, &source, &format!("/{number}"), &large, true).await;
            }
            assert_eq!(found(&kept, &source, "/0").await, None);
            let bytes: usize = kept.answers().all.iter().map(Answer::size).sum();
            assert!((MOST_BYTES / 2..=MOST_BYTES).contains(&bytes), "{bytes}");
            for number in 0..2 * MOST {
                send(&kept, &source, &format!("/small {number}"), "", true).await;
            }
            assert_eq!(kept.answers().all.len(), MOST);
        });
    }
}
