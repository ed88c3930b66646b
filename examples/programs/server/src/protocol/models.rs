//! The models of answers. Optional members are absent when they have no value.

use std::collections::BTreeMap;

use serde::Serialize;

/// An answer with data: its model, and how far it is computed.
#[derive(Debug, Clone, Serialize)]
pub struct Answer<T> {
    /// The data, if there are any yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<T>,
    /// The progress.
    pub status: Status,
    /// The progress, for users.
    #[serde(rename = "statusMessage")]
    pub message: &'static str,
}

impl<T> Answer<T> {
    /// Creates an answer that is complete.
    pub fn complete(model: T) -> Self {
        Answer { model: Some(model), status: Status::Completed, message: "Completed" }
    }

    /// Creates an answer that is computed from data that are complete or not.
    pub fn of(model: T, is_complete: bool) -> Self {
        if is_complete { Answer::complete(model) } else { Answer::running(Some(model)) }
    }

    /// Creates an answer that is being computed.
    pub fn running(model: Option<T>) -> Self {
        Answer { model, status: Status::Running, message: "Running" }
    }
}

/// The progress of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// The answer is being computed.
    Running,
    /// The answer will not change.
    Completed,
    /// The answer could not be computed.
    Failed,
}

/// The progress of indexing a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Indexing {
    /// The trace is being read.
    Running,
    /// All events are counted.
    Completed,
    /// The trace is in no experiment.
    Closed,
}

/// A trace.
#[derive(Debug, Clone, Serialize)]
pub struct Trace {
    /// The name-based id.
    #[serde(rename = "UUID")]
    pub uuid: String,
    /// The name, chosen by the client.
    pub name: String,
    /// The path on the server, as the client named it.
    pub path: String,
    /// The time of the first event, in ns.
    pub start: i64,
    /// The time of the last event, in ns.
    pub end: i64,
    /// The number of events so far.
    #[serde(rename = "nbEvents")]
    pub events: u64,
    /// The progress of counting.
    #[serde(rename = "indexingStatus")]
    pub indexing: Indexing,
    /// Properties of the trace and its machine.
    pub properties: BTreeMap<String, String>,
}

/// An experiment.
#[derive(Debug, Clone, Serialize)]
pub struct Experiment {
    /// The name-based id.
    #[serde(rename = "UUID")]
    pub uuid: String,
    /// The name, chosen by the client.
    pub name: String,
    /// The time of the first event, in ns.
    pub start: i64,
    /// The time of the last event, in ns.
    pub end: i64,
    /// The number of events so far.
    #[serde(rename = "nbEvents")]
    pub events: u64,
    /// The progress of counting.
    #[serde(rename = "indexingStatus")]
    pub indexing: Indexing,
    /// The traces.
    pub traces: Vec<Trace>,
    /// The parts that could not be read, or only in part. The protocol has no such member.
    pub faults: Faults,
}

/// The faults that reading an experiment has met so far.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Faults {
    /// The number of errors: what could not be read is missing in all answers.
    pub errors: u64,
    /// The number of warnings, such as those about losses and clocks that go back.
    pub warnings: u64,
    /// The sum of all losses, and the texts of the first errors and warnings.
    pub texts: Vec<String>,
}

/// The kind of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Kind {
    /// A table.
    Table,
    /// A chart of numbers over time.
    TreeTimeXy,
    /// A chart of numbers over other values than times.
    TreeGenericXy,
    /// A chart of states over time.
    TimeGraph,
    /// A tree of numbers.
    DataTree,
}

/// The description of an output.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct DataProvider {
    /// The id, which occurs in paths.
    pub id: &'static str,
    /// The name, for users.
    pub name: &'static str,
    /// The purpose, for users.
    pub description: &'static str,
    /// The kind.
    #[serde(rename = "type")]
    pub kind: Kind,
}

