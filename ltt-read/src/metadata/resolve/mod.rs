//! Resolution of locations: finds the field that contains each length and each selector,
//! and assigns a value slot to it.
//!
//! Resolution has three steps. First, all roots are walked without changes, and every
//! dependency is linked to its targets ([`locate`]). Then slots are numbered, outer
//! scopes first, because the payload of an event may depend on a field of the packet
//! context. Finally, the numbers are written into the class trees ([`apply`]), which
//! copies shared classes where needed.

mod apply;
mod check;
mod locate;
mod needs;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::{Diagnostic, Span, limits};
use crate::schema::{
    Dependency, EventType, FieldClass, FieldKind, Format, Length, RangeSet, Schema, Scope, SlotId,
    StreamClass,
};
use locate::{Frame, Locator, PLACE_COST, Site};
use needs::Use;

/// Resolves every length and selector of a schema to a value slot.
///
/// # Errors
///
/// Returns diagnostics for the dependencies that cannot be resolved, up to a limit.
pub(crate) fn resolve(schema: &mut Schema) -> Result<(), Vec<Diagnostic>> {
    let plan = Planner::new(schema).plan()?;
    apply::apply(&plan, schema).map_err(|d| vec![d])
}

/// The path of a class below its root: the index of the member or option to enter at each
/// level (0 for the element of an array and the content of an option).
type Place = SmallVec<[u32; 8]>;

/// A dependent field and the target that it is linked to.
struct Link {
    scope: Scope,
    place: Place,
    span: Span,
    target_scope: Scope,
    target: u32,
    /// The ranges that select each option of a CTF 1.8 variant.
    ranges: Option<Vec<RangeSet>>,
}

/// The fields of one level (trace, stream class, event type) on which others depend, in a
/// union-find structure. Targets in one group share a slot.
#[derive(Default)]
struct Targets {
    ids: HashMap<(Scope, Place), u32>,
    parents: Vec<u32>,
}

impl Targets {
    /// Adds the alternative targets of one dependency as one group. Returns the id of the
    /// group.
    fn add(&mut self, scope: Scope, places: impl IntoIterator<Item = Place>) -> u32 {
        let mut group = None;
        for place in places {
            let new = self.parents.len() as u32;
            let id = *self.ids.entry((scope, place)).or_insert(new);
            if id == new {
                self.parents.push(new);
            }
            let id = self.root(id);
            let first = *group.get_or_insert(id);
            // The least id is the root, so that it is numbered first.
            let (low, high) = (first.min(id), first.max(id));
            self.parents[high as usize] = low;
            group = Some(low);
        }
        group.unwrap_or(0)
    }

    fn root(&mut self, mut id: u32) -> u32 {
        while self.parents[id as usize] != id {
            let grandparent = self.parents[self.parents[id as usize] as usize];
            self.parents[id as usize] = grandparent;
            id = grandparent;
        }
        id
    }

    /// Returns the slot of each target, starting at `first`, and the number past the last
    /// slot. Returns `None` if there are too many.
    fn number(&self, first: u16) -> Option<(Vec<SlotId>, u16)> {
        let mut next = first;
        let mut slots: Vec<SlotId> = Vec::with_capacity(self.parents.len());
        for &parent in &self.parents {
            // A target with another parent shares the slot of its group, whose root
            // has a lower id.
            let slot = match slots.get(parent as usize) {
                Some(&slot) => slot,
                None => {
                    let slot = SlotId(next);
                    next = next.checked_add(1)?;
                    slot
                }
            };
            slots.push(slot);
        }
        Some((slots, next))
    }
}

/// The targets and links of one level.
#[derive(Default)]
struct Level {
    targets: Targets,
    links: Vec<Link>,
}

/// All links of a schema.
struct Plan {
    trace: Level,
    streams: Vec<Level>,
    /// The levels of the event types that have links, with their indices.
    events: Vec<(usize, Level)>,
}

/// The owner of a root, for messages.
#[derive(Clone, Copy)]
enum Owner<'s> {
    Trace,
    Stream(&'s StreamClass),
    Event(&'s EventType),
}

/// The state of the walk over all roots, which links dependent fields to their targets.
struct Planner<'s> {
    schema: &'s Schema,
    locator: Locator<'s>,
    site: Site<'s>,
    owner: Owner<'s>,
    /// The links of the current root.
    links: Vec<PendingLink>,
    errors: Vec<Diagnostic>,
    /// `true` once a limit is reached.
    exhausted: bool,
}

