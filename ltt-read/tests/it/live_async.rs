//! Live sessions over a connection of an asynchronous program.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::support::relay::Relay;
use crate::support::scripted::{EVENTS, whole, whole_of};
use futures_lite::{AsyncRead, AsyncWrite, future};
use ltt_read::Merge;
use ltt_read::live::{AsyncLiveReader, LiveClient, LiveError, LiveStart, LiveState};

/// A connection to a daemon in memory, which carries some bytes at once, and none each second time.
struct Connection {
    relay: Relay,
    request: Vec<u8>,
    reply: Vec<u8>,
    piece: usize,
    is_late: bool,
    /// The number of requests after which the daemon closes the connection.
    most: u64,
}

impl Connection {
    fn new(relay: Relay, piece: usize, most: u64) -> Connection {
        let (request, reply) = (Vec::new(), Vec::new());
        Connection { relay, request, reply, piece, is_late: false, most }
    }

    /// Returns `Pending` each second time.
    fn delay(&mut self, task: &Context<'_>) -> Poll<()> {
        self.is_late = !self.is_late;
        if self.is_late {
            task.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        std::task::ready!(self.delay(task));
        let count = bytes.len().min(self.piece);
        self.request.extend_from_slice(&bytes[..count]);
        let size = self.request.get(7).map(|size| 16 + usize::from(*size));
        if Some(self.request.len()) == size && self.relay.requests < self.most {
            let request = std::mem::take(&mut self.request);
            self.reply = self.relay.answer(&request).unwrap_or_default();
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.delay(task).map(Ok)
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        std::task::ready!(self.delay(task));
        let count = self.reply.len().min(self.piece).min(buffer.len());
        buffer[..count].copy_from_slice(&self.reply[..count]);
        self.reply.drain(..count);
        Poll::Ready(Ok(count))
    }
}

/// Reads a session to its end. With `drops`, each future is dropped several times on the way.
fn read(
    reader: &mut AsyncLiveReader<Connection>,
    merge: &mut Merge,
    seen: &mut Vec<u64>,
    drops: bool,
) -> Result<(), LiveError> {
    loop {
        let state = match drops {
            true => future::block_on(async {
                loop {
                    if let Some(state) = future::poll_once(reader.fetch()).await {
                        return state;
                    }
                }
            }),
            false => future::block_on(reader.fetch()),
        }?;
        merge.continue_with(reader.traces());
        while let Some(event) = merge.next() {
            seen.extend(event.field("seq").and_then(|seq| seq.as_u64()));
        }
        reader.release(merge);
        if state == LiveState::Ended {
            return Ok(());
        }
    }
}

#[test]
fn a_session_is_read_in_order_also_if_futures_are_dropped() {
    for (piece, drops) in [(1, false), (7, true), (usize::MAX, false), (usize::MAX, true)] {
        let client = LiveClient::attach("fake", "vm", "s", LiveStart::Beginning);
        let mut reader = AsyncLiveReader::new(client, Connection::new(whole(), piece, u64::MAX));
        let (mut merge, mut seen) = (Merge::new(&[]), Vec::new());
        read(&mut reader, &mut merge, &mut seen, drops).unwrap();
        assert_eq!(seen, EVENTS);
    }
}

#[test]
fn reading_goes_on_over_another_connection() {
    let client = LiveClient::attach("fake", "vm", "s", LiveStart::Beginning);
    let mut reader = AsyncLiveReader::new(client, Connection::new(whole(), 7, 12));
    let (mut merge, mut seen) = (Merge::new(&[]), Vec::new());
    let end = read(&mut reader, &mut merge, &mut seen, false);
    assert!(matches!(end, Err(LiveError::Closed { .. })), "{end:?}");
    reader.reconnect(Connection::new(whole_of(13, false), 7, u64::MAX));
    read(&mut reader, &mut merge, &mut seen, true).unwrap();
    assert_eq!(seen, EVENTS);
}
