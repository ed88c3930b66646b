//! Live sessions in asynchronous programs.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};

use super::client::{LiveAction, LiveClient};
use super::error::LiveError;
use super::reader::LiveState;
use crate::merge::Merge;
use crate::trace::Trace;

/// The size of the receive buffer in bytes.
const BUFFER: usize = 1 << 18;

/// The number of bytes after which a call returns, so that they can be read.
const MOST: usize = 4 << 20;

/// A live session that is read over a connection of an asynchronous runtime.
///
/// The caller opens the connection: any type with the traits of
/// [`futures-io`](https://docs.rs/futures-io), such as the `TcpStream` of `smol` and
/// `async-net`, or that of `tokio` in the adapter of `tokio-util` (feature `compat`). It should set
/// `TCP_NODELAY`; a daemon sends some replies in two parts, so that on Linux they arrive 44 ms
/// sooner if the connection also sets `TCP_QUICKACK` before each read.
///
/// ```
/// use futures_lite::future;
/// use ltt_read::Merge;
/// use ltt_read::live::{AsyncLiveReader, LiveClient, LiveError, LiveStart, LiveState};
///
/// async fn print<C>(connection: C) -> Result<(), LiveError>
/// where
///     C: futures_lite::AsyncRead + futures_lite::AsyncWrite + Unpin,
/// {
///     let client = LiveClient::attach("localhost:5344", "host", "session", LiveStart::Now);
///     let mut reader = AsyncLiveReader::new(client, connection);
///     let mut merge = Merge::new(&[]);
///     loop {
///         let state = reader.fetch().await?;
///         merge.continue_with(reader.traces());
///         while let Some(event) = merge.next() {
///             println!("{:?} {}", event.timestamp(), event.event_type().name());
///         }
///         reader.release(&merge);
///         match state {
///             LiveState::Ended => return Ok(()),
///             LiveState::Busy => {}
///             LiveState::Idle => future::yield_now().await, // better: sleep 50 ms
///         }
///     }
/// }
/// ```
#[derive(Debug)]
pub struct AsyncLiveReader<C> {
    client: LiveClient,
    connection: C,
    buffer: Vec<u8>,
    /// The request that is being sent, and the number of its bytes that were sent.
    request: Vec<u8>,
    sent: usize,
}

impl<C: AsyncRead + AsyncWrite + Unpin> AsyncLiveReader<C> {
    /// Creates a reader of a client's session over a connection to the daemon that it names.
    pub fn new(client: LiveClient, connection: C) -> Self {
        AsyncLiveReader {
            client,
            connection,
            buffer: vec![0; BUFFER],
            request: Vec::new(),
            sent: 0,
        }
    }

    /// Fetches new data, up to about 4 MiB. The future can be dropped at any time: the next
    /// call goes on.
    ///
    /// # Errors
    ///
    /// Any [`LiveError`]. What arrived before is still in [`traces`](Self::traces).
    pub async fn fetch(&mut self) -> Result<LiveState, LiveError> {
        let mut received = 0;
        poll_fn(|task| self.poll_fetch(task, &mut received)).await
    }

    fn poll_fetch(
        &mut self,
        task: &mut Context<'_>,
        received: &mut usize,
    ) -> Poll<Result<LiveState, LiveError>> {
        loop {
            ready!(self.poll_send(task))?;
            if *received >= MOST {
                return Poll::Ready(Ok(LiveState::Busy));
            }
            match self.client.next()? {
                LiveAction::Wait => return Poll::Ready(Ok(LiveState::Idle)),
                LiveAction::End => return Poll::Ready(Ok(LiveState::Ended)),
                LiveAction::Send(request) => (self.request, self.sent) = (request, 0),
                LiveAction::Receive => {
                    let connection = Pin::new(&mut self.connection);
                    let read = ready!(connection.poll_read(task, &mut self.buffer));
                    match read.map_err(|error| self.client.failed(error))? {
                        0 => return Poll::Ready(Err(self.client.closed())),
                        count => {
                            self.client.receive(&self.buffer[..count])?;
                            *received += count;
                        }
                    }
                }
            }
        }
    }

    /// Sends the rest of the request.
    fn poll_send(&mut self, task: &mut Context<'_>) -> Poll<Result<(), LiveError>> {
        if self.request.is_empty() {
            return Poll::Ready(Ok(()));
        }
        while self.sent < self.request.len() {
            let connection = Pin::new(&mut self.connection);
            let written = ready!(connection.poll_write(task, &self.request[self.sent..]));
            match written.map_err(|error| self.client.failed(error))? {
                0 => return Poll::Ready(Err(self.client.closed())),
                count => self.sent += count,
            }
        }
        let flushed = ready!(Pin::new(&mut self.connection).poll_flush(task));
        self.request.clear();
        Poll::Ready(flushed.map_err(|error| self.client.failed(error)))
    }

    /// Continues over another connection after [`LiveError::Io`] or [`LiveError::Closed`]: see
    /// [`LiveClient::reconnect`].
    pub fn reconnect(&mut self, connection: C) {
        self.connection = connection;
        self.request.clear();
        self.client.reconnect();
    }

    /// Returns the traces as far as they have arrived: see [`LiveClient::traces`].
    pub fn traces(&mut self) -> &[Arc<Trace>] {
        self.client.traces()
    }

    /// Forgets the data that a merge of the [`traces`](Self::traces) has delivered.
    pub fn release(&mut self, merge: &Merge) {
        self.client.release(merge);
    }

    /// Returns the client that speaks the protocol.
    pub fn client(&mut self) -> &mut LiveClient {
        &mut self.client
    }
}
