//! The results of `lttv run --json --types`.

use std::time::Duration;

use ltt_read::Timestamp;
use lttv_context::attributes::{AttributeId, AttributeValue, Attributes, Path};
use serde_json::Value;

/// Reads the attributes that were printed with their kinds.
pub(crate) fn attributes(json: &[u8]) -> Attributes {
    let mut read = Attributes::new();
    add(&mut read, "", &serde_json::from_slice(json).unwrap());
    read
}

/// Returns all attributes below a tree.
pub(crate) fn below(of: &Attributes, tree: AttributeId) -> Vec<AttributeId> {
    let all = of.children(tree).flat_map(|id| [vec![id], below(of, id)].concat());
    all.collect()
}

fn add(to: &mut Attributes, tree: &str, members: &Value) {
    for (name, member) in members.as_object().expect("a tree is an object") {
        let path = format!("{tree}/{name}");
        assert!(path.parse::<Path>().is_ok(), "{path}");
        let (kind, content) = member.as_object().and_then(|of| of.iter().next()).expect("a kind");
        let float = || content.as_f64().or_else(|| content.as_str()?.parse().ok());
        let value: AttributeValue<'_> = match kind.as_str() {
            "tree" => {
                to.subtree_at(&path).unwrap();
                add(to, &path, content);
                continue;
            }
            "bool" => content.as_bool().unwrap().into(),
            "int" => content.as_i64().unwrap().into(),
            "uint" => content.as_u64().unwrap().into(),
            "float" => float().unwrap().into(),
            "time" => Timestamp::from_ns(content.as_i64().unwrap()).into(),
            "duration" => serde_json::from_value::<Duration>(content.clone()).unwrap().into(),
            "text" => content.as_str().unwrap().into(),
            other => panic!("{path} has the kind {other}"),
        };
        to.set_at(&path, value).unwrap();
    }
}
