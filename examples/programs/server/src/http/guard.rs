//! Checks before any handler runs: the host, the origin and the token of a request.

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
    /// Origins of other pages that may use the interface; all if it is empty.
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
        let known = LOOPBACK.iter().copied().chain(self.hosts.iter().map(String::as_str));
        known.into_iter().any(|known| known.eq_ignore_ascii_case(host))
    }

    /// Returns the value of `Access-Control-Allow-Origin`; `None` if the origin is refused.
    fn allowed_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let Some(origin) = headers.get(header::ORIGIN) else {
            return Some(HeaderValue::from_static("*"));
        };
        if self.origins.is_empty() {
            return Some(HeaderValue::from_static("*"));
        }
        // The page of this server is of the same origin.
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let own = host.map(|host| format!("http://{host}"));
        let text = origin.to_str().ok()?;
        let is_known =
            self.origins.iter().any(|known| known == text) || own.as_deref() == Some(text);
        is_known.then(|| origin.clone())
    }

    /// Checks the token, in the header `Authorization` or as a parameter of the URL.
    fn accepts_token(&self, request: &Request) -> bool {
        let Some(token) = &self.token else { return true };
        let header = request.headers().get(header::AUTHORIZATION);
        let header = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let query = request.uri().query().unwrap_or_default();
        let query = query.split('&').find_map(|pair| pair.strip_prefix("token="));
        header.or(query).is_some_and(|given| is_equal(given, token))
    }
}

/// Returns the name in a `Host` header, without the port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Compares two texts in a time that does not depend on their contents.
fn is_equal(a: &str, b: &str) -> bool {
    let differences = a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    a.len() == b.len() && differences == 0
}

/// Checks a request, answers preflights, and adds the headers that every answer has.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let origin = guard.allowed_origin(request.headers());
    let is_interface = ["/tsp/", "/lttv/"].iter().any(|of| request.uri().path().starts_with(of));
    let mut response = if !guard.accepts_host(&request) {
        ApiError::new(StatusCode::FORBIDDEN, "This host name is not served").into_response()
    } else if origin.is_none() {
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
        if let Some(origin) = origin {
            if origin != "*" {
                headers.insert(header::VARY, HeaderValue::from_static("origin, accept-encoding"));
            }
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
    }
    response
}
