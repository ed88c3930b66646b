//! Resolution of selectors in a trace.

use std::sync::Arc;

use ltt_read::schema::{EnvValue, EventType, EventTypeId, LogLevel, Schema, Scope};
use ltt_read::{Trace, Tracefile};

use super::category::{self, Channels};
use super::class::{Target, field_type, names_below, targets};
use super::fields::TraceField;
use super::names;
use super::property::{Property, property};
use super::state::StateFields;
use super::words::{Word, Words};
use crate::model::{
    Constant, ConstantValue, FieldAccess, FieldType, IntegerType, Label, Model, Resolution,
    SelectorError,
};
use crate::syntax::{Root, Selector, Step, StepKind};

/// A trace, and the fields of its state.
#[derive(Clone, Copy)]
pub(crate) struct TraceModel<'t> {
    pub(crate) trace: &'t Trace,
    pub(crate) state: &'t dyn StateFields,
    pub(crate) words: Words,
}

/// Programs read events without the model, by [`TraceRecord`](super::TraceRecord).
pub(crate) enum Never {}

impl Model for TraceModel<'_> {
    type Field = TraceField;
    type Record<'r> = Never;

    fn record_type(record: &Never) -> u32 {
        match *record {}
    }

    fn types(&self) -> u32 {
        self.schema().event_types.len() as u32
    }

    fn find(&self, record_type: u32, selector: &Selector) -> Resolution<TraceField> {
        let id = EventTypeId(record_type);
        let Some(event_type) = self.schema().event_types.get(id.index()) else {
            return Resolution::Nothing;
        };
        let Ok(property) = self.property(selector) else { return Resolution::Nothing };
        let text = |text: &str| Resolution::Constant(Constant::text(text));
        match property {
            Property::Name => text(event_type.name()),
            Property::Category => match category::in_name(self.schema(), event_type) {
                Some(category) => text(category),
                None => self.channels(id),
            },
            Property::Subname => {
                text(event_type.name().split_once(':').map_or(event_type.name(), |(_, s)| s))
            }
            Property::Id => Resolution::Constant(Constant::integer(event_type.id)),
            Property::LogLevel => event_type.log_level.map_or(Resolution::Nothing, log_level),
            Property::Time => self.clocked(id, TraceField::Time, FieldType::time()),
            Property::Cycles => self.clocked(id, TraceField::Cycles, FieldType::integer(64, false)),
            Property::Field { event, scopes, steps } => {
                if event.is_some_and(|step| !self.is_event(step, id)) {
                    return Resolution::Nothing;
                }
                self.field(id, scopes, steps)
            }
            Property::TracefileName => self.of_tracefile(|t| Some(Constant::text(t.name()))),
            Property::ChannelName => self.of_tracefile(|t| Some(Constant::text(t.channel()))),
            Property::Cpu => {
                self.of_tracefile(|t| t.cpu().map(|cpu| Constant::integer(cpu.into())))
            }
            Property::TraceName => self
                .trace
                .path()
                .file_name()
                .map_or(Resolution::Nothing, |name| text(&name.to_string_lossy())),
            Property::TracePath => text(&self.trace.path().to_string_lossy()),
            Property::TraceUuid => {
                self.trace.uuid().map_or(Resolution::Nothing, |uuid| text(&uuid.to_string()))
            }
            Property::Env(name) => match self.schema().env(name) {
                None => Resolution::Nothing,
                Some(EnvValue::Str(value)) => text(value),
                Some(EnvValue::Int(value)) => {
                    let of = FieldType::integer(64, *value < 0);
                    Resolution::Constant(Constant {
                        field_type: of,
                        value: ConstantValue::Integer(*value),
                    })
                }
            },
            Property::State(name) => self.in_state(name),
            Property::Word(word) => self.word(id, word),
        }
    }

    fn find_qualified(&self, record_type: u32, selector: &Selector) -> Resolution<TraceField> {
        let id = EventTypeId(record_type);
        let (Some(event_type), Ok(Property::Name)) =
            (self.schema().event_types.get(id.index()), self.property(selector))
        else {
            return Resolution::Nothing;
        };
        let name = event_type.name();
        match category::channels(self.trace, id) {
            Channels::None => Resolution::Nothing,
            Channels::One(channel) => {
                Resolution::Constant(Constant::text(format!("{channel}.{name}")))
            }
            Channels::Several => self.of_tracefile(|tracefile| {
                Some(Constant::text(match category::is_in(tracefile, event_type) {
                    true => format!("{}.{name}", tracefile.channel()),
                    false => name.to_owned(),
                }))
            }),
        }
    }

    fn find_short(&self, record_type: u32, selector: &Selector) -> Resolution<TraceField> {
        let id = EventTypeId(record_type);
        if id.index() >= self.schema().event_types.len()
            || !matches!(self.property(selector), Ok(Property::Name))
        {
            return Resolution::Nothing;
        }
        match self.trace.short_name(id) {
            Some(name) => Resolution::Constant(Constant::text(name)),
            None => Resolution::Nothing,
        }
    }

    fn check(&self, selector: &Selector) -> Result<(), SelectorError> {
        match self.property(selector)? {
            Property::Field { event, scopes, steps } => {
                self.check_field(selector, event, scopes, steps)
            }
            Property::Env(name) if self.schema().env(name).is_none() => {
                let step = &selector.steps[1];
                let problem = SelectorError::new(
                    step.span,
                    format!("the trace's environment has no `{name}`"),
                );
                Err(problem.nearest(name, self.schema().env.iter().map(|(name, _)| &**name)))
            }
            Property::State(name) if self.state.find(name).is_none() => {
                let names = self.state.names();
                if names.is_empty() {
                    let problem = SelectorError::new(selector.span, "no state is available here");
                    return Err(
                        problem.help("`state.` fields need a program that tracks the state")
                    );
                }
                let step = &selector.steps[0];
                let problem =
                    SelectorError::new(step.span, format!("there is no `{name}` in the state"));
                Err(problem.nearest(name, names.iter().map(|name| &**name)))
            }
            _ => Ok(()),
        }
    }
}

