//! The user attributes that this reader interprets: log level and model URI of an event
//! record class, as Babeltrace and LTTng write them.

use std::sync::Arc;

use super::json::Node;
use crate::metadata::Diagnostic;
use crate::schema::LogLevel;

/// The namespaces that contain the attributes.
const NAMESPACES: [&str; 2] = ["lttng.org,2009", "babeltrace.org,2020"];

/// Returns the log level in the attributes of an event record class. An unknown value is
/// only a warning, since attributes are free-form.
pub(super) fn log_level(attributes: Node<'_>, warnings: &mut Vec<Diagnostic>) -> Option<i64> {
    let node = find(attributes, "log-level")?;
    let level = node.as_str().and_then(|name| {
        let same = |level: &LogLevel| level.name.replace(':', "-") == name.replace(':', "-");
        LogLevel::ALL.iter().position(same)
    });
    if level.is_none() {
        let message = node.unexpected("the name of a log level").message;
        warnings.push(Diagnostic::warning(node.span(), format!("attribute ignored: {message}")));
    }
    level.map(|n| n as i64)
}

/// Returns the model URI in the attributes of an event record class.
pub(super) fn emf_uri(attributes: Node<'_>) -> Option<Arc<str>> {
    find(attributes, "emf-uri")?.as_str().map(Into::into)
}

fn find<'a>(attributes: Node<'a>, name: &str) -> Option<Node<'a>> {
    NAMESPACES.iter().find_map(|namespace| attributes.peek(namespace)?.peek(name))
}