/// The maximum number of diagnostics.
const MAX_ERRORS: usize = 50;

impl<'s> Planner<'s> {
    fn new(schema: &'s Schema) -> Self {
        Planner {
            schema,
            locator: Locator::new(schema.format),
            site: Site::default(),
            owner: Owner::Trace,
            links: Vec::new(),
            errors: Vec::new(),
            exhausted: false,
        }
    }

    fn plan(mut self) -> Result<Plan, Vec<Diagnostic>> {
        let schema = self.schema;
        let mut trace = Level::default();
        let mut streams: Vec<Level> = Vec::with_capacity(schema.stream_classes.len());
        let mut events = Vec::new();

        self.site.roots = [schema.packet_header.as_deref(), None, None, None, None, None];
        for link in self.root(Scope::PacketHeader, Owner::Trace) {
            link.register(&mut trace, None, None);
        }
        for class in &schema.stream_classes {
            self.site.roots = roots(schema, Some(class), None);
            let mut level = Level::default();
            for scope in [Scope::PacketContext, Scope::EventHeader, Scope::CommonContext] {
                for link in self.root(scope, Owner::Stream(class)) {
                    link.register(&mut trace, Some(&mut level), None);
                }
            }
            streams.push(level);
        }
        for (index, event) in schema.event_types.iter().enumerate() {
            let class = schema.stream_classes.get(event.stream.index());
            self.site.roots = roots(schema, class, Some(event));
            let mut level = Level::default();
            for scope in [Scope::SpecificContext, Scope::Payload] {
                for link in self.root(scope, Owner::Event(event)) {
                    let stream = streams.get_mut(event.stream.index());
                    link.register(&mut trace, stream, Some(&mut level));
                }
            }
            if !level.links.is_empty() {
                events.push((index, level));
            }
            if self.exhausted {
                break;
            }
        }
        match self.errors.is_empty() {
            true => Ok(Plan { trace, streams, events }),
            false => Err(self.errors),
        }
    }

    /// Links all dependent fields under one root.
    fn root(&mut self, scope: Scope, owner: Owner<'s>) -> Vec<PendingLink> {
        self.owner = owner;
        self.site.scope = scope;
        self.site.frames.clear();
        if let Some(class) = self.site.roots[scope as usize]
            && let Err(d) = self.visit(class)
        {
            self.exhausted = true;
            self.errors.push(d.within(Span::default(), in_root(scope, owner, self.schema.format)));
        }
        std::mem::take(&mut self.links)
    }

    /// Visits a class and its contents. Returns an error only if a limit is reached.
    fn visit(&mut self, class: &'s FieldClass) -> Result<(), Diagnostic> {
        if self.exhausted {
            return Ok(());
        }
        if self.site.frames.len() >= limits::DEPTH {
            let message = format!("field classes are nested deeper than {} levels", limits::DEPTH);
            return Err(Diagnostic::error(Span::default(), message));
        }
        self.locator.spend(1, Span::default())?;
        match &class.kind {
            FieldKind::String(s) => self.length(s.length.as_ref())?,
            FieldKind::Blob(b) => self.length(Some(&b.length))?,
            FieldKind::Array(a) => {
                self.length(Some(&a.length))?;
                self.child(class, 0, &a.element)?;
            }
            FieldKind::Struct(s) => {
                for (i, m) in s.members.iter().enumerate() {
                    self.child(class, i, &m.class)?;
                }
            }
            FieldKind::Option(o) => {
                self.link(&o.selector, Use::Option(&o.present))?;
                self.child(class, 0, &o.class)?;
            }
            FieldKind::Variant(v) => {
                self.link(&v.selector, Use::Variant(v))?;
                for (i, o) in v.options.iter().enumerate() {
                    self.child(class, i, &o.class)?;
                }
            }
            FieldKind::BitArray(_)
            | FieldKind::BitMap(..)
            | FieldKind::Bool(..)
            | FieldKind::Integer(..)
            | FieldKind::VarInteger(_)
            | FieldKind::Float(_) => {}
        }
        Ok(())
    }

    fn child(
        &mut self,
        parent: &'s FieldClass,
        index: usize,
        class: &'s Arc<FieldClass>,
    ) -> Result<(), Diagnostic> {
        self.site.frames.push(Frame { class: parent, child: index as u32 });
        self.visit(class)?;
        self.site.frames.pop();
        Ok(())
    }

