//! Serving connections, with limits for their number and their speed.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_io_timeout::TimeoutStream;

use super::connections::{BusyBody, Client, Connections};

/// The greatest number of connections at the same time. A further one closes the one that has been
/// idle the longest. Systems let programs open 1024 files or more.
pub const MOST_CONNECTIONS: usize = 512;
/// The size in bytes of the buffer for the head of a request.
const BUFFER: usize = 64 << 10;
/// The time to wait for files to be closed, when too many are open.
const PAUSE: Duration = Duration::from_millis(10);

/// The times after which a connection is closed.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// The longest time for receiving the head of a request, or between requests. Clients may need
    /// half a minute to read a long answer, before they send the next request.
    pub head: Duration,
    /// The longest time in which a client may accept no bytes.
    pub write: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { head: Duration::from_secs(60), write: Duration::from_secs(20) }
    }
}

/// Accepts connections until `end` is ready.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    patience: Patience,
    end: impl Future<Output = ()>,
) {
    let connections = Connections::new(MOST_CONNECTIONS);
    tokio::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let router = router.clone();
                    connections.start(|client| connection(stream, router, patience, client));
                }
                // Too many files are open.
                Err(_) => {
                    connections.close_one();
                    tokio::time::sleep(PAUSE).await;
                }
            },
        }
    }
}

/// Serves the requests of one connection.
async fn connection(stream: TcpStream, router: Router, patience: Patience, client: Client) {
    _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(patience.write));
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<_>| {
        let busy = client.busy();
        request.extensions_mut().insert(client.clone());
        let answer = router.call(request);
        async move {
            let response = answer.await?;
            Ok::<_, std::convert::Infallible>(response.map(|body| BusyBody { body, _busy: busy }))
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience.head)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    // A client that breaks the connection is no fault of the server.
    _ = served.await;
}

/// Returns the address of the server, as users open it.
pub fn url(address: SocketAddr) -> String {
    format!("http://{address}/")
}
