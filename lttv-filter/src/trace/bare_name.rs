//! Names of events that stand alone in an expression: `sched_switch && cpu == 1`.

use ltt_read::schema::EventTypeId;

use super::model::TraceModel;
use crate::model::{FieldType, IntegerKind, Model, Resolution};
use crate::syntax::{Expr, ExprKind, Relation, Root, Selector};

/// Returns the name that a selector spells if it stands alone: `sched_switch`, or
/// `sched.sched_switch` with the channel.
pub(crate) fn bare_name(selector: &Selector) -> Option<String> {
    if selector.root != Root::Unqualified {
        return None;
    }
    let names: Option<Vec<&str>> = selector.steps.iter().map(|step| step.name()).collect();
    names.map(|names| names.join("."))
}

/// Returns a tree in which names of events that stand alone are comparisons with
/// `event.name`. A name that stands alone is, in this order:
///
/// 1. a truth value, if any event of the traces has such a field;
/// 2. the name of an event, if the traces have such events;
/// 3. another field, which is refused since it is no truth value;
/// 4. the name of an event that the traces do not have.
pub(crate) fn with_names(tree: &Expr, traces: &[TraceModel<'_>]) -> Expr {
    let mut tree = tree.clone();
    expand(&mut tree, traces);
    tree
}

fn expand(expr: &mut Expr, traces: &[TraceModel<'_>]) {
    if let ExprKind::Is(selector) = &expr.kind
        && let Some(name) = bare_name(selector)
        && is_event(selector, &name, traces)
    {
        expr.kind = ExprKind::named(Relation::Eq, name, selector.span);
    }
    expr.children_mut().iter_mut().for_each(|term| expand(term, traces));
}

/// Returns `true` if a selector that stands alone is the name of an event.
pub(crate) fn is_event(selector: &Selector, name: &str, traces: &[TraceModel<'_>]) -> bool {
    let is_truth = |model: &TraceModel<'_>| {
        (0..model.types()).any(|id| match model.find(id, selector) {
            Resolution::Fields(fields) => fields.iter().any(|field| is_truth(&field.field_type)),
            Resolution::Constant(constant) => is_truth(&constant.field_type),
            _ => false,
        })
    };
    if traces.iter().any(is_truth) {
        return false;
    }
    if traces.iter().any(|model| model.has_event(name)) {
        return true;
    }
    // A field that is no truth value, or the start of a path to one.
    let starts_field = |model: &TraceModel<'_>| match model.check(selector) {
        Ok(()) => true,
        Err(problem) => problem.valid_steps > 0,
    };
    !traces.iter().any(starts_field)
}

fn is_truth(of: &FieldType) -> bool {
    matches!(of, FieldType::Integer(of) if of.kind == IntegerKind::Truth)
}

impl TraceModel<'_> {
    /// Returns `true` if there is a type of events with a name, which may contain the
    /// channel or lack the system.
    fn has_event(&self, name: &str) -> bool {
        let event = name.split_once('.').map(|(_, event)| event);
        let is = |known: &str| known == name || Some(known) == event;
        let mut event_types = (0..).map(EventTypeId).zip(&self.schema().event_types);
        event_types.any(|(id, event_type)| {
            is(event_type.name()) || self.trace.short_name(id) == Some(name)
        })
    }
}
