//! The interface: paths, checks and answers.
//!
//! | module | purpose |
//! |---|---|
//! | [`guard`] | host, origin and token of requests; headers of answers |
//! | [`management`] | traces, experiments and bookmarks |
//! | [`data`] | the data of outputs |
//! | [`page`] | the files of the page at `/` |
//! | [`stream`] | answers that are computed on threads, and sent meanwhile |
//! | [`serve`] | serving connections, with their limits |
//! | `connections` | the open connections, and which is closed first |
//! | `slow` | answers that wait for slow clients |
//! | `kept` | answers that are kept for equal requests |
//! | `body` | the bodies of requests |
//! | `encoding` | which answers are compressed, and how |

mod body;
mod connections;
pub mod data;
mod encoding;
mod error;
pub mod guard;
mod json;
mod kept;
mod lttv;
pub mod management;
pub mod page;
pub mod serve;
mod slow;
pub mod stream;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};

pub use error::ApiError;

use self::body::Room;
use self::guard::Guard;
use self::kept::Kept;
use self::page::PageFile;
use self::stream::Workers;
use crate::workspace::Workspace;

/// The number of answers that are computed at the same time.
const WORKERS: usize = 64;

/// The objects that all handlers share.
#[derive(Debug)]
pub struct Server {
    /// The traces and experiments.
    pub workspace: Arc<Workspace>,
    /// The threads that compute answers.
    pub workers: Workers,
    room: Room,
    kept: Kept,
}

impl Server {
    /// Creates a server for a workspace.
    pub fn new(workspace: Arc<Workspace>) -> Arc<Self> {
        let (workers, room, kept) = (Workers::new(WORKERS), Room::default(), Kept::default());
        Arc::new(Server { workspace, workers, room, kept })
    }
}

/// Returns the service of all paths.
pub fn router(server: Arc<Server>, guard: Guard) -> Router {
    Router::new()
        .nest("/tsp/api", interface())
        .route("/lttv/experiments/{experiment}/filter", post(lttv::check_filter))
        .route("/lttv/experiments/{experiment}/spans", post(lttv::spans))
        .route("/lttv/experiments/{experiment}/activity", post(lttv::activity))
        .fallback(page_file)
        .with_state(server)
        .layer(middleware::from_fn(encoding::compress))
        .layer(middleware::map_response(kept::keep))
        .layer(middleware::from_fn_with_state(Arc::new(guard), guard::check))
}

/// Returns the paths of the protocol.
fn interface() -> Router<Arc<Server>> {
    use management as m;
    let outputs = "/experiments/{experiment}/outputs";
    let at = |path: &str| format!("{outputs}{path}");
    Router::new()
        .route("/health", get(m::health))
        .route("/identifier", get(m::identifier))
        .route("/traces", get(m::traces).post(m::open_trace))
        .route("/traces/{trace}", get(m::trace).delete(m::close_trace))
        .route("/experiments", get(m::experiments).post(m::create_experiment))
        .route("/experiments/{experiment}", get(m::experiment).delete(m::remove_experiment))
        .route("/experiments/{experiment}/bookmarks", get(m::bookmarks).post(m::add_bookmark))
        .route(
            "/experiments/{experiment}/bookmarks/{bookmark}",
            get(m::bookmark).put(m::change_bookmark).delete(m::remove_bookmark),
        )
        .route("/config/types", get(m::configuration_types))
        .route("/config/types/{type}", get(m::no_configuration).post(m::no_configuration))
        .route("/config/types/{type}/configs", get(m::no_configuration).post(m::no_configuration))
        .route(
            "/config/types/{type}/configs/{config}",
            get(m::no_configuration).put(m::no_configuration).delete(m::no_configuration),
        )
        .route(outputs, get(data::outputs))
        .route(&at("/markerSets"), get(data::marker_sets))
        .route(&at("/{output}"), get(data::output).post(data::no_derived))
        .route(&at("/{output}/configTypes"), get(data::configuration_types))
        .route(&at("/{output}/configTypes/{type}"), get(data::no_configuration))
        .route(&at("/{output}/annotations"), get(data::categories).post(data::annotations))
        .route(&at("/{output}/style"), post(data::style))
        .route(&at("/{kind}/{output}/tree"), post(data::tree))
        .route(&at("/timeGraph/{output}/states"), post(data::states))
        .route(&at("/timeGraph/{output}/arrows"), post(data::arrows))
        .route(&at("/timeGraph/{output}/tooltip"), post(data::tooltip))
        .route(&at("/XY/{output}/xy"), post(data::xy))
        .route(&at("/genericXY/{output}/xy"), post(data::generic_xy))
        .route(&at("/table/{output}/columns"), post(data::columns))
        .route(&at("/table/{output}/lines"), post(data::lines))
        .route(&at("/{output}/{derived}"), delete(data::no_derived))
        .fallback(no_path)
        .method_not_allowed_fallback(no_method)
}

async fn no_path() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "No such path")
}

async fn no_method() -> ApiError {
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "This method has no meaning here")
}

async fn page_file(method: axum::http::Method, uri: axum::http::Uri) -> Response {
    match PageFile::find(uri.path()) {
        Some(file) if method == "GET" || method == "HEAD" => file.answer(),
        Some(_) => no_method().await.into_response(),
        None => no_path().await.into_response(),
    }
}
