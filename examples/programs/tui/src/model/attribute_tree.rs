//! A tree of attributes with nodes that can be expanded, and the values of the selected one.

use std::cmp::{Ordering, Reverse};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use lttv_context::attributes::{AttributeId, AttributeValue, Attributes, Name, Path};

use super::natural_order;
use crate::time_text::{bytes, length, seconds};

/// A tree of attributes, of which the nodes that contain others are visible as rows.
///
/// Nodes are identified by path: what is expanded and selected stays so when the attributes
/// are replaced by newer ones.
///
/// ```
/// use std::sync::Arc;
/// use lttv_context::attributes::Attributes;
/// use lttv_tui::model::attribute_tree::AttributeTree;
///
/// let mut attributes = Attributes::new();
/// attributes.set_at("cpu/[1]/events", 7_u64)?;
/// let mut tree = AttributeTree::new("all");
/// tree.set(Arc::new(attributes));
/// assert_eq!(tree.rows().len(), 2); // the root and `cpu`
/// tree.select(1);
/// tree.toggle();
/// tree.select(2);
/// assert_eq!(tree.values()[0].text, "7");
/// # Ok::<(), lttv_context::attributes::AttributeError>(())
/// ```
#[derive(Debug)]
pub struct AttributeTree {
    /// The label of the root.
    root: String,
    attributes: Arc<Attributes>,
    expanded: HashSet<Path>,
    rows: Vec<TreeRow>,
    /// The index of the selected row.
    selected: usize,
    /// The path of the node that the user has selected. While there is no such row, the nearest
    /// one above it is selected.
    wanted: Path,
    /// The values of the selected row.
    values: Vec<ValueRow>,
}

/// A visible node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeRow {
    /// The path of the node.
    pub path: Path,
    /// The text of the row.
    pub label: String,
    /// The number of nodes above it.
    pub depth: usize,
    /// `Some(true)` if the nodes below it are visible; `None` if there are none.
    pub is_expanded: Option<bool>,
    id: AttributeId,
}

/// A value of the selected node, or the name of a group of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueRow {
    /// The name of the value.
    pub name: String,
    /// The value with a suitable unit; empty for the name of a group.
    pub text: String,
    /// The exact value if `text` is rounded, or the share of an event type in all events.
    pub detail: String,
    /// `true` if the row is the name of a group.
    pub is_group: bool,
}

impl AttributeTree {
    /// Creates a tree without attributes, with an expanded root of this label.
    pub fn new(root: &str) -> Self {
        AttributeTree {
            root: root.to_owned(),
            attributes: Arc::default(),
            expanded: HashSet::from([Path::default()]),
            rows: Vec::new(),
            selected: 0,
            wanted: Path::default(),
            values: Vec::new(),
        }
    }

    /// Replaces the attributes. The selected node stays selected if it still exists; otherwise
    /// it is selected again once it exists.
    pub fn set(&mut self, attributes: Arc<Attributes>) {
        self.attributes = attributes;
        self.arrange();
    }

    /// Returns the visible nodes.
    pub fn rows(&self) -> &[TreeRow] {
        &self.rows
    }

    /// Returns the index of the selected row.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Returns the values of the selected node: first its own, then those of nodes below it
    /// that contain only values, such as the numbers of events by type. If it has none, these
    /// are the CPU times and numbers of events of the nodes in it.
    pub fn values(&self) -> &[ValueRow] {
        &self.values
    }

    /// Selects a row, or the last one if there are fewer.
    pub fn select(&mut self, row: usize) {
        let row = row.min(self.rows.len().saturating_sub(1));
        self.want(row);
        if row != self.selected {
            self.selected = row;
            self.values = self.values_of_selected();
        }
    }

    /// Selects the node that contains the selected one.
    pub fn select_parent(&mut self) {
        let Some(row) = self.rows.get(self.selected) else { return };
        let depth = row.depth;
        let above = self.rows[..self.selected].iter().rposition(|above| above.depth < depth);
        self.select(above.unwrap_or(0));
    }

