//! Limits open connections: beyond the limit, the one that has been idle the longest is closed.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::task::AbortHandle;

/// The bit of the rank of connections with a request that is not answered.
const BUSY: u64 = 1 << 63;

/// The open connections.
#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    table: Mutex<Table>,
}

/// The tasks of connections, by rank: the one that is closed first has the lowest.
#[derive(Debug, Default)]
struct Table {
    changes: u64,
    open: BTreeMap<u64, AbortHandle>,
}

/// The place of a connection among all.
#[derive(Debug)]
struct Place {
    connections: Arc<Connections>,
    rank: AtomicU64,
}

impl Table {
    fn next_rank(&mut self) -> u64 {
        self.changes += 1;
        self.changes
    }
}

impl Connections {
    /// Creates an empty set for a number of connections.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Connections { most, table: Mutex::default() })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the task of a connection.
    pub(super) fn start<F>(self: &Arc<Self>, serve: impl FnOnce(Client) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut table = self.table();
        // The new one is idle, too, but must not be the one that is closed.
        let is_too_many = table.open.len() >= self.most;
        let closed = is_too_many.then(|| table.open.pop_first()).flatten();
        let rank = table.next_rank();
        let place = Place { connections: Arc::clone(self), rank: AtomicU64::new(rank) };
        let task = tokio::spawn(serve(Client(Some(Arc::new(place)))));
        table.open.insert(rank, task.abort_handle());
        drop(table);
        if let Some((_, closed)) = closed {
            closed.abort();
        }
    }

    /// Closes the connection that has been idle the longest. If none is idle, closes the one with
    /// the oldest request.
    pub(super) fn close_one(&self) {
        let first = self.table().open.pop_first();
        if let Some((_, task)) = first {
            task.abort();
        }
    }
}

impl Place {
    /// Moves the connection behind all others that are as busy.
    fn set(&self, busy: u64) {
        let mut table = self.connections.table();
        // A connection that is being closed has no task any more.
        if let Some(task) = table.open.remove(&self.rank.load(Ordering::Relaxed)) {
            let rank = table.next_rank() | busy;
            table.open.insert(rank, task);
            self.rank.store(rank, Ordering::Relaxed);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.table().open.remove(&self.rank.load(Ordering::Relaxed));
    }
}

/// The client of a request: its connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Client(Option<Arc<Place>>);

impl Client {
    /// Closes the connection.
    pub(super) fn close(&self) {
        let Some(place) = &self.0 else { return };
        let task = place.connections.table().open.remove(&place.rank.load(Ordering::Relaxed));
        if let Some(task) = task {
            task.abort();
        }
    }

    /// Marks the connection as busy until the result is dropped.
    pub(super) fn busy(&self) -> Busy {
        if let Some(place) = &self.0 {
            place.set(BUSY);
        }
        Busy(self.clone())
    }
}

impl<S: Sync> FromRequestParts<S> for Client {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.extensions.get::<Client>().cloned().unwrap_or_default())
    }
}

/// A mark that a connection has a request that is not answered.
#[derive(Debug)]
pub(super) struct Busy(Client);

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(place) = &self.0.0 {
            place.set(0);
        }
    }
}

/// The body of an answer, until whose end the connection is busy.
#[derive(Debug)]
pub(super) struct BusyBody {
    pub(super) body: Body,
    pub(super) _busy: Busy,
}

impl HttpBody for BusyBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
