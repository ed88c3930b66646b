//! Filters lines of a web server's log: `log_filter 'status >= 500 || path =~ "/api/*"'`.

use lttv_filter::{Columns, Expression};

struct Request {
    method: u64,
    path: String,
    status: u16,
    seconds: f64,
    user: Option<String>,
}

fn main() {
    let text = std::env::args().nth(1).unwrap_or("seconds > 0.5 && !exists(user)".to_owned());
    let columns = Columns::new()
        .labels("method", [("GET", 0), ("POST", 1)], |r: &Request| Some(r.method))
        .text("path", |r| Some(&r.path))
        .unsigned("status", |r| Some(r.status.into()))
        .float("seconds", |r| Some(r.seconds))
        .text("user", |r| r.user.as_deref());
    let filter = match Expression::parse(&text).and_then(|it| columns.compile(&it)) {
        Ok(filter) => filter,
        Err(error) => {
            eprint!("{}", error.render(true));
            std::process::exit(2);
        }
    };
    for request in requests().iter().filter(|request| filter.matches(request)) {
        println!("{} {} {} s", request.status, request.path, request.seconds);
    }
}

/// Returns sample requests, in place of a log file.
fn requests() -> Vec<Request> {
    let request = |method, path: &str, status, seconds, user: Option<&str>| Request {
        method,
        path: path.to_owned(),
        status,
        seconds,
        user: user.map(str::to_owned),
    };
    vec![
        request(0, "/", 200, 0.012, None),
        request(0, "/api/traces", 200, 0.731, Some("ada")),
        request(1, "/api/traces", 500, 1.904, None),
        request(0, "/favicon.ico", 404, 0.003, None),
    ]
}
