//! The colours of states.

use std::collections::BTreeMap;

use lttv_common::paint::Paint;
use lttv_common::settings::color_of;

use super::super::work::Work;
use super::super::xy;
use crate::dataset::{LOST, RECORDED};
use crate::error::Result;
use crate::protocol::models::{Style, StyleValue};

/// The keys of the styles of values, which have no colours of their own.
const VALUES: [(&str, &str); 8] = [
    ("value 1", "#4e79a7"),
    ("value 2", "#f28e2b"),
    ("value 3", "#59a14f"),
    ("value 4", "#b07aa1"),
    ("value 5", "#76b7b2"),
    ("value 6", "#edc948"),
    ("value 7", "#9c755f"),
    ("value 8", "#bab0ac"),
];

/// The styles of tracefiles, whose keys are their values.
const RECORDING: [(&str, &str); 2] = [(RECORDED, "#7fa3c0"), (LOST, "#d64545")];

/// The key of the style of arrows.
pub(in super::super) const ARROW: &str = "arrow";

/// Returns the key of the style of a state.
pub(in super::super) fn key(paint: Paint) -> &'static str {
    paint.label()
}

/// Returns the key of the style of a value: equal values have equal styles.
pub(super) fn of_value(text: &str) -> &'static str {
    if let Some((key, _)) = RECORDING.iter().find(|(key, _)| *key == text) {
        return key;
    }
    let hash =
        text.bytes().fold(5381u32, |hash, byte| hash.wrapping_mul(33).wrapping_add(byte.into()));
    VALUES[(hash ^ (hash >> 15)) as usize % VALUES.len()].0
}

/// Answers the styles of states, values and arrows.
pub(in super::super) fn answer(work: &mut Work<'_>) -> Result {
    let paints = Paint::ALL.iter().map(|paint| {
        let height = if paint.is_active() { 1.0 } else { 0.5 };
        (key(*paint), state(paint.label(), &color_of(*paint).to_string(), height))
    });
    let values = VALUES.iter().chain(&RECORDING).map(|(key, color)| (*key, state(key, color, 1.0)));
    work.json(&xy::styles(paints.chain(values).chain([(ARROW, arrow())])))
}

fn state(name: &str, color: &str, height: f64) -> Style {
    let text = |text: &str| StyleValue::Text(text.to_owned());
    Style {
        values: BTreeMap::from([
            ("style-name", text(name)),
            ("background-color", text(color)),
            ("color", text(color)),
            ("height", StyleValue::Number(height)),
            ("opacity", StyleValue::Number(1.0)),
        ]),
    }
}

fn arrow() -> Style {
    let text = |text: &str| StyleValue::Text(text.to_owned());
    Style {
        values: BTreeMap::from([
            ("style-name", text("Next on the CPU")),
            ("color", text("#7f7f7f")),
            ("background-color", text("#7f7f7f")),
            ("width", StyleValue::Number(1.0)),
        ]),
    }
}
