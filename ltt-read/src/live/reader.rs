//! Live sessions over TCP.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::client::{LiveAction, LiveClient, LiveStart};
use super::error::LiveError;
use super::session::LiveSession;
use crate::merge::Merge;
use crate::trace::Trace;

/// The size of the receive buffer in bytes.
const BUFFER: usize = 1 << 18;

/// The time after which a connection attempt, or a request that is sent, fails.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest time for which a call waits for the network beyond its limit.
const STEP: Duration = Duration::from_millis(20);

/// A live session that is read over a TCP connection.
///
/// [the module](super) has an example.
#[derive(Debug)]
pub struct LiveReader {
    client: LiveClient,
    connection: TcpStream,
    buffer: Vec<u8>,
}

/// The result of a call of [`LiveReader::poll`].
// Exhaustive: a caller has to tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LiveState {
    /// The daemon has nothing new at the moment. The caller should wait for a part of
    /// the session's live timer.
    Idle,
    /// The time of the call was over before everything was fetched that is there.
    Busy,
    /// The session is over, and all data has arrived.
    Ended,
}

impl LiveReader {
    /// Connects to a relay daemon and starts to read the session of a host with a name.
    ///
    /// # Errors
    ///
    /// [`LiveError::Io`] if the daemon cannot be reached. What the daemon refuses is an error
    /// of [`poll`](Self::poll).
    pub fn attach(
        daemon: &str,
        host: &str,
        session: &str,
        start: LiveStart,
    ) -> Result<LiveReader, LiveError> {
        LiveReader::connect(LiveClient::attach(daemon, host, session, start))
    }

    /// Connects a client to the daemon that it names.
    ///
    /// # Errors
    ///
    /// [`LiveError::Io`] if the daemon cannot be reached.
    pub fn connect(client: LiveClient) -> Result<LiveReader, LiveError> {
        let connection = connect(client.daemon())?;
        Ok(LiveReader { client, connection, buffer: vec![0; BUFFER] })
    }

    /// Connects to the daemon again after [`LiveError::Io`] or [`LiveError::Closed`]. Reading goes
    /// on where it has ended: see [`LiveClient::reconnect`].
    ///
    /// # Errors
    ///
    /// [`LiveError::Io`] if the daemon cannot be reached. The caller may try again.
    pub fn reconnect(&mut self) -> Result<(), LiveError> {
        self.connection = connect(self.client.daemon())?;
        self.client.reconnect();
        Ok(())
    }

    /// Fetches new data, for at most `limit` and 20 ms.
    ///
    /// # Errors
    ///
    /// Any [`LiveError`]. What arrived before is still in [`traces`](Self::traces).
    pub fn poll(&mut self, limit: Duration) -> Result<LiveState, LiveError> {
        let end = Instant::now() + limit;
        loop {
            match self.client.next()? {
                LiveAction::Wait => return Ok(LiveState::Idle),
                LiveAction::End => return Ok(LiveState::Ended),
                LiveAction::Send(bytes) => {
                    let sent = self.connection.write_all(&bytes);
                    sent.map_err(|error| self.client.failed(error))?;
                }
                LiveAction::Receive => {
                    if !self.receive(end)? && Instant::now() >= end {
                        return Ok(LiveState::Busy);
                    }
                }
            }
            if Instant::now() >= end {
                return Ok(LiveState::Busy);
            }
        }
    }

    /// Receives bytes once. Returns `false` if there were none in time.
    fn receive(&mut self, end: Instant) -> Result<bool, LiveError> {
        let left = end.saturating_duration_since(Instant::now());
        let wait = Some(left.clamp(Duration::from_millis(1), STEP));
        acknowledge_quickly(&self.connection);
        let read = self.connection.set_read_timeout(wait);
        let read = read.and_then(|()| self.connection.read(&mut self.buffer));
        match read {
            Ok(0) => Err(self.client.closed()),
            Ok(count) => self.client.receive(&self.buffer[..count]).map(|()| true),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => Ok(false),
                _ => Err(self.client.failed(error)),
            },
        }
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

/// Connects to a relay daemon.
fn connect(daemon: &str) -> Result<TcpStream, LiveError> {
    let io = |error| LiveError::Io { daemon: daemon.to_owned(), error };
    let mut failure = std::io::Error::new(ErrorKind::NotFound, "the name has no address");
    let mut connection = None;
    for address in daemon.to_socket_addrs().map_err(io)? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(connected) => {
                connection = Some(connected);
                break;
            }
            Err(error) => failure = error,
        }
    }
    let connection = connection.ok_or_else(|| io(failure))?;
    connection.set_nodelay(true).map_err(io)?;
    connection.set_write_timeout(Some(PATIENCE)).map_err(io)?;
    Ok(connection)
}

/// Lists the sessions of a relay daemon. The address is `HOST:PORT`.
///
/// # Errors
///
/// [`LiveError::Io`] if the daemon cannot be reached or does not answer within 10 s, and the
/// errors of an answer that is not valid.
pub fn list_sessions(daemon: &str) -> Result<Vec<LiveSession>, LiveError> {
    let mut reader = LiveReader::connect(LiveClient::list(daemon))?;
    match reader.poll(PATIENCE)? {
        LiveState::Ended => Ok(reader.client.sessions().to_vec()),
        LiveState::Idle | LiveState::Busy => Err(LiveError::Io {
            daemon: daemon.to_owned(),
            error: std::io::Error::new(ErrorKind::TimedOut, "no answer within 10 s"),
        }),
    }
}

/// Makes the system acknowledge the next bytes at once. The daemon sends some replies in two
/// parts, of which it sends the second only after the first was acknowledged: 44 ms later
/// otherwise.
fn acknowledge_quickly(connection: &TcpStream) {
    #[cfg(target_os = "linux")]
    {
        use std::os::linux::net::TcpStreamExt;
        // Without this, reading is only slower.
        _ = connection.set_quickack(true);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = connection;
}
