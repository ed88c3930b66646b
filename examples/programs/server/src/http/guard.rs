//! Checks before any handler runs: the host, the origin and the token of a request.

use std::hint::black_box;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::error::ApiError;

/// The hosts, origins and token that the server accepts.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// Names in `Host` headers, without ports, besides those of the loopback interface.
    pub hosts: Vec<String>,
    /// Accepts all IP addresses in `Host` headers, for a server that listens on all addresses of the
    /// machine. No page can bind an address to another machine, as it can a name.
    pub accepts_addresses: bool,
    /// Origins of other pages that may use the interface, besides the server's own page. `SCHEME://*` stands for all
    /// of a scheme: editors give each of their pages another host.
    pub origins: Vec<String>,
    /// The secret that requests must present, if there is one.
    pub token: Option<String>,
}

/// The names of the loopback interface.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Guard {
    /// Checks the `Host` header, so that a page cannot reach the server by a name of its own
    /// that it has bound to this address.
    fn accepts_host(&self, request: &Request) -> bool {
        let header = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let host = match (header, request.uri().host()) {
            (Some(host), _) => name_of(host),
            (None, Some(host)) => host,
            (None, None) => return false,
        };
        let address = host.trim_start_matches('[').trim_end_matches(']');
        if self.accepts_addresses && address.parse::<IpAddr>().is_ok() {
            return true;
        }
        let known = LOOPBACK.iter().copied().chain(self.hosts.iter().map(String::as_str));
        known.into_iter().any(|known| known.eq_ignore_ascii_case(host))
    }

    /// Returns the origin of a request, whose pages may read the answer. Requests without an origin are
    /// those of programs, or of the address field of a browser.
    fn origin<'h>(&self, headers: &'h HeaderMap) -> Origin<'h> {
        let Some(origin) = headers.get(header::ORIGIN) else { return Origin::None };
        // The page of this server is of the same origin.
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let own = host.map(|host| format!("http://{host}"));
        let is_known = origin.to_str().is_ok_and(|text| {
            self.origins.iter().any(|known| is_of(text, known)) || own.as_deref() == Some(text)
        });
        if is_known { Origin::Allowed(origin) } else { Origin::Refused }
    }

    /// Checks the token, in the header `Authorization` or as a parameter of the URL.
    fn accepts_token(&self, request: &Request) -> bool {
        let Some(token) = self.token.as_ref().map(String::as_bytes) else { return true };
        let header = request.headers().get(header::AUTHORIZATION);
        let header = header.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        let query = request.uri().query().unwrap_or_default();
        let query = query.split('&').find_map(|pair| pair.strip_prefix("token="));
        // Headers of browsers have no characters beyond Latin-1, so that the page encodes the token there, too.
        let is_in_header = header.is_some_and(|given| {
            is_equal(given, token) || is_equal(&percent_decoded(given), token)
        });
        let is_in_query =
            query.is_some_and(|given| is_equal(&percent_decoded(given.as_bytes()), token));
        is_in_header || is_in_query
    }
}

/// The origin of a request: that of the page that sends it.
enum Origin<'h> {
    /// No page sends it.
    None,
    /// The page may read the answer.
    Allowed(&'h HeaderValue),
    /// The page may not send requests.
    Refused,
}

/// Returns `true` if an origin is a known one, or of a scheme that is known as `SCHEME://*`.
fn is_of(origin: &str, known: &str) -> bool {
    match known.strip_suffix('*').filter(|scheme| scheme.ends_with("://")) {
        Some(scheme) => origin.strip_prefix(scheme).is_some_and(|host| !host.is_empty()),
        None => origin == known,
    }
}

/// Decodes `%` and two hexadecimal digits as a byte. Other bytes stay.
fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    let (mut decoded, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(byte) = text.get(at) {
        let digits = digit(text.get(at + 1)).zip(digit(text.get(at + 2)));
        match (byte, digits) {
            (b'%', Some((high, low))) => {
                decoded.push((high << 4 | low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    decoded
}

/// Returns the name in a `Host` header, without the port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Compares two texts in a time that depends on their lengths alone.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let differences = a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b));
    a.len() == b.len() && black_box(differences) == 0
}

/// Checks a request, answers preflights, and adds the headers that every answer has.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let (origin, is_refused) = match guard.origin(request.headers()) {
        Origin::None => (None, false),
        Origin::Allowed(origin) => (Some(origin.clone()), false),
        Origin::Refused => (None, true),
    };
    let is_interface = ["/tsp/", "/lttv/"].iter().any(|of| request.uri().path().starts_with(of));
    let mut response = if !guard.accepts_host(&request) {
        ApiError::new(StatusCode::FORBIDDEN, "This host name is not served").into_response()
    } else if is_refused {
        ApiError::new(StatusCode::FORBIDDEN, "This origin is not allowed").into_response()
    } else if request.method() == Method::OPTIONS {
        Response::default()
    } else if is_interface && !guard.accepts_token(&request) {
        ApiError::new(StatusCode::UNAUTHORIZED, "A token is required").into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    let mut set = |name, value| _ = headers.insert(name, HeaderValue::from_static(value));
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    if is_interface {
        set(header::CACHE_CONTROL, "no-store");
        set(header::ACCESS_CONTROL_ALLOW_HEADERS, "origin, content-type, accept, authorization");
        set(header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, DELETE, OPTIONS, HEAD");
        // The answer depends on the origin, also if it is absent.
        headers.insert(header::VARY, HeaderValue::from_static("origin, accept-encoding"));
        if let Some(origin) = origin {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
    }
    response
}
