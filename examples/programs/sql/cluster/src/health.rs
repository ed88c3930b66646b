//! The question whether a scheduler lives, and has executors.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// The longest time to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest answer that is read, in bytes.
const LONGEST: u64 = 4096;

/// The state of a scheduler that can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// The scheduler has as many executors as it waits for.
    Ready,
    /// The scheduler has fewer executors.
    Waiting,
    /// The scheduler has no executors.
    Empty,
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
    let mut answer = String::new();
    stream.take(LONGEST).read_to_string(&mut answer)?;
    parse(&answer).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "this is no scheduler"))
}

/// Parses an answer, whose body is such as `ready: 2 executors registered` or `not ready: 1/2 executors
/// registered`.
fn parse(answer: &str) -> Option<Health> {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let health = match head.split_whitespace().nth(1)? {
        "200" => Health::Ready,
        "503" => Health::Waiting,
        _ => return None,
    };
    let count = body.split(|byte: char| !byte.is_ascii_digit()).find(|count| !count.is_empty());
    Some(if count == Some("0") { Health::Empty } else { health })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_schedulers() {
        for (answer, health) in [
            (
                "HTTP/1.1 200 OK\r\na: 0\r\n\r\nready: 12 executors registered\n",
                Some(Health::Ready),
            ),
            ("HTTP/1.1 503 No\r\n\r\nnot ready: 1/2 executors registered\n", Some(Health::Waiting)),
            ("HTTP/1.1 503 No\r\n\r\nnot ready: 0/2 executors registered\n", Some(Health::Empty)),
            ("HTTP/1.1 200 OK\r\n\r\nready: 0 executors registered\n", Some(Health::Empty)),
            ("HTTP/1.1 503 No\r\n\r\n", Some(Health::Waiting)),
            ("HTTP/1.1 404 No\r\n\r\n", None),
            ("", None),
        ] {
            assert_eq!(parse(answer), health, "{answer:?}");
        }
    }
}
