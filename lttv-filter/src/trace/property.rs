//! The properties of events that selectors refer to.

use ltt_read::schema::Scope;

use super::names;
use super::words::Word;
use crate::model::SelectorError;
use crate::syntax::{Root, Selector, Step, StepKind};

/// The scopes in which bare names are searched, in this order.
const BARE_SCOPES: [Scope; 4] =
    [Scope::Payload, Scope::SpecificContext, Scope::CommonContext, Scope::PacketContext];

/// The property that a selector refers to.
pub(super) enum Property<'s> {
    Name,
    Category,
    Subname,
    Id,
    LogLevel,
    Time,
    Cycles,
    /// Fields in one of these scopes, optionally of events with a name.
    Field {
        event: Option<&'s Step>,
        scopes: &'static [Scope],
        steps: &'s [Step],
    },
    TracefileName,
    ChannelName,
    Cpu,
    TraceName,
    TracePath,
    TraceUuid,
    Env(&'s str),
    State(&'s str),
    /// A short word that has a meaning of its own.
    Word(Word),
}

/// Returns the property that a selector refers to, independently of the trace.
pub(super) fn property(selector: &Selector) -> Result<Property<'_>, SelectorError> {
    const CONTEXTS: &[Scope] = &[Scope::SpecificContext, Scope::CommonContext];
    let steps = &*selector.steps;
    let of_any = |scopes, steps| field(selector, None, scopes, steps);
    match selector.root {
        Root::Unqualified => return of_any(&BARE_SCOPES, steps),
        Root::State => return single(selector, 1).map(Property::State),
        _ => {}
    }
    let first = selector.name_at(0).unwrap_or_default();
    let property = match (selector.root, first) {
        (Root::Event, "fields" | "field") => {
            let Some(event) = steps.get(1) else {
                let problem =
                    SelectorError::new(selector.span, "an event and a field have to follow");
                return Err(
                    problem.help("write `event.fields.EVENT.FIELD` or `event.fields.*.FIELD`")
                );
            };
            return field(selector, Some(event), &[Scope::Payload], &steps[2..]);
        }
        (Root::Event, "context") => return of_any(CONTEXTS, &steps[1..]),
        (Root::Event, "header") => return of_any(&[Scope::EventHeader], &steps[1..]),
        (Root::Packet, "context") => return of_any(&[Scope::PacketContext], &steps[1..]),
        (Root::Packet, "header") => return of_any(&[Scope::PacketHeader], &steps[1..]),
        (Root::Trace, "env") => return single(selector, 2).map(Property::Env),
        (Root::Event, "name") => Property::Name,
        (Root::Event, "category") => Property::Category,
        (Root::Event, "subname") => Property::Subname,
        (Root::Event, "id") => Property::Id,
        (Root::Event, "loglevel" | "log_level") => Property::LogLevel,
        (Root::Event, "time") => Property::Time,
        (Root::Event, "tsc" | "cycles") => Property::Cycles,
        (Root::Tracefile, "name") => Property::TracefileName,
        (Root::Tracefile, "channel") | (Root::Channel, "name") => Property::ChannelName,
        (Root::Tracefile, "cpu") => Property::Cpu,
        (Root::Trace, "name") => Property::TraceName,
        (Root::Trace, "path") => Property::TracePath,
        (Root::Trace, "uuid") => Property::TraceUuid,
        (root, _) => {
            let span = steps.first().map_or(selector.span, |step| step.span);
            let word = root.word();
            let names = names::after(root);
            let problem = SelectorError::new(
                span,
                match first {
                    "" => format!("a name has to follow `{word}.`"),
                    name => format!("there is no `{word}.{name}`"),
                },
            );
            let near = crate::suggestion::nearest(first, names.iter().copied());
            return Err(match near {
                Some(_) => problem.nearest(first, names.iter().copied()),
                None => problem.help(format!("`{word}.` has {}", names.join(", "))),
            });
        }
    };
    match steps.get(1) {
        None => Ok(property),
        Some(step) => Err(SelectorError::new(
            step.span,
            format!("`{}.{first}` has no parts", selector.root.word()),
        )),
    }
}

fn field<'s>(
    selector: &Selector,
    event: Option<&'s Step>,
    scopes: &'static [Scope],
    steps: &'s [Step],
) -> Result<Property<'s>, SelectorError> {
    if let Some(step) = event
        && matches!(step.kind, StepKind::Index(_))
    {
        return Err(SelectorError::new(
            step.span,
            "expected the name of an event, or `*` for any event",
        ));
    }
    if let (Some(name), []) = (event.and_then(Step::name), steps) {
        let problem = SelectorError::new(selector.span, "an event and a field have to follow");
        return Err(problem.help(format!(
            "write `event.fields.*.{name}` for any event, `event.fields.{name}.FIELD` for this one"
        )));
    }
    if steps.is_empty() {
        let problem = SelectorError::new(selector.span, "a field has to follow");
        return Err(problem.help("write the name of the field after it"));
    }
    Ok(Property::Field { event, scopes, steps })
}

/// Returns the last of a number of steps, which has to be a name.
fn single(selector: &Selector, steps: usize) -> Result<&str, SelectorError> {
    match (selector.name_at(steps - 1), selector.steps.get(steps)) {
        (Some(name), None) => Ok(name),
        (_, Some(step)) => Err(SelectorError::new(step.span, "this has no parts")),
        _ => Err(SelectorError::new(selector.span, "a name has to follow")),
    }
}