    /// Expands a node, without selecting it.
    pub fn expand(&mut self, path: Path) {
        if self.expanded.insert(path) {
            self.arrange();
        }
    }

    /// Takes note that the user has selected a row.
    fn want(&mut self, row: usize) {
        if let Some(row) = self.rows.get(row) {
            self.wanted.clone_from(&row.path);
        }
    }

    /// Expands the selected node, or collapses it.
    pub fn toggle(&mut self) {
        self.want(self.selected);
        let Some(row) = self.rows.get(self.selected) else { return };
        match row.is_expanded {
            None => return,
            Some(true) => _ = self.expanded.remove(&row.path),
            Some(false) => _ = self.expanded.insert(row.path.clone()),
        }
        self.arrange();
    }

    /// Expands the selected node and all nodes below it, or collapses all of them if they are
    /// expanded.
    pub fn toggle_all(&mut self) {
        self.want(self.selected);
        let Some(row) = self.rows.get(self.selected) else { return };
        let (mut below, mut todo) = (Vec::new(), vec![(row.id, row.path.clone())]);
        while let Some((id, path)) = todo.pop() {
            let nodes: Vec<_> = self.nodes(id).collect();
            if nodes.is_empty() {
                continue;
            }
            for (name, node) in nodes {
                let mut path = path.clone();
                path.push(name);
                todo.push((node, path));
            }
            below.push(path);
        }
        if below.iter().all(|path| self.expanded.contains(path)) {
            below.iter().for_each(|path| _ = self.expanded.remove(path));
        } else {
            self.expanded.extend(below);
        }
        self.arrange();
    }

    /// Iterates over the nodes in a node, with their names.
    fn nodes(&self, of: AttributeId) -> impl Iterator<Item = (Name<'_>, AttributeId)> {
        let all = self.attributes.children(of).filter(|id| self.attributes.value(*id).is_none());
        all.filter_map(|id| Some((self.attributes.name(id)?, id)))
    }

    /// Returns `true` if a node contains other nodes.
    fn has_nodes(&self, id: AttributeId) -> bool {
        self.nodes(id).next().is_some()
    }

    /// Determines the visible rows and the values of the selected one again.
    fn arrange(&mut self) {
        let mut rows = Vec::new();
        let mut todo = vec![(AttributeId::ROOT, Path::default(), 0, self.root.clone())];
        while let Some((id, path, depth, label)) = todo.pop() {
            let mut nodes: Vec<_> = self.nodes(id).collect();
            let is_expanded = (!nodes.is_empty()).then(|| self.expanded.contains(&path));
            if is_expanded == Some(true) {
                nodes.sort_by(|a, b| compare(b.0, a.0));
                todo.extend(nodes.into_iter().map(|(name, node)| {
                    let mut path = path.clone();
                    path.push(name);
                    (node, path, depth + 1, self.label(name, node))
                }));
            }
            rows.push(TreeRow { path, label, depth, is_expanded, id });
        }
        self.rows = rows;
        // If the node has gone, the nearest one above it is selected.
        let mut path = self.wanted.clone();
        let at = loop {
            match self.rows.iter().position(|row| row.path == path) {
                Some(at) => break at,
                None if path.pop() => {}
                None => break 0,
            }
        };
        self.selected = at;
        self.values = self.values_of_selected();
    }

    /// Returns the label of a node: its name, and the name that it has as a value.
    fn label(&self, name: Name<'_>, node: AttributeId) -> String {
        let own = self.attributes.child(node, "name").and_then(|id| self.attributes.value(id));
        match own {
            Some(AttributeValue::Text(text)) if !text.is_empty() => {
                format!("{} {text}", plain(name))
            }
            _ => plain(name),
        }
    }