    fn length(&mut self, length: Option<&'s Length>) -> Result<(), Diagnostic> {
        match length {
            Some(Length::Dynamic(dependency)) => self.link(dependency, Use::Length),
            _ => Ok(()),
        }
    }

    /// Links the current class to its targets.
    fn link(&mut self, dependency: &'s Dependency, needed: Use<'s>) -> Result<(), Diagnostic> {
        let found = self.locator.locate(&self.site, dependency, needed).and_then(|found| {
            let ranges = check::check(&found.targets, needed, &mut self.locator)?;
            Ok((found, ranges))
        });
        match found {
            Ok((found, ranges)) => self.links.push(PendingLink {
                scope: self.site.scope,
                place: self.site.frames.iter().map(|f| f.child).collect(),
                span: dependency.span,
                target_scope: found.scope,
                targets: found.targets.into_iter().map(|(place, _)| place).collect(),
                ranges,
            }),
            Err(message) => {
                let what = needed.what();
                let location = self.locator.show(dependency);
                let message = format!("{what} location {location}: {message}");
                let around = in_root(self.site.scope, self.owner, self.schema.format);
                self.errors.push(
                    Diagnostic::error(dependency.span, message).within(dependency.span, around),
                );
                self.exhausted |= self.errors.len() >= MAX_ERRORS;
            }
        }
        self.locator.spend(PLACE_COST, dependency.span)
    }
}

/// A link whose targets have no ids yet.
struct PendingLink {
    scope: Scope,
    place: Place,
    span: Span,
    target_scope: Scope,
    targets: Vec<Place>,
    ranges: Option<Vec<RangeSet>>,
}

impl PendingLink {
    /// Adds the targets to their level, and the link to the level of the dependent field.
    fn register(self, trace: &mut Level, stream: Option<&mut Level>, event: Option<&mut Level>) {
        let PendingLink { scope, place, span, target_scope, targets, ranges } = self;
        let mut levels = [Some(trace), stream, event];
        let Some(home) = &mut levels[rank(target_scope)] else { return };
        let target = home.targets.add(target_scope, targets);
        let Some(level) = &mut levels[rank(scope)] else { return };
        level.links.push(Link { scope, place, span, target_scope, target, ranges });
    }
}

/// Returns 0 for scopes of the trace, 1 for those of a stream class, 2 for those of an
/// event type.
fn rank(scope: Scope) -> usize {
    match scope {
        Scope::PacketHeader => 0,
        Scope::PacketContext | Scope::EventHeader | Scope::CommonContext => 1,
        Scope::SpecificContext | Scope::Payload => 2,
    }
}

fn roots<'s>(
    schema: &'s Schema,
    stream: Option<&'s StreamClass>,
    event: Option<&'s EventType>,
) -> [Option<&'s FieldClass>; 6] {
    [
        schema.packet_header.as_deref(),
        stream.and_then(|s| s.packet_context.as_deref()),
        stream.and_then(|s| s.event_header.as_deref()),
        stream.and_then(|s| s.common_context.as_deref()),
        event.and_then(|e| e.specific_context.as_deref()),
        event.and_then(|e| e.payload.as_deref()),
    ]
}

/// Describes a root in the terms of the format, for example "in `event.fields` of event
/// `sched_switch`".
fn in_root(scope: Scope, owner: Owner<'_>, format: Format) -> String {
    let name = scope_name(scope, format);
    let ctf1 = format != Format::Ctf2;
    match owner {
        Owner::Trace => format!("in `{name}`"),
        Owner::Stream(s) if ctf1 => format!("in `{name}` of stream {}", s.id),
        Owner::Stream(s) => format!("in `{name}` of data stream class {}", s.id),
        Owner::Event(e) => {
            let what = if ctf1 { "event" } else { "event record class" };
            match e.name() {
                "" => format!("in `{name}` of {what} {}", e.id),
                event => format!("in `{name}` of {what} `{event}`"),
            }
        }
    }
}

fn scope_name(scope: Scope, format: Format) -> &'static str {
    match format {
        Format::Ctf1 | Format::Legacy | Format::Ftrace | Format::Perf => scope.tsdl_name(),
        Format::Ctf2 => scope.ctf2_name(),
    }
}