/// The type of a column or an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DataType {
    /// A number.
    Number,
    /// A number of bytes.
    BinaryNumber,
    /// A time, in ns.
    Timestamp,
    /// A duration, in ns.
    Duration,
    /// A text.
    String,
    /// A start and an end in ns, as in `[5,7]`.
    TimeRange,
}

/// A column of a tree.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Header {
    /// The name.
    pub name: &'static str,
    /// The explanation.
    pub tooltip: &'static str,
    /// The type of its labels.
    #[serde(rename = "dataType", skip_serializing_if = "Option::is_none")]
    pub data_type: Option<DataType>,
}

impl Header {
    /// Creates a column of texts.
    pub const fn text(name: &'static str, tooltip: &'static str) -> Self {
        Header { name, tooltip, data_type: None }
    }

    /// Creates a column of another type.
    pub const fn of(name: &'static str, tooltip: &'static str, of: DataType) -> Self {
        Header { name, tooltip, data_type: Some(of) }
    }
}

/// A tree of entries.
#[derive(Debug, Clone, Serialize)]
pub struct Tree {
    /// The columns.
    pub headers: Vec<Header>,
    /// The entries. A parent comes before its children.
    pub entries: Vec<Entry>,
    /// The number of levels that are expanded first; all without a value.
    #[serde(rename = "autoExpandLevel", skip_serializing_if = "Option::is_none")]
    pub expand: Option<i32>,
}

/// An entry of a tree.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Entry {
    /// The id, which never changes.
    pub id: i64,
    /// The id of the parent, if there is one.
    #[serde(rename = "parentId", skip_serializing_if = "Option::is_none")]
    pub parent: Option<i64>,
    /// The labels, one for each column.
    pub labels: Vec<String>,
    /// Has data to show, besides its children.
    #[serde(rename = "hasData")]
    pub has_data: bool,
    /// The start of its life, in ns, in charts of states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<i64>,
    /// The end of its life, in ns, in charts of states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<i64>,
    /// Is drawn without the user's asking, in charts of numbers.
    #[serde(rename = "isDefault", skip_serializing_if = "Option::is_none")]
    pub is_default: Option<bool>,
    /// Further values, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<&'static str, Vec<MetadataValue>>,
}

/// A further value of an entry.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum MetadataValue {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// The appearance of a state, series or arrow: the key of a style.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct StyleRef<'a> {
    /// The key in the styles of the output.
    #[serde(rename = "parentKey")]
    pub key: &'a str,
    /// Values that differ from the style: none.
    pub values: NoValues,
}

/// An empty map.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct NoValues {}

impl<'a> StyleRef<'a> {
    /// Creates a reference to a style.
    pub fn new(key: &'a str) -> Self {
        StyleRef { key, values: NoValues {} }
    }
}

/// A style.
#[derive(Debug, Clone, Serialize)]
pub struct Style {
    /// Texts and numbers, by their names.
    pub values: BTreeMap<&'static str, StyleValue>,
}

/// A value of a style.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum StyleValue {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

/// A state of an entry. Answers have many of them, which [`write`](Self::write) writes.
#[derive(Debug, Clone)]
pub struct State<'a> {
    /// The start, in ns.
    pub start: i64,
    /// The end, in ns, which does not belong to the state.
    pub end: i64,
    /// The text in the state.
    pub label: Option<&'a str>,
    /// Marks: 1 for dimmed, 4 for excluded states.
    pub tags: u32,
    /// The appearance; none in gaps.
    pub style: Option<StyleRef<'a>>,
}

