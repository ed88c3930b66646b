//! The question whether a scheduler lives, and has executors.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// The longest time to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The state of a scheduler that can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// The scheduler has as many executors as it waits for.
    Ready,
    /// The scheduler has fewer executors.
    Waiting,
}

/// Asks the scheduler at `host:port` whether it is ready for queries.
///
/// # Errors
///
/// If it cannot be reached.
pub fn health(scheduler: &str) -> io::Result<Health> {
    let mut unreachable = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in scheduler.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => return ask(&stream, scheduler),
            Err(error) => unreachable = error,
        }
    }
    Err(unreachable)
}

fn ask(mut stream: &TcpStream, host: &str) -> io::Result<Health> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut status = String::new();
    BufReader::new(stream).read_line(&mut status)?;
    match status.split_whitespace().nth(1) {
        Some("200") => Ok(Health::Ready),
        Some("503") => Ok(Health::Waiting),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "this is no scheduler")),
    }
}
