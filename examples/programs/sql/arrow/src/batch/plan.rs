//! The steps by which the events of one type become rows, found once per event type.

use arrow_array::StringViewArray;
use ltt_read::schema::{ClockOrigin, FieldKind, Scope};
use ltt_read::{Field, FieldStep, Trace};

use super::column::{Columns, NodeId};
use super::labels::Labels;
use super::nested::Target;
use crate::shape::{Extra, Shape};
use crate::table::{Column, EventTable, MemberRef, Source, StateColumn, TypeOfTable};

/// The steps for the events of one type.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// The scopes to visit for nested columns, with the columns of each member.
    pub(super) scopes: Vec<(Scope, Vec<Target>)>,
}

/// A step that appends one value to a column.
#[derive(Debug)]
pub(super) enum Step {
    Null(NodeId),
    /// The time in ns.
    Time(NodeId),
    /// A value that all events of the type have.
    Constant(NodeId, u32),
    Cpu(NodeId),
    Integer(NodeId, Box<Field>),
    /// A UTF-8 text of constant length.
    Text(NodeId, Box<Field>),
    /// Another value without parts.
    Value(NodeId, Box<Field>),
    Labels(NodeId, Box<(Field, Labels)>),
    Json(NodeId),
    State(NodeId, StateColumn),
}

/// The texts that columns refer to by number.
#[derive(Debug)]
pub(super) struct Choices {
    pub(super) traces: StringViewArray,
    pub(super) streams: StringViewArray,
    pub(super) names: StringViewArray,
    /// The trace of each tracefile.
    pub(super) trace_of: Vec<u32>,
    /// The CPU of each tracefile; 0 without one.
    pub(super) cpu_of: Vec<u32>,
}

/// Adds the node of a column.
pub(super) fn add_column(columns: &mut Columns, column: &Column, choices: &Choices) -> NodeId {
    let (source, is_nullable) = (&column.source, column.nullable);
    let id = Shape::Integer { bits: 32, signed: true };
    match source {
        Source::Timestamp => columns.add_times(),
        Source::Ts => columns.add(&Shape::Integer { bits: 64, signed: true }),
        Source::Trace => {
            columns.add_of_stream(choices.trace_of.clone(), Some(choices.traces.clone()))
        }
        Source::Stream => {
            let streams = (0..choices.trace_of.len() as u32).collect();
            columns.add_of_stream(streams, Some(choices.streams.clone()))
        }
        Source::Cpu if !is_nullable => columns.add_of_stream(choices.cpu_of.clone(), None),
        Source::Name => columns.add_choice(choices.names.clone()),
        Source::Cpu => columns.add(&Shape::Integer { bits: 32, signed: false }),
        Source::State(StateColumn::Tid | StateColumn::Pid | StateColumn::Priority) => {
            columns.add(&id)
        }
        // The fields of an event hardly ever come twice.
        Source::Fields => columns.add(&Shape::Text),
        Source::State(_) | Source::Field(Shape::Text) | Source::Extra(Extra::Labels) => {
            columns.add_texts()
        }
        Source::Field(shape) => columns.add(shape),
        Source::Extra(extra) => columns.add(&extra.shape()),
    }
}

impl Plan {
    /// Finds the steps for an event type. `nodes` are those of the chosen columns, and `name` is the number of
    /// the event type among those of all traces.
    pub(super) fn new(
        trace: &Trace,
        table: &EventTable,
        of: &TypeOfTable,
        projection: &[usize],
        nodes: &[NodeId],
        name: u32,
    ) -> Plan {
        let mut plan = Plan { steps: Vec::new(), scopes: Vec::new() };
        let schema = trace.schema();
        let clock = schema.stream_of(of.id).default_clock;
        let clock = clock.and_then(|clock| schema.clocks.get(clock as usize));
        for (&column, &node) in projection.iter().zip(nodes) {
            let member = of.members.get(column).and_then(Option::as_ref);
            let step = match (&table.columns[column].source, member) {
                (Source::Timestamp, _) => {
                    match clock.is_some_and(|clock| clock.origin == ClockOrigin::UnixEpoch) {
                        true => Step::Time(node),
                        false => Step::Null(node),
                    }
                }
                (Source::Ts, _) if clock.is_some() => Step::Time(node),
                (Source::Ts, _) => Step::Null(node),
                (Source::Trace | Source::Stream, _) => continue,
                (Source::Cpu, _) if !table.columns[column].nullable => continue,
                (Source::Cpu, _) => Step::Cpu(node),
                (Source::Name, _) => Step::Constant(node, name),
                (Source::Fields, _) => Step::Json(node),
                (Source::State(column), _) => Step::State(node, *column),
                (_, None) => Step::Null(node),
                (Source::Field(_), Some(member)) => match plan.field(trace, of, member, node) {
                    Some(step) => step,
                    None => {
                        plan.target(member).value = Some(node);
                        continue;
                    }
                },
                (Source::Extra(extra), Some(member)) => match labels(trace, of, member, *extra) {
                    Some(field) => Step::Labels(node, Box::new((field, Labels::default()))),
                    None => {
                        plan.target(member).extra = Some(node);
                        continue;
                    }
                },
            };
            plan.steps.push(step);
        }
        plan
    }

    /// Returns the step of a field without parts; `None` for other fields.
    fn field(
        &self,
        trace: &Trace,
        of: &TypeOfTable,
        member: &MemberRef,
        node: NodeId,
    ) -> Option<Step> {
        let field = Box::new(handle(trace, of, member)?);
        Some(match () {
            () if field.is_plain_integer() => Step::Integer(node, field),
            () if field.is_plain_text() => Step::Text(node, field),
            () => Step::Value(node, field),
        })
    }

    /// Returns the columns of a member that a visitor fills.
    fn target(&mut self, member: &MemberRef) -> &mut Target {
        let known = self.scopes.iter().position(|(scope, _)| *scope == member.scope);
        let at = known.unwrap_or_else(|| {
            self.scopes.push((member.scope, Vec::new()));
            self.scopes.len() - 1
        });
        let targets = &mut self.scopes[at].1;
        if targets.len() <= member.index {
            targets.resize(member.index + 1, Target::default());
        }
        &mut targets[member.index]
    }
}

/// Returns the handle of a member without parts; `None` for other members.
pub(super) fn handle(trace: &Trace, of: &TypeOfTable, member: &MemberRef) -> Option<Field> {
    let is_option = matches!(member.class.kind, FieldKind::Option(_));
    if is_option || !member.is_first || !Shape::of(&member.class).is_scalar() {
        return None;
    }
    trace.field_at(of.id, member.scope, &[FieldStep::Name(member.name.to_string())])
}

/// Returns the handle of an enumeration whose labels are a column.
fn labels(trace: &Trace, of: &TypeOfTable, member: &MemberRef, extra: Extra) -> Option<Field> {
    handle(trace, of, member).filter(|_| extra == Extra::Labels)
}
