//! The data of outputs.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::body::Body;
use super::connections::Client;
use super::error::ApiError;
use super::stream::AnswerForm;
use super::{Server, json as answers};
use crate::dataset::Dataset;
use crate::error::OutputError;
use crate::outputs::work::Work;
use crate::outputs::{self, Output};
use crate::protocol::models::Answer as Model;
use crate::protocol::parameters::Parameters;

type Shared = State<Arc<Server>>;
type Answer = Result<Response, ApiError>;
type OfOutput = Path<(String, String)>;

/// The method of an output that computes an answer.
type Compute = fn(&dyn Output, &Dataset, &Parameters, &mut Work<'_>) -> Result<(), OutputError>;

fn dataset(server: &Server, experiment: &str) -> Result<Arc<Dataset>, ApiError> {
    Ok(Arc::clone(&server.workspace.experiment(experiment)?.dataset))
}

fn no_output() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "Data provider doesn't exist")
}

pub(super) async fn outputs(State(server): Shared, Path(experiment): Path<String>) -> Answer {
    let dataset = dataset(&server, &experiment)?;
    let all: Vec<_> = outputs::of(&dataset).map(|output| output.description()).collect();
    Ok(answers::ok(&all))
}

pub(super) async fn output(State(server): Shared, Path((experiment, output)): OfOutput) -> Answer {
    let dataset = dataset(&server, &experiment)?;
    let output = outputs::find(&dataset, &output).ok_or_else(no_output)?;
    Ok(answers::ok(&output.description()))
}

pub(super) async fn marker_sets(State(server): Shared, Path(experiment): Path<String>) -> Answer {
    dataset(&server, &experiment)?;
    Ok(answers::ok(&Model::complete(json!([]))))
}

pub(super) async fn configuration_types(
    State(server): Shared,
    Path((experiment, output)): OfOutput,
) -> Answer {
    let dataset = dataset(&server, &experiment)?;
    outputs::find(&dataset, &output).ok_or_else(no_output)?;
    Ok(answers::ok(&json!([])))
}

pub(super) async fn no_configuration() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "No such configuration")
}

/// Answers requests for outputs that are derived from others: there are none.
pub(super) async fn no_derived(
    State(server): Shared,
    Path(path): Path<HashMap<String, String>>,
) -> Answer {
    let part = |name: &str| path.get(name).map_or("", String::as_str);
    let dataset = dataset(&server, part("experiment"))?;
    outputs::find(&dataset, part("output")).ok_or_else(no_output)?;
    Err(ApiError::new(StatusCode::BAD_REQUEST, "No output can be derived from this one"))
}

/// Computes an answer of an output on a thread.
async fn compute(
    server: &Server,
    experiment: &str,
    output: &str,
    (client, mut parameters): (Client, Body),
    run: Compute,
) -> Answer {
    let dataset = dataset(server, experiment)?;
    let output = outputs::find(&dataset, output).ok_or(OutputError::NotOffered)?;
    let source: Arc<dyn Any + Send + Sync> = Arc::clone(&dataset) as _;
    let question = parameters.take_question();
    if let Some(answer) = question.as_ref().and_then(|of| server.kept.find(&source, of)) {
        return Ok(answer);
    }
    let form = AnswerForm {
        samples: parameters.sample_count(),
        is_compressed: parameters.accepts_gzip(),
        ..AnswerForm::default()
    };
    let answer =
        server.workers.answer(client, form, move |work| run(output, &dataset, &parameters, work));
    let mut answer = answer.await;
    if let Some(question) = question {
        server.kept.mark(&source, question, &mut answer);
    }
    Ok(answer)
}

/// Defines handlers that call a method of an output.
macro_rules! handlers {
    ($($name:ident $method:ident,)*) => {$(
        pub(super) async fn $name(
            State(server): Shared,
            Path((experiment, output)): OfOutput,
            client: Client,
            parameters: Body,
        ) -> Answer {
            compute(&server, &experiment, &output, (client, parameters), |output, dataset, parameters, work| {
                output.$method(dataset, parameters, work)
            })
            .await
        }
    )*};
}

handlers! {
    states states,
    arrows arrows,
    tooltip tooltip,
    xy xy,
    generic_xy generic_xy,
    columns columns,
    lines lines,
    style style,
    annotations annotations,
}

pub(super) async fn tree(
    State(server): Shared,
    Path((experiment, kind, output)): Path<(String, String, String)>,
    client: Client,
    parameters: Body,
) -> Answer {
    if !["timeGraph", "XY", "genericXY", "data"].contains(&kind.as_str()) {
        return Err(ApiError::new(StatusCode::NOT_FOUND, "No such path"));
    }
    let run: Compute = |output, dataset, parameters, work| output.tree(dataset, parameters, work);
    compute(&server, &experiment, &output, (client, parameters), run).await
}

pub(super) async fn categories(
    State(server): Shared,
    Path((experiment, output)): OfOutput,
    Query(_): Query<HashMap<String, String>>,
    client: Client,
) -> Answer {
    let run: Compute = |output, dataset, _, work| output.annotation_categories(dataset, work);
    compute(&server, &experiment, &output, (client, Body::default()), run).await
}
