//! Writing of slot numbers into the class trees.

use std::sync::Arc;

use super::{Level, Link, Plan, rank};
use crate::metadata::{Diagnostic, Span};
use crate::schema::{FieldClass, FieldKind, Length, Schema, SlotId, Slots};

/// The maximum number of members and options that are copied because a shared class needs
/// different slots at different uses.
const MAX_COPIES: usize = 2 << 20;

/// Mutable root classes, in decoding order.
type RootsMut<'a> = [Option<&'a mut Arc<FieldClass>>; 6];

/// Numbers the slots and sets them in targets and dependent fields.
pub(super) fn apply(plan: &Plan, schema: &mut Schema) -> Result<(), Diagnostic> {
    let mut editor = Editor { copies: MAX_COPIES };
    let (trace, next) = number(&plan.trace, 0)?;
    schema.slots = Slots(next);
    let roots = [schema.packet_header.as_mut(), None, None, None, None, None];
    editor.set(&plan.trace, roots, &[&trace])?;

    let mut streams = Vec::with_capacity(plan.streams.len());
    for (class, level) in schema.stream_classes.iter_mut().zip(&plan.streams) {
        let (slots, next) = number(level, schema.slots.0)?;
        class.slots = Slots(next);
        let context = class.packet_context.as_mut();
        let common = class.common_context.as_mut();
        let roots = [None, context, class.event_header.as_mut(), common, None, None];
        editor.set(level, roots, &[&trace, &slots])?;
        streams.push((slots, next));
    }

    let no_stream = (Vec::new(), schema.slots.0);
    let mut levels = plan.events.iter().peekable();
    for (index, event) in schema.event_types.iter_mut().enumerate() {
        let (stream, first) = streams.get(event.stream.index()).unwrap_or(&no_stream);
        let Some((_, level)) = levels.next_if(|(of, _)| *of == index) else {
            event.slots = Slots(*first);
            continue;
        };
        let (slots, next) = number(level, *first)?;
        event.slots = Slots(next);
        let context = event.specific_context.as_mut();
        let roots = [None, None, None, None, context, event.payload.as_mut()];
        editor.set(level, roots, &[&trace, stream, &slots])?;
    }
    Ok(())
}

fn number(level: &Level, first: u16) -> Result<(Vec<SlotId>, u16), Diagnostic> {
    level.targets.number(first).ok_or_else(|| {
        let span = level.links.first().map_or(Span::default(), |l| l.span);
        Diagnostic::error(span, format!("more than {} length and selector fields", u16::MAX))
    })
}

struct Editor {
    copies: usize,
}

impl Editor {
    /// Sets the slots in all targets and dependent fields of a level. `slots` are those
    /// of the outer levels and then of this level.
    fn set(
        &mut self,
        level: &Level,
        mut roots: RootsMut<'_>,
        slots: &[&[SlotId]],
    ) -> Result<(), Diagnostic> {
        for ((scope, place), &id) in &level.targets.ids {
            let slot = Some(slots[rank(*scope)][id as usize]);
            let root = roots[*scope as usize].as_deref_mut();
            let Some(class) = self.descend(root, place, Span::default())? else { continue };
            match &mut class.kind {
                FieldKind::Integer(_, i) | FieldKind::VarInteger(i) => i.slot = slot,
                FieldKind::Bool(_, s) => *s = slot,
                _ => {}
            }
        }
        for link in &level.links {
            let slot = slots[rank(link.target_scope)][link.target as usize];
            self.set_link(roots[link.scope as usize].as_deref_mut(), link, slot)?;
        }
        Ok(())
    }

    fn set_link(
        &mut self,
        root: Option<&mut Arc<FieldClass>>,
        link: &Link,
        slot: SlotId,
    ) -> Result<(), Diagnostic> {
        let Some(class) = self.descend(root, &link.place, link.span)? else { return Ok(()) };
        let dependency = match &mut class.kind {
            FieldKind::String(s) => dynamic(s.length.as_mut()),
            FieldKind::Blob(b) => dynamic(Some(&mut b.length)),
            FieldKind::Array(a) => dynamic(Some(&mut a.length)),
            FieldKind::Option(o) => Some(&mut o.selector),
            FieldKind::Variant(v) => {
                if let Some(sets) = &link.ranges {
                    for (option, ranges) in v.options.iter_mut().zip(sets) {
                        option.ranges.clone_from(ranges);
                    }
                }
                Some(&mut v.selector)
            }
            _ => None,
        };
        if let Some(dependency) = dependency {
            dependency.slot = Some(slot);
        }
        Ok(())
    }

    /// Returns the class at a place, copying shared classes on the way.
    fn descend<'a>(
        &mut self,
        root: Option<&'a mut Arc<FieldClass>>,
        place: &[u32],
        span: Span,
    ) -> Result<Option<&'a mut FieldClass>, Diagnostic> {
        let Some(root) = root else { return Ok(None) };
        let mut class = self.own(root, span)?;
        for &index in place {
            let child = match &mut class.kind {
                FieldKind::Struct(s) => s.members.get_mut(index as usize).map(|m| &mut m.class),
                FieldKind::Variant(v) => v.options.get_mut(index as usize).map(|o| &mut o.class),
                FieldKind::Array(a) => Some(&mut a.element),
                FieldKind::Option(o) => Some(&mut o.class),
                _ => None,
            };
            let Some(child) = child else { return Ok(None) };
            class = self.own(child, span)?;
        }
        Ok(Some(class))
    }

    fn own<'a>(
        &mut self,
        class: &'a mut Arc<FieldClass>,
        span: Span,
    ) -> Result<&'a mut FieldClass, Diagnostic> {
        if Arc::strong_count(class) > 1 {
            let parts = match &class.kind {
                FieldKind::Struct(s) => s.members.len(),
                FieldKind::Variant(v) => v.options.iter().map(|o| 1 + o.ranges.len()).sum(),
                _ => 1,
            };
            self.copies = self.copies.checked_sub(parts).ok_or_else(|| {
                let what = "field classes with lengths or selectors are reused too often";
                Diagnostic::error(span, format!("{what} (limit: {MAX_COPIES} members)"))
            })?;
        }
        Ok(Arc::make_mut(class))
    }
}

fn dynamic(length: Option<&mut Length>) -> Option<&mut crate::schema::Dependency> {
    match length {
        Some(Length::Dynamic(dependency)) => Some(dependency),
        _ => None,
    }
}
