//! Flame graphs in the format of speedscope, a viewer for browsers.

use std::io::{self, Write};

use lttv_state::flame_graph::FlameGraph;
use lttv_state::stack_samples::WeightUnit;
use serde_json::json;

/// Writes a graph as a profile of samples: each path with a weight of its own is one.
pub(super) fn write(out: &mut impl Write, graph: &FlameGraph, title: &str) -> io::Result<()> {
    let mut frames = Vec::new();
    let mut numbers = std::collections::HashMap::new();
    // A path has a greater number than that of its caller.
    let mut of_nodes: Vec<usize> = Vec::with_capacity(graph.nodes().len());
    for node in graph.nodes() {
        of_nodes.push(*numbers.entry(node.name.clone()).or_insert_with(|| {
            frames.push(json!({ "name": &*node.name }));
            frames.len() - 1
        }));
    }
    let (mut samples, mut weights) = (Vec::new(), Vec::new());
    for (number, node) in graph.nodes().iter().enumerate().filter(|(_, node)| node.own > 0) {
        let mut stack = Vec::with_capacity(node.depth);
        let mut at = number;
        while let Some(parent) = graph.node(at).parent {
            stack.push(of_nodes[at]);
            at = parent;
        }
        stack.reverse();
        samples.push(stack);
        weights.push(node.own);
    }
    let unit = match graph.unit() {
        WeightUnit::Nanoseconds => "nanoseconds",
        _ => "none",
    };
    let profile = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": concat!("lttv ", env!("CARGO_PKG_VERSION")),
        "name": title,
        "activeProfileIndex": 0,
        "shared": { "frames": frames },
        "profiles": [{
            "type": "sampled",
            "name": title,
            "unit": unit,
            "startValue": 0,
            "endValue": graph.node(0).total,
            "samples": samples,
            "weights": weights,
        }],
    });
    serde_json::to_writer(&mut *out, &profile)?;
    writeln!(out)
}