impl<'t> TraceModel<'t> {
    /// Creates the model of a trace, with the fields of its state.
    pub(crate) fn new(trace: &'t Trace, state: &'t dyn StateFields) -> Self {
        TraceModel { trace, state, words: Words::of(trace, state) }
    }

    /// Returns `true` if a step stands for the events of a type.
    fn is_event(&self, step: &Step, id: EventTypeId) -> bool {
        let is_named = |name: &str| {
            name == self.schema().event_types[id.index()].name()
                || self.trace.short_name(id) == Some(name)
        };
        step.kind == StepKind::Any || step.name().is_some_and(is_named)
    }

    /// Returns the property that a selector refers to in this trace.
    fn property<'s>(&self, selector: &'s Selector) -> Result<Property<'s>, SelectorError> {
        match Word::of(selector).filter(|word| self.words.know(*word)) {
            Some(Word::Name) => Ok(Property::Name),
            Some(word) => Ok(Property::Word(word)),
            None => property(selector),
        }
    }

    /// Finds a field of the state.
    pub(super) fn in_state(&self, name: &str) -> Resolution<TraceField> {
        match self.state.find(name) {
            None => Resolution::Nothing,
            Some((field, of)) => {
                let (field, always) = (TraceField::State(field), false);
                Resolution::Fields(vec![FieldAccess { field, field_type: of, always }])
            }
        }
    }

    /// Finds the channel of events of a type, or else the facility.
    pub(crate) fn channels(&self, id: EventTypeId) -> Resolution<TraceField> {
        let event_type = &self.schema().event_types[id.index()];
        match category::channels(self.trace, id) {
            Channels::None => Resolution::Nothing,
            Channels::One(channel) => Resolution::Constant(Constant::text(channel)),
            Channels::Several => self.of_tracefile(|tracefile| {
                let is_in = category::is_in(tracefile, event_type);
                is_in.then(|| Constant::text(tracefile.channel()))
            }),
        }
    }

    pub(super) fn schema(&self) -> &'t Schema {
        self.trace.schema()
    }

    /// Finds a field that events have if their stream has a clock.
    fn clocked(&self, id: EventTypeId, field: TraceField, of: FieldType) -> Resolution<TraceField> {
        match self.schema().stream_of(id).default_clock {
            Some(_) => {
                Resolution::Fields(vec![FieldAccess { field, field_type: of, always: true }])
            }
            None => Resolution::Nothing,
        }
    }

    pub(super) fn of_tracefile(
        &self,
        value: impl Fn(&Tracefile) -> Option<Constant>,
    ) -> Resolution<TraceField> {
        let values: Arc<[_]> = self.trace.tracefiles().iter().map(value).collect();
        if values.is_empty() {
            Resolution::Nothing
        } else {
            Resolution::OneOf(TraceField::Tracefile, values)
        }
    }

    /// Finds the fields of an event type that steps lead to, in the first scope that has
    /// any.
    pub(super) fn field(
        &self,
        id: EventTypeId,
        scopes: &[Scope],
        steps: &[Step],
    ) -> Resolution<TraceField> {
        for scope in scopes {
            let Some(class) = self.schema().root(id, *scope) else { continue };
            let Some(targets) = targets(class, steps) else { continue };
            let readable = |target: &Target<'_>| {
                let field = self.trace.field_at(id, *scope, &target.path)?;
                let of = field_type(target.class);
                let field = match (field.is_plain_integer(), field.is_plain_text()) {
                    (true, _) => TraceField::Plain(field),
                    (_, true) => TraceField::Text(field),
                    _ => TraceField::Any(field),
                };
                Some(FieldAccess { field, field_type: of, always: target.always })
            };
            let fields: Vec<_> = targets.iter().filter_map(readable).collect();
            if !fields.is_empty() {
                return Resolution::Fields(fields);
            }
        }
        Resolution::Nothing
    }

    /// Returns whether steps lead to a field of an event type in a scope.
    fn is_field(&self, id: EventTypeId, scope: Scope, steps: &[Step]) -> bool {
        let class = self.schema().root(id, scope);
        class.and_then(|class| targets(class, steps)).is_some_and(|t| !t.is_empty())
    }

    fn check_field(
        &self,
        selector: &Selector,
        event: Option<&Step>,
        scopes: &'static [Scope],
        steps: &[Step],
    ) -> Result<(), SelectorError> {
        let types = || {
            let all = (0..).map(EventTypeId).zip(&self.schema().event_types);
            all.filter(|(id, _)| event.is_none_or(|step| self.is_event(step, *id)))
                .map(|(id, _)| id)
        };
        if let Some(step) = event
            && types().next().is_none()
        {
            let name = step.name().unwrap_or_default();
            let problem =
                SelectorError::new(step.span, format!("there is no event `{name}` in the trace"));
            let names = self.schema().event_types.iter().map(EventType::name);
            return Err(problem.nearest(name, names));
        }
        let with_valid_steps = usize::from(event.is_some());
        let is_field =
            |scope: &Scope, steps: &[Step]| types().any(|id| self.is_field(id, *scope, steps));
        let mut found: Vec<&Scope> = scopes.iter().filter(|scope| is_field(scope, steps)).collect();
        // Two scopes are written `event.context`.
        found.dedup_by_key(|scope| written(**scope, selector));
        match &*found {
            [_] => Ok(()),
            // With a root, the first scope is meant.
            [_, ..] if selector.root != Root::Unqualified => Ok(()),
            [a, b, ..] => {
                let name = selector.steps[0].name().unwrap_or_default();
                let message = format!("`{name}` is in {} and in {}", place(**a), place(**b));
                let help =
                    format!("write `{}` or `{}`", written(**a, selector), written(**b, selector));
                Err(SelectorError::new(selector.span, message)
                    .help(help)
                    .with_valid_steps(usize::MAX))
            }
            [] => {
                // The number of valid steps.
                let valid = (0..steps.len())
                    .rev()
                    .find(|n| scopes.iter().any(|scope| is_field(scope, &steps[..*n])))
                    .unwrap_or(0);
                let unknown =
                    self.unknown(selector, event, scopes, steps, valid, types().collect());
                Err(unknown.with_valid_steps(with_valid_steps + valid))
            }
        }
    }

    /// Creates the error for the step after the `valid` ones, which leads nowhere.
    fn unknown(
        &self,
        selector: &Selector,
        event: Option<&Step>,
        scopes: &[Scope],
        steps: &[Step],
        valid: usize,
        types: Vec<EventTypeId>,
    ) -> SelectorError {
        let mut names = Vec::new();
        for (id, scope) in types.iter().flat_map(|id| scopes.iter().map(|scope| (*id, *scope))) {
            let Some(class) = self.schema().root(id, scope) else { continue };
            for target in targets(class, &steps[..valid]).unwrap_or_default() {
                names_below(target.class, &mut names);
            }
        }
        names.sort_unstable();
        names.dedup();
        let Some(step) = steps.get(valid) else {
            return SelectorError::new(selector.span, "no event has this field");
        };
        let name = match &step.kind {
            StepKind::Name(name) => name,
            StepKind::Index(index) => {
                let problem =
                    SelectorError::new(step.span, format!("there is no element [{index}] here"));
                return match names.is_empty() {
                    true => {
                        problem.help("the field is not an array, or it is shorter in all events")
                    }
                    false => problem.help("the field is not an array; its members follow a point"),
                };
            }
            StepKind::Any => {
                return SelectorError::new(step.span, "`*` can only stand for an event");
            }
        };
        let message = match (valid, event.and_then(Step::name), scopes) {
            (0, Some(event), _) => format!("`{event}` has no field `{name}`"),
            (0, None, [scope]) if *scope != Scope::Payload => {
                format!("no event has a field `{name}` in {}", place(*scope))
            }
            (0, ..) => format!("no event has a field `{name}`"),
            _ => format!("there is no `{name}` in this field"),
        };
        let problem = SelectorError::new(step.span, message);
        if let Some(word) = Word::of(selector) {
            return problem.help(format!("{} is not known", word.meaning()));
        }
        let other = names::OTHER_NAMES.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        match other {
            Some((_, meant)) if selector.root == Root::Unqualified && valid == 0 => {
                problem.help(format!("perhaps `{meant}` was meant"))
            }
            _ if names.is_empty() && valid > 0 => problem.help("it has no members"),
            _ => problem.nearest(name, names),
        }
    }
}