    fn values_of_selected(&self) -> Vec<ValueRow> {
        let Some(row) = self.rows.get(self.selected) else { return Vec::new() };
        let mut values = self.group(row.id);
        if values.is_empty() {
            return self.overview(row.id);
        }
        let mut groups: Vec<_> = self.nodes(row.id).collect();
        groups.retain(|(_, id)| !self.has_nodes(*id));
        groups.sort_by(|a, b| compare(a.0, b.0));
        for (name, id) in groups {
            let [text, detail] = [(); 2].map(|()| String::new());
            values.push(ValueRow { name: plain(name), text, detail, is_group: true });
            values.extend(self.group(id));
        }
        values
    }

    /// Returns the CPU time and the number of events of each node in a node, sorted by time.
    fn overview(&self, of: AttributeId) -> Vec<ValueRow> {
        let mut nodes: Vec<_> = self.nodes(of).collect();
        nodes.sort_by(|a, b| compare(a.0, b.0));
        nodes.sort_by_key(|(_, node)| {
            let time = self.attributes.child(*node, "cpu time");
            Reverse(match time.and_then(|id| self.attributes.value(id)) {
                Some(AttributeValue::Duration(time)) => *time,
                _ => Duration::ZERO,
            })
        });
        let row = |(name, node): (Name<'_>, AttributeId)| {
            let value = |name: &str| self.attributes.value(self.attributes.child(node, name)?);
            ValueRow {
                name: self.label(name, node),
                text: value("cpu time").map_or_else(String::new, |time| readable("", time).0),
                detail: value("events count").map_or_else(String::new, |n| format!("{n} events")),
                is_group: false,
            }
        };
        nodes.into_iter().map(row).collect()
    }

    /// Returns the values in a node. Numbers of events by type are sorted by size.
    fn group(&self, of: AttributeId) -> Vec<ValueRow> {
        let children = self.attributes.children(of);
        let named = children
            .filter_map(|id| Some((plain(self.attributes.name(id)?), self.attributes.value(id)?)));
        let mut values: Vec<_> = named.collect();
        let is_of_types = self.attributes.name(of) == Some(Name::Text(EVENT_TYPES));
        if is_of_types {
            values.sort_by(|a, b| (Reverse(count(a.1)), &a.0).cmp(&(Reverse(count(b.1)), &b.0)));
        }
        let total = values.iter().fold(0_u64, |sum, (_, value)| sum.saturating_add(count(value)));
        let row = |(name, value): (String, &AttributeValue<'_>)| {
            let (text, mut detail) = readable(&name, value);
            if is_of_types && total > 0 {
                detail = format!("{:.2} %", count(value) as f64 * 100.0 / total as f64);
            }
            ValueRow { name, text, detail, is_group: false }
        };
        values.into_iter().map(row).collect()
    }
}

/// The name of nodes that contain the number of events of each type.
const EVENT_TYPES: &str = "event_types";

/// Returns a count; 0 for other values.
fn count(value: &AttributeValue<'_>) -> u64 {
    if let AttributeValue::UInt(count) = value { *count } else { 0 }
}

/// Returns a name as text: a number without brackets.
fn plain(name: Name<'_>) -> String {
    match name {
        Name::Index(index) => index.to_string(),
        Name::Text("") => "\"\"".to_owned(),
        Name::Text(text) => text.to_owned(),
    }
}

/// Compares names: see [`natural_order`].
fn compare(a: Name<'_>, b: Name<'_>) -> Ordering {
    natural_order::compare(&plain(a), &plain(b))
}

