//! Subscriptions that no event type matches, and the names that were perhaps meant.

use std::fmt;

use ltt_read::Trace;
use ltt_read::schema::{EventTypeId, FieldKind};

use super::pattern::Pattern;
use super::subscription::{EventSelector, SCOPES, Scope, Subscription};
use crate::traceset::{Contexts, TraceContext};

/// A subscription that no event type of a traceset matches, so that its hook is never called: see
/// [`TracesetContext::unmatched`](crate::TracesetContext::unmatched). `Display` writes a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unmatched {
    /// The name of the events, with its wildcards.
    pub events: String,
    /// The fields that the event lacks: those of the event type that lacks the fewest. Empty if there is no
    /// such event.
    pub fields: Vec<String>,
    /// `true` if there are such events, but in other parts of the traceset, domains, providers or channels
    /// than the subscription asks for.
    pub is_elsewhere: bool,
    /// The name that was perhaps meant, of an event or of the first field.
    pub similar: Option<String>,
    /// `true` if the traceset is growing, so that event types may still be declared.
    pub may_come: bool,
}

impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unmatched { events, fields, is_elsewhere, similar, may_come } = self;
        match &fields[..] {
            [] if *is_elsewhere => {
                write!(f, "no event `{events}` in what the subscription is restricted to")?;
            }
            [] => write!(f, "no event `{events}`")?,
            [field] => write!(f, "no event `{events}` has a field `{field}`")?,
            several => write!(f, "no event `{events}` has the fields `{}`", several.join("`, `"))?,
        }
        if *may_come {
            f.write_str(" so far")?;
        }
        match similar {
            Some(name) => write!(f, " (perhaps `{name}`)"),
            None => Ok(()),
        }
    }
}

impl Subscription {
    /// Returns what this subscription lacks, if no event type matches it.
    pub(super) fn unmatched(&self, contexts: &Contexts) -> Option<Unmatched> {
        let traces = || contexts.traces().iter();
        let is_in_all = self.scope == Scope::Traceset && self.channel.is_none();
        let is_wanted = |trace: &TraceContext| {
            is_in_all
                || contexts.tracefiles().iter().any(|tracefile| {
                    tracefile.trace_index() == trace.index()
                        && self.scope.contains_tracefile(tracefile)
                        && self.wants_channel(tracefile.tracefile().channel())
                })
        };
        let has_types = |trace: &TraceContext| !self.types(trace.index(), trace.trace()).is_empty();
        if self.is_unconditional() || traces().any(|trace| is_wanted(trace) && has_types(trace)) {
            return None;
        }
        let name = match &self.selector {
            EventSelector::Named(pattern) => pattern.clone(),
            EventSelector::Everything => Pattern::new("*"),
            // Ids are not misspelt.
            EventSelector::Type { .. } => return None,
        };
        let without_fields = Subscription { fields: Vec::new(), ..self.clone() };
        let candidates = traces().flat_map(|trace| {
            let types = without_fields.types(trace.index(), trace.trace());
            types.into_iter().map(|(id, _)| (&**trace.trace(), id))
        });
        let lacking = candidates
            .map(|(trace, id)| (self.fields_lacking(trace, id), trace, id))
            .min_by_key(|(fields, ..)| fields.len());
        let may_come = contexts.traceset().is_growing();
        let events = name.text().to_owned();
        if let Some((fields, trace, id)) = lacking.filter(|(fields, ..)| !fields.is_empty()) {
            let similar = fields.first().and_then(|field| nearest(field, members(trace, id)));
            let fields = fields.into_iter().map(str::to_owned).collect();
            return Some(Unmatched { events, fields, is_elsewhere: false, similar, may_come });
        }
        let names = || {
            let types = traces().flat_map(|trace| &trace.trace().schema().event_types);
            types.map(|event_type| event_type.name())
        };
        let without_provider =
            |of: &str| of.split_once(':').is_some_and(|(_, of)| name.matches(of));
        let is_elsewhere = names().any(|of| name.matches(of) || without_provider(of));
        let wants_similar = name.is_plain() && !is_elsewhere;
        let similar = wants_similar.then(|| nearest(name.text(), names())).flatten();
        Some(Unmatched { events, fields: Vec::new(), is_elsewhere, similar, may_come })
    }
}

/// Returns the names of the members of all scopes of an event type.
fn members(trace: &Trace, id: EventTypeId) -> impl Iterator<Item = &str> {
    let roots = SCOPES.iter().filter_map(move |scope| trace.schema().root(id, *scope));
    let structures = roots.filter_map(|root| match &root.kind {
        FieldKind::Struct(of) => Some(of),
        _ => None,
    });
    structures.flat_map(|of| &of.members).map(|member| &*member.name)
}

/// Returns the name that differs least from another one, if it differs by at most a third of its letters.
fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    let most = name.chars().count() / 3;
    let distances = names.map(|other| (distance(name, other), other));
    let near = distances.filter(|(distance, _)| *distance <= most).min();
    near.map(|(_, other)| other.to_owned())
}

/// Returns the number of letters to insert, delete or replace that makes one text the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    // The distances of the letters so far from each start of `b`.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, letter) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (to, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[to + 1];
            row[to + 1] = replaced.min(row[to] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
