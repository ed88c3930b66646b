//! Filters lines of a web server's log: `log_filter 'status >= 500 || path =~ "/api/*"'`.

use lttv_filter::{Columns, Expression};

struct Request {
    method: u64,
    path: &'static str,
    status: u16,
    seconds: f64,
    user: Option<&'static str>,
}

/// Sample requests, in place of a log file.
const REQUESTS: [Request; 4] = [
    Request { method: 0, path: "/", status: 200, seconds: 0.012, user: None },
    Request { method: 0, path: "/api/traces", status: 200, seconds: 0.731, user: Some("ada") },
    Request { method: 1, path: "/api/traces", status: 500, seconds: 1.904, user: None },
    Request { method: 0, path: "/favicon.ico", status: 404, seconds: 0.003, user: None },
];

fn main() {
    let text = std::env::args().nth(1).unwrap_or("seconds > 0.5 && !exists(user)".to_owned());
    let columns = Columns::new()
        .labels("method", [("GET", 0), ("POST", 1)], |r: &Request| Some(r.method))
        .text("path", |r| Some(r.path))
        .unsigned("status", |r| Some(r.status.into()))
        .float("seconds", |r| Some(r.seconds))
        .text("user", |r| r.user);
    let filter = Expression::parse(&text).and_then(|it| columns.compile(&it));
    let filter = filter.unwrap_or_else(|error| {
        eprint!("{}", error.render(true));
        std::process::exit(2)
    });
    for request in REQUESTS.iter().filter(|request| filter.matches(request)) {
        println!("{} {} {} s", request.status, request.path, request.seconds);
    }
}