/// Returns a value with a suitable unit, and its exact value if that is rounded.
fn readable(name: &str, value: &AttributeValue<'_>) -> (String, String) {
    match value {
        AttributeValue::Duration(time) => {
            let ns = time.as_nanos();
            let detail = format!("{ns} ns");
            (u64::try_from(ns).map_or_else(|_| detail.clone(), length), detail)
        }
        AttributeValue::Time(time) => (seconds(*time), String::new()),
        AttributeValue::UInt(number) if name.contains("bytes") => {
            (bytes(*number), format!("{number} bytes"))
        }
        AttributeValue::Float(number) => (format!("{number:.2}"), format!("{number}")),
        AttributeValue::Text(text) => (text.to_string(), String::new()),
        other => (other.to_string(), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(events: u64, processes: &[&str]) -> Arc<Attributes> {
        let mut all = Attributes::new();
        for process in processes {
            let at = all.subtree_at(&format!("processes/{process}")).unwrap();
            all.set(at, "cpu time", Duration::from_micros(1500)).unwrap();
            all.set(at, "bytes read", 2048_u64).unwrap();
            let cpu = all.subtree(at, "cpu").unwrap();
            let cpu = all.subtree(cpu, 0).unwrap();
            all.set(cpu, "events count", events).unwrap();
            let types = all.subtree(at, "event_types").unwrap();
            all.set(types, "sched_switch", events).unwrap();
            all.set(types, "irq_entry", 3 * events).unwrap();
        }
        Arc::new(all)
    }

    fn labels(tree: &AttributeTree) -> Vec<String> {
        let sign = |row: &TreeRow| row.is_expanded.map_or(' ', |is| if is { '-' } else { '+' });
        let label = |row: &TreeRow| format!("{:1$}{2} {3}", "", row.depth, sign(row), row.label);
        tree.rows().iter().map(label).collect()
    }

    #[test]
    fn nodes_are_expanded_and_collapsed() {
        let mut tree = AttributeTree::new("all");
        tree.set(attributes(1, &["10-b", "9-a", "none"]));
        assert_eq!(labels(&tree), ["- all", " + processes"]);
        tree.select(1);
        tree.toggle();
        // By number, not by text.
        let below = ["  + 9-a", "  + 10-b", "  + none"];
        assert_eq!(labels(&tree)[2..], below);
        tree.select(2);
        tree.toggle_all();
        let below = ["  - 9-a", "   - cpu", "      0", "     event_types", "  + 10-b"];
        assert_eq!(labels(&tree)[2..7], below);
        tree.toggle_all();
        assert_eq!(labels(&tree)[2..4], ["  + 9-a", "  + 10-b"]);
        tree.select_parent();
        assert_eq!(tree.rows()[tree.selected()].label, "processes");
    }

    #[test]
    fn values_have_units() {
        let mut tree = AttributeTree::new("all");
        tree.set(attributes(25, &["9-a"]));
        tree.toggle_all();
        tree.select(2);
        let values: Vec<_> =
            tree.values().iter().map(|row| [&*row.name, &row.text, &row.detail]).collect();
        let expected = [
            ["cpu time", "1.5 ms", "1500000 ns"],
            ["bytes read", "2.048 kB", "2048 bytes"],
            ["event_types", "", ""],
            ["irq_entry", "75", "75.00 %"],
            ["sched_switch", "25", "25.00 %"],
        ];
        assert_eq!(values, expected);
    }

    #[test]
    fn the_selection_stays_while_numbers_grow() {
        let mut tree = AttributeTree::new("all");
        tree.set(attributes(1, &["5-x", "9-a"]));
        tree.toggle_all();
        let at = tree.rows().iter().position(|row| row.label == "9-a").unwrap();
        tree.select(at);
        tree.set(attributes(2, &["1-new", "5-x", "9-a"]));
        assert_eq!(tree.rows()[tree.selected()].label, "9-a");
        assert_eq!(tree.values().last().unwrap().text, "2");
        // If the node has gone, the one above it is selected.
        tree.set(attributes(2, &["1-new"]));
        assert_eq!(tree.rows()[tree.selected()].label, "processes");
        // It is selected again when it is back, unless the user has moved.
        tree.set(attributes(3, &["5-x", "9-a"]));
        assert_eq!(tree.rows()[tree.selected()].label, "9-a");
        tree.set(attributes(2, &["1-new"]));
        tree.select(tree.selected());
        tree.set(attributes(3, &["5-x", "9-a"]));
        assert_eq!(tree.rows()[tree.selected()].label, "processes");
    }
}
