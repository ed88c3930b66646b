//! Nested fields: a visitor that appends the values of a scope to the columns that want them.

use ltt_read::{FieldInfo, StrValue, Visitor};

use super::column::{Columns, NodeId, Values};
use super::labels::labels;
use super::text;
use crate::shape::extra;

/// The columns of a value: of the value itself, and of its labels or flags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) value: Option<NodeId>,
    pub(super) extra: Option<NodeId>,
}

/// A container that the visitor stands in.
#[derive(Debug, Clone, Copy)]
enum Frame {
    /// The root structure, with the number of the next member.
    Root(usize),
    /// A structure, with the number of the next part.
    Struct(NodeId, usize),
    /// A structure without members.
    Empty(NodeId),
    /// A list, with its elements.
    List(NodeId, NodeId),
    Variant(NodeId, NodeId),
    /// An option that is present: its content goes to the target of the option.
    Option(Target),
    /// An option that is absent.
    Absent,
}

/// The room for the frames of a visitor, which is used again for the next event.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    frames: Vec<Frame>,
    text: String,
}

/// A visitor of a scope.
pub(super) struct Nested<'a> {
    columns: &'a mut Columns,
    /// The columns of each member of the root structure.
    members: &'a [Target],
    scratch: &'a mut Scratch,
    /// The number of containers that no column wants and that the visitor stands in.
    skipped: usize,
}

impl<'a> Nested<'a> {
    /// Creates a visitor of one event.
    pub(super) fn new(
        columns: &'a mut Columns,
        members: &'a [Target],
        scratch: &'a mut Scratch,
    ) -> Self {
        scratch.frames.clear();
        Nested { columns, members, scratch, skipped: 0 }
    }

    /// Returns the columns of the next value.
    fn next(&mut self, field: &FieldInfo) -> Target {
        if self.skipped > 0 {
            return Target::default();
        }
        match self.scratch.frames.last_mut() {
            Some(Frame::Root(next)) => {
                *next += 1;
                self.members.get(*next - 1).copied().unwrap_or_default()
            }
            Some(Frame::Struct(node, next)) => {
                let Values::Struct { nodes, .. } = &self.columns.nodes[*node].values else {
                    return Target::default();
                };
                let value = nodes.get(*next).copied();
                *next += 1;
                let extra = extra(field.class()).and_then(|_| {
                    *next += 1;
                    nodes.get(*next - 1).copied()
                });
                Target { value, extra }
            }
            Some(Frame::List(_, element)) => Target { value: Some(*element), extra: None },
            Some(Frame::Variant(_, option)) => Target { value: Some(*option), extra: None },
            Some(Frame::Option(target)) => *target,
            Some(Frame::Empty(_) | Frame::Absent) | None => Target::default(),
        }
    }

    /// Begins a container. Returns its column; `None` if it is not wanted.
    fn begin(&mut self, field: &FieldInfo) -> Option<NodeId> {
        let value = self.next(field).value;
        if value.is_none() {
            self.skipped += 1;
        }
        value
    }

    /// Ends a container. Returns its frame; `None` if it was not wanted.
    fn end(&mut self) -> Option<Frame> {
        if self.skipped > 0 {
            self.skipped -= 1;
            return None;
        }
        self.scratch.frames.pop()
    }

    fn integer(&mut self, field: &FieldInfo, bits: u64, value: i128) {
        let target = self.next(field);
        if let Some(node) = target.value {
            self.columns.integer(node, bits);
        }
        let Some(extra) = target.extra else { return };
        match labels(field, value, &mut self.scratch.text) {
            true => self.columns.text(extra, &self.scratch.text),
            false => self.columns.null(extra),
        }
    }
}

impl Visitor for Nested<'_> {
    fn uint(&mut self, field: &FieldInfo, value: u64) {
        self.integer(field, value, value.into());
    }

    fn sint(&mut self, field: &FieldInfo, value: i64) {
        self.integer(field, value as u64, value.into());
    }

    fn boolean(&mut self, field: &FieldInfo, value: bool) {
        if let Some(node) = self.next(field).value {
            self.columns.integer(node, value.into());
        }
    }

    fn bits(&mut self, field: &FieldInfo, value: u64) {
        let target = self.next(field);
        if let Some(node) = target.value {
            self.columns.integer(node, value);
        }
        let Some(extra) = target.extra else { return };
        let Values::List { element, .. } = self.columns.nodes[extra].values else { return };
        for flag in field.class().flags(value.into()).unwrap_or_default() {
            self.columns.text(element, flag);
        }
        self.columns.end_list(extra);
    }

    fn float(&mut self, field: &FieldInfo, value: f64) {
        if let Some(node) = self.next(field).value {
            self.columns.float(node, value);
        }
    }

    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {
        if let Some(node) = self.next(field).value {
            self.columns.text(node, &text::utf8(value));
        }
    }

    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {
        if let Some(node) = self.next(field).value {
            self.columns.blob(node, value);
        }
    }

    fn begin_struct(&mut self, field: &FieldInfo) {
        if self.scratch.frames.is_empty() {
            self.scratch.frames.push(Frame::Root(0));
            return;
        }
        let Some(node) = self.begin(field) else { return };
        self.scratch.frames.push(match self.columns.nodes[node].values {
            Values::Struct { .. } => Frame::Struct(node, 0),
            _ => Frame::Empty(node),
        });
    }

    fn end_struct(&mut self, _: &FieldInfo) {
        match self.end() {
            Some(Frame::Struct(node, _)) => self.columns.end_parts(node),
            Some(Frame::Empty(node)) => self.columns.integer(node, 1),
            _ => {}
        }
    }

    fn begin_array(&mut self, field: &FieldInfo, _: u64) {
        let Some(node) = self.begin(field) else { return };
        self.scratch.frames.push(match self.columns.nodes[node].values {
            Values::List { element, .. } => Frame::List(node, element),
            _ => Frame::Absent,
        });
    }

    fn end_array(&mut self, _: &FieldInfo) {
        if let Some(Frame::List(node, _)) = self.end() {
            self.columns.end_list(node);
        }
    }

    fn begin_variant(&mut self, field: &FieldInfo, option: usize) {
        let Some(node) = self.begin(field) else { return };
        let Values::Variant { tag, nodes, .. } = &self.columns.nodes[node].values else { return };
        let (tag, chosen) = (*tag, nodes.get(option).copied());
        self.columns.null_parts(node, Some(option));
        self.columns.integer(tag, option as u64);
        self.scratch.frames.push(match chosen {
            Some(chosen) => Frame::Variant(node, chosen),
            None => Frame::Absent,
        });
    }

    fn end_variant(&mut self, _: &FieldInfo) {
        if let Some(Frame::Variant(node, _)) = self.end() {
            self.columns.end_parts(node);
        }
    }

    fn begin_option(&mut self, field: &FieldInfo, present: bool) {
        let target = self.next(field);
        if target == Target::default() {
            self.skipped += 1;
            return;
        }
        if present {
            self.scratch.frames.push(Frame::Option(target));
            return;
        }
        for node in [target.value, target.extra].into_iter().flatten() {
            self.columns.null(node);
        }
        self.scratch.frames.push(Frame::Absent);
    }

    fn end_option(&mut self, _: &FieldInfo) {
        self.end();
    }
}