fn place(scope: Scope) -> &'static str {
    match scope {
        Scope::PacketHeader => "the packet header",
        Scope::PacketContext => "the packet context",
        Scope::EventHeader => "the event header",
        Scope::CommonContext => "the common context",
        Scope::SpecificContext => "the event context",
        Scope::Payload => "the payload",
    }
}

/// Returns a bare selector with an explicit scope.
fn written(scope: Scope, selector: &Selector) -> String {
    match scope {
        Scope::Payload => format!("event.fields.*.{selector}"),
        Scope::PacketContext => format!("packet.context.{selector}"),
        Scope::PacketHeader => format!("packet.header.{selector}"),
        Scope::EventHeader => format!("event.header.{selector}"),
        Scope::CommonContext | Scope::SpecificContext => format!("event.context.{selector}"),
    }
}

fn log_level(level: i64) -> Resolution<TraceField> {
    // Filters have the short form of the names of LTTng's constants.
    let label = |(number, level): (i128, &LogLevel)| Label {
        name: level.constant.trim_start_matches("TRACE_").into(),
        ranges: vec![(number, number)],
    };
    let of = FieldType::Integer(IntegerType {
        labels: (0..).zip(&LogLevel::ALL).map(label).collect(),
        ..IntegerType::new(i64::MIN.into(), i64::MAX.into())
    });
    Resolution::Constant(Constant { field_type: of, value: ConstantValue::Integer(level.into()) })
}
