//! The page at `/`: files that are part of the program.
//!
//! To add a file, put it into the folder `page`, and add a line to [`FILES`]. Paths are those
//! of the files below `page`; `index.html` is also served at `/`.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

/// The content security policy of the page: everything comes from this server, nothing is
/// inline, and no other page may embed it.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'";

/// A file of the page.
#[derive(Debug, Clone, Copy)]
pub struct PageFile {
    /// The path below `page`, which is also that of the URL.
    pub path: &'static str,
    /// The content.
    pub content: &'static [u8],
}

/// Lists files of the folder `page`.
macro_rules! files {
    ($($path:literal,)*) => {
        &[$(PageFile { path: $path, content: include_bytes!(concat!("../../page/", $path)) },)*]
    };
}

/// The files of the page.
pub const FILES: &[PageFile] = files![
    "app.js",
    "data/activity.js",
    "data/client.js",
    "data/facts.js",
    "data/json.js",
    "data/loader.js",
    "data/pack.js",
    "data/protocol.js",
    "data/token.js",
    "data/window_loader.js",
    "data/worker.js",
    "draw/arrows.js",
    "draw/bars.js",
    "draw/colors.js",
    "draw/frames.js",
    "draw/marks.js",
    "draw/palette.js",
    "draw/points.js",
    "draw/signs.js",
    "draw/states.js",
    "draw/surface.js",
    "draw/svg.js",
    "draw/theme.js",
    "draw/tile.js",
    "icon.svg",
    "index.html",
    "input/graph_keys.js",
    "input/keys.js",
    "input/line_scroll.js",
    "input/pointer.js",
    "input/row_scroll.js",
    "main.js",
    "model/columns.js",
    "model/csv.js",
    "model/event_fields.js",
    "model/fuzzy.js",
    "model/graph_rows.js",
    "model/line_pages.js",
    "model/link.js",
    "model/numbers.js",
    "model/overlap.js",
    "model/processes.js",
    "model/range_tables.js",
    "model/row_view.js",
    "model/scale.js",
    "model/shared.js",
    "model/time.js",
    "model/tree.js",
    "model/window.js",
    "model/words.js",
    "style.css",
    "view/axis.js",
    "view/chart.js",
    "view/chooser.js",
    "view/dialogs.js",
    "view/disks.js",
    "view/distribution.js",
    "view/divider.js",
    "view/dom.js",
    "view/download.js",
    "view/events.js",
    "view/figures.js",
    "view/filter_bar.js",
    "view/graph_data.js",
    "view/graph_picture.js",
    "view/graph_tools.js",
    "view/height.js",
    "view/histogram.js",
    "view/inspector.js",
    "view/latencies.js",
    "view/legend.js",
    "view/overview.js",
    "view/panel.js",
    "view/range_panel.js",
    "view/rows.js",
    "view/scatter.js",
    "view/series_panel.js",
    "view/statistics.js",
    "view/status.js",
    "view/time_graph.js",
    "view/tip.js",
    "view/top_bar.js",
    "view/tree_table.js",
    "view/usage.js",
    "view/view_bar.js",
];

impl PageFile {
    /// Finds a file by the path of a URL.
    pub fn find(path: &str) -> Option<&'static PageFile> {
        let path = path.strip_prefix('/').unwrap_or(path);
        let path = if path.is_empty() { "index.html" } else { path };
        FILES.iter().find(|file| file.path == path)
    }

    /// Returns the type of the content.
    pub fn media_type(&self) -> &'static str {
        match self.path.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("js" | "mjs") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            Some("png") => "image/png",
            Some("woff2") => "font/woff2",
            Some("json" | "webmanifest") => "application/json",
            _ => "application/octet-stream",
        }
    }

    /// Creates the answer with the file.
    pub fn answer(&self) -> Response {
        let mut response = Response::new(Body::from(self.content));
        *response.status_mut() = StatusCode::OK;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type()));
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
        response
    }
}