impl State<'_> {
    /// Adds the state to a text as JSON.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"start":"#);
        add(out, &self.start);
        out.extend_from_slice(br#","end":"#);
        add(out, &self.end);
        if let Some(label) = self.label {
            out.extend_from_slice(br#","label":"#);
            add(out, label);
        }
        if self.tags != 0 {
            out.extend_from_slice(br#","tags":"#);
            add(out, &self.tags);
        }
        if let Some(style) = self.style {
            out.extend_from_slice(br#","style":{"parentKey":"#);
            add(out, style.key);
            out.extend_from_slice(br#","values":{}}"#);
        }
        out.push(b'}');
    }
}

/// Adds a value to a text as JSON.
fn add(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // Adding numbers and texts to a vector cannot fail.
    _ = serde_json::to_writer(out, value);
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// An arrow between two entries.
#[derive(Debug, Clone, Serialize)]
pub struct Arrow {
    /// The entry where it starts.
    #[serde(rename = "sourceId")]
    pub source: i64,
    /// The entry where it ends.
    #[serde(rename = "targetId")]
    pub target: i64,
    /// The start, in ns.
    pub start: i64,
    /// The end, in ns.
    pub end: i64,
    /// The appearance.
    pub style: StyleRef<'static>,
}

/// A marked range of time.
#[derive(Debug, Clone, Serialize)]
pub struct Annotation {
    /// The start, in ns.
    pub time: i64,
    /// The length, in ns.
    pub duration: i64,
    /// The entry, or -1 for all.
    #[serde(rename = "entryId")]
    pub entry: i64,
    /// The place: always `CHART`.
    #[serde(rename = "type")]
    pub place: &'static str,
    /// The text.
    pub label: String,
    /// The appearance.
    pub style: Style,
}

/// The description of an axis.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Axis {
    /// The name, for users.
    pub label: &'static str,
    /// The unit, or an empty text.
    pub unit: &'static str,
    /// The type of its values.
    #[serde(rename = "dataType")]
    pub data_type: DataType,
    /// The range of its values, if it is not that of the request.
    #[serde(rename = "axisDomain", skip_serializing_if = "Option::is_none")]
    pub domain: Option<AxisDomain>,
}

impl Axis {
    /// Creates the description of an axis for the range of the request.
    pub const fn new(label: &'static str, unit: &'static str, data_type: DataType) -> Self {
        Axis { label, unit, data_type, domain: None }
    }
}

/// The range of the values of an axis.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "type", rename = "range")]
pub struct AxisDomain {
    /// The least value.
    pub start: i64,
    /// The greatest value.
    pub end: i64,
}

/// A range of values of an axis, for one bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AxisRange {
    /// The least value.
    pub start: i64,
    /// The value after the greatest one.
    pub end: i64,
}

/// The axis of times.
pub const TIME_AXIS: Axis = Axis::new("Time", "ns", DataType::Timestamp);

/// A column of a table.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Column {
    /// The id.
    pub id: i64,
    /// The name, for users.
    pub name: &'static str,
    /// The explanation.
    pub description: &'static str,
    /// The type of its cells.
    #[serde(rename = "type")]
    pub data_type: DataType,
}

impl Column {
    /// Creates a column.
    pub const fn new(
        id: i64,
        name: &'static str,
        description: &'static str,
        data_type: DataType,
    ) -> Column {
        Column { id, name, description, data_type }
    }
}

/// Lines of a table.
#[derive(Debug, Clone, Serialize)]
pub struct Lines {
    /// The number of the first line.
    #[serde(rename = "lowIndex")]
    pub low: u64,
    /// The number of lines of the whole table.
    pub size: u64,
    /// The columns, in the order of cells.
    #[serde(rename = "columnIds")]
    pub columns: Vec<i64>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line of a table.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// The number of the line.
    pub index: u64,
    /// The cells, one for each column.
    pub cells: Vec<Cell>,
    /// Marks: 8 for a line that a search has found.
    #[serde(skip_serializing_if = "is_zero")]
    pub tags: u32,
}

impl Line {
    /// The mark of lines that a search has found.
    pub const FOUND: u32 = 8;
}

/// A cell of a table.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// The text.
    pub content: String,
}

/// A named range of time, kept by a client.
#[derive(Debug, Clone, Serialize)]
pub struct Bookmark {
    /// The id.
    pub uuid: String,
    /// The name, for users.
    pub name: String,
    /// The start, in ns.
    pub start: i64,
    /// The end, in ns.
    pub end: i64,
}
