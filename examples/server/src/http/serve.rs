//! Connections, with limits for their number and their speed.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;

/// The greatest number of connections at the same time. Further ones wait to be accepted.
const MOST_CONNECTIONS: usize = 4096;
/// The longest time for receiving the head of a request, or between requests. Clients may need
/// some seconds to read a long answer, before they send the next request.
const HEAD: Duration = Duration::from_secs(20);
/// The longest time in which a client may accept no bytes.
const WRITE: Duration = Duration::from_secs(20);
/// The size in bytes of the buffer for the head of a request.
const BUFFER: usize = 64 << 10;

/// Accepts connections until `end` is ready.
pub async fn serve(listener: TcpListener, router: Router, end: impl Future<Output = ()>) {
    let free = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    tokio::pin!(end);
    loop {
        let accept = async {
            let permit = Arc::clone(&free).acquire_owned().await;
            (permit, listener.accept().await)
        };
        tokio::select! {
            () = &mut end => return,
            (permit, accepted) = accept => match (permit, accepted) {
                (Ok(permit), Ok((stream, _))) => {
                    let router = router.clone();
                    tokio::spawn(async move {
                        let _permit = permit;
                        connection(stream, router).await;
                    });
                }
                // Too many files are open: wait until some are closed.
                (_, Err(_)) => tokio::time::sleep(Duration::from_millis(50)).await,
                (Err(_), _) => return,
            },
        }
    }
}

/// Serves the requests of one connection.
async fn connection(stream: TcpStream, router: Router) {
    _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(router));
    // A client that breaks the connection is no fault of the server.
    _ = served.await;
}

/// Returns the address of the server, as users open it.
pub fn url(address: SocketAddr) -> String {
    format!("http://{address}/")
}
