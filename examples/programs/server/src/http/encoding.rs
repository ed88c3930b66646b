//! Compression of answers.
//!
//! The lowest level of compression costs the server and its clients the least time; the next one takes two thirds
//! more time for answers that are a quarter smaller. Clients of the same machine are no exception: they may be
//! the near end of a tunnel.

use std::fmt;
use std::io::Write;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Body as _;

/// The number of bytes from which answers are compressed.
pub(super) const COMPRESSED: usize = 1024;

/// A compressor, which is given a text part by part.
pub(super) struct Gzip(GzEncoder<Vec<u8>>);

impl fmt::Debug for Gzip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gzip").finish_non_exhaustive()
    }
}

impl Gzip {
    /// Creates a compressor.
    pub(super) fn new() -> Self {
        Gzip(GzEncoder::new(Vec::new(), Compression::fast()))
    }

    /// Compresses a whole text.
    pub(super) fn whole(text: &[u8]) -> Vec<u8> {
        let mut gzip = Gzip::new();
        gzip.add(text);
        gzip.finish()
    }

    /// Adds a part of the text.
    pub(super) fn add(&mut self, text: &[u8]) {
        // Writing to a vector cannot fail.
        _ = self.0.write_all(text);
    }

    /// Takes what is compressed so far, which may be nothing.
    pub(super) fn take(&mut self) -> Vec<u8> {
        // Parts wait for slow clients: without the room that was reserved for more.
        let taken = self.0.get_ref().to_vec();
        self.0.get_mut().clear();
        taken
    }

    /// Ends the text, and takes the rest.
    pub(super) fn finish(self) -> Vec<u8> {
        self.0.finish().unwrap_or_default()
    }
}

/// Returns `true` if a client accepts gzip.
pub(super) fn accepts_gzip(encodings: Option<&HeaderValue>) -> bool {
    let encodings = encodings.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut any = false;
    for encoding in encodings.split(',') {
        let mut parts = encoding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
        let is_wanted = weight.is_none_or(|of| of.trim().parse().is_ok_and(|of: f32| of > 0.0));
        if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") {
            return is_wanted;
        }
        any |= name == "*" && is_wanted;
    }
    any
}

/// Adds the headers of an answer that is compressed, or would be for another client.
pub(super) fn add_headers(headers: &mut HeaderMap, is_compressed: bool) {
    headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_compressed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        headers.remove(header::CONTENT_LENGTH);
    }
}

/// Compresses answers that are whole in memory. Those that are sent part by part already are what the
/// client accepts.
pub(super) async fn compress(request: Request, next: Next) -> Response {
    let is_accepted = accepts_gzip(request.headers().get(header::ACCEPT_ENCODING));
    let response = next.run(request).await;
    let length = response.body().size_hint().exact().and_then(|of| usize::try_from(of).ok());
    let is_encoded = response.headers().contains_key(header::CONTENT_ENCODING);
    let Some(length) = length.filter(|length| *length >= COMPRESSED && !is_encoded) else {
        return response;
    };
    let (mut head, body) = response.into_parts();
    add_headers(&mut head.headers, is_accepted);
    let body = match is_accepted {
        false => body,
        // A body of known length is there at once.
        true => to_bytes(body, length)
            .await
            .map_or_else(|_| Body::empty(), |text| Gzip::whole(&text).into()),
    };
    Response::from_parts(head, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_accepted_as_the_header_says() {
        let accepts = |text| accepts_gzip(Some(&HeaderValue::from_static(text)));
        for text in
            ["gzip", "deflate, gzip;q=0.5", "br, GZIP", "*", "identity;q=0, *;q=0.1", "x-gzip"]
        {
            assert!(accepts(text), "{text}");
        }
        for text in ["", "br", "gzip;q=0", "gzip; q=0.000, *", "*;q=0", "gzipped", "gzip;q=x"] {
            assert!(!accepts(text), "{text}");
        }
        assert!(!accepts_gzip(None));
    }
}
