//! Event headers.
//!
//! The writer tries the possible shapes of a header in order and takes the first that can
//! carry the event type id and the timestamp. The compact and extended headers of LTTng
//! are two shapes of one variant and need no special case.

use std::sync::Arc;

use super::bits::BitWriter;
use super::encode::{RoleField, encode};
use super::error::WriteError;
use super::roles::{clock_after, clock_after_field, fill_timestamp, for_each_role};
use super::scopes::Scopes;
use super::value::FieldValue;
use crate::schema::{
    Dependency, EventTypeId, FieldClass, FieldKind, Length, LocationOrigin, Role, Schema, Scope,
    StreamClassId,
};

/// The maximum number of shapes to try.
const SHAPES: usize = 64;

/// The data that an event header has to carry.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeaderData {
    /// The id of the event type.
    pub(super) id: u64,
    /// The clock value before the event.
    pub(super) clock: u64,
    /// The clock value of the event.
    pub(super) timestamp: u64,
}

/// The event headers of one stream.
#[derive(Debug)]
pub(super) struct Headers {
    class: Option<Arc<FieldClass>>,
    shapes: Vec<FieldValue>,
    /// `true` if the stream has a clock, so that timestamps matter.
    clock: bool,
    /// `true` if the stream has one event type only, so that the header needs no id.
    single: bool,
    /// `true` if headers can be encoded in advance.
    templated: bool,
    /// The templates by event type; `None` until they are needed.
    templates: Vec<Option<Vec<Template>>>,
}

/// An encoded header without its timestamp.
#[derive(Debug)]
struct Template {
    bits: BitWriter,
    clocks: Vec<RoleField>,
}

impl Headers {
    pub(super) fn new(schema: &Schema, stream: StreamClassId) -> Self {
        let stream_class = &schema.stream_classes[stream.index()];
        let class = stream_class.event_header.clone();
        let shapes = class.as_deref().map_or(vec![FieldValue::Auto], shapes);
        Headers {
            shapes,
            clock: stream_class.default_clock.is_some(),
            single: schema.event_types.iter().filter(|e| e.stream == stream).count() == 1,
            templated: class.as_deref().is_some_and(|c| c.align >= 8 && is_template(c, c.align)),
            templates: schema.event_types.iter().map(|_| None).collect(),
            class,
        }
    }

    /// Returns `true` if [`Headers::put`] can be used.
    pub(super) fn templated(&self) -> bool {
        self.templated
    }

    /// Appends the header of an event. Valid only if [`templated`](Headers::templated).
    pub(super) fn put(
        &mut self,
        w: &mut BitWriter,
        event_type: EventTypeId,
        header_data: HeaderData,
    ) -> Result<(), WriteError> {
        let index = event_type.index();
        if self.templates[index].is_none() {
            self.templates[index] = Some(self.make_templates(header_data.id)?);
        }
        let HeaderData { clock, timestamp, .. } = header_data;
        let templates = self.templates[index].as_deref().unwrap_or_default();
        let fits = |t: &&Template| {
            let after = t.clocks.iter().fold(clock, |c, m| clock_after(c, m.bits(), timestamp));
            !self.clock || after == timestamp
        };
        let gap = WriteError::ClockGap { from: clock, to: timestamp };
        let template = templates.iter().find(fits).ok_or(gap)?;
        w.align(self.class.as_ref().map_or(1, |c| c.align));
        let base = w.position();
        w.append(&template.bits);
        for role_field in &template.clocks {
            role_field.overwrite(w, base, timestamp);
        }
        Ok(())
    }

    fn make_templates(&self, id: u64) -> Result<Vec<Template>, WriteError> {
        let mut templates = Vec::new();
        for shape in &self.shapes {
            let mut scopes = Scopes::default();
            let at_zero = HeaderData { id, clock: 0, timestamp: 0 };
            let carries =
                self.try_header(&mut scopes, shape.clone(), at_zero, &[Scope::EventHeader]);
            let (mut bits, mut role_fields) = (BitWriter::default(), Vec::new());
            if let (Ok(()), Some(class)) = (&carries, &self.class) {
                encode(
                    &mut bits,
                    class,
                    &scopes.values[Scope::EventHeader as usize],
                    &mut role_fields,
                )
                .map_err(|e| e.in_scope(Scope::EventHeader))?;
            }
            if carries.is_ok() {
                role_fields.retain(|m| m.roles.has(Role::ClockTimestamp));
                templates.push(Template { bits, clocks: role_fields });
            }
        }
        if templates.is_empty() {
            return Err(WriteError::NoRoomForId { what: "event type", id });
        }
        Ok(templates)
    }

    /// Sets the event header and completes it and the other given scopes. `header` is the
    /// value from the caller.
    pub(super) fn set_header(
        &self,
        scopes: &mut Scopes,
        header: FieldValue,
        header_data: HeaderData,
        complete: &[Scope],
    ) -> Result<(), WriteError> {
        if header != FieldValue::Auto || self.class.is_none() {
            return self.try_header(scopes, header, header_data, complete);
        }
        let mut first_error = None;
        for shape in &self.shapes {
            let mut attempt = scopes.clone();
            match self.try_header(&mut attempt, shape.clone(), header_data, complete) {
                Ok(()) => {
                    *scopes = attempt;
                    return Ok(());
                }
                Err(e) => first_error = first_error.or(Some(e)),
            }
        }
        Err(first_error
            .unwrap_or(WriteError::NoRoomForId { what: "event type", id: header_data.id }))
    }

    fn try_header(
        &self,
        scopes: &mut Scopes,
        header: FieldValue,
        header_data: HeaderData,
        complete: &[Scope],
    ) -> Result<(), WriteError> {
        let HeaderData { id, clock, timestamp } = header_data;
        scopes.set(Scope::EventHeader, self.class.as_ref(), header)?;
        let slot = Scope::EventHeader as usize;
        if let Some(class) = &self.class {
            fill(class, &mut scopes.values[slot], header_data);
        }
        scopes.complete(complete)?;
        let (mut last_id, mut after) = (None, clock);
        if let Some(class) = &self.class {
            for_each_role(class, &mut scopes.values[slot], &mut |roles, bits, value| {
                if roles.has(Role::EventTypeId) {
                    last_id = value.number();
                }
                if roles.has(Role::ClockTimestamp) {
                    after = clock_after_field(after, bits, value);
                }
            });
        }
        if last_id.map_or(!self.single, |last| last != i128::from(id)) {
            return Err(WriteError::NoRoomForId { what: "event type", id });
        }
        if self.clock && after != timestamp {
            return Err(WriteError::ClockGap { from: clock, to: timestamp });
        }
        Ok(())
    }
}

/// Sets the last id field to the id and all timestamp fields to the timestamp, where they
/// are automatic. Readers use the last id field; earlier ones may be selectors.
fn fill(class: &FieldClass, header: &mut FieldValue, header_data: HeaderData) {
    let mut ids = 0;
    for_each_role(class, header, &mut |roles, _, _| {
        ids += usize::from(roles.has(Role::EventTypeId));
    });
    let mut clock = header_data.clock;
    for_each_role(class, header, &mut |roles, bits, value| {
        if roles.has(Role::EventTypeId) {
            ids -= 1;
            let fits = bits.is_none_or(|bits| bits >= 64 || header_data.id >> bits == 0);
            if ids == 0 && *value == FieldValue::Auto && fits {
                *value = FieldValue::Uint(header_data.id);
            }
        }
        if roles.has(Role::ClockTimestamp) {
            fill_timestamp(clock, header_data.timestamp, bits, value);
            clock = clock_after_field(clock, bits, value);
        }
    });
}

/// Returns all combinations of variant options and presence of option fields that a class
/// allows, in order. Other fields are automatic.
fn shapes(class: &FieldClass) -> Vec<FieldValue> {
    match &class.kind {
        FieldKind::Struct(s) => {
            let mut all = vec![Vec::new()];
            for member in &s.members {
                let parts = shapes(&member.class);
                let longer = all.iter().flat_map(|before: &Vec<FieldValue>| {
                    parts.iter().map(|part| [&before[..], std::slice::from_ref(part)].concat())
                });
                all = longer.take(SHAPES).collect();
            }
            all.into_iter().map(FieldValue::Struct).collect()
        }
        FieldKind::Variant(v) => {
            let options = v.options.iter().enumerate();
            let shaped =
                options.flat_map(|(i, o)| shapes(&o.class).into_iter().map(move |s| (i, s)));
            shaped.map(|(i, s)| FieldValue::variant(i, s)).take(SHAPES).collect()
        }
        FieldKind::Option(o) => {
            let present = shapes(&o.class).into_iter().map(FieldValue::present);
            std::iter::once(FieldValue::absent()).chain(present).take(SHAPES).collect()
        }
        _ => vec![FieldValue::Auto],
    }
}

/// Returns `true` if the encoding depends neither on the position (inner alignments are
/// at most the outer one) nor on values outside of the header, and if every timestamp has
/// a fixed place.
fn is_template(class: &FieldClass, align: u32) -> bool {
    let inside =
        |d: &Dependency| !matches!(d.origin, LocationOrigin::Scope(s) if s != Scope::EventHeader);
    let length = |l: &Length| match l {
        Length::Static(_) => true,
        Length::Dynamic(d) => inside(d),
    };
    class.align <= align
        && match &class.kind {
            FieldKind::VarInteger(i) => !i.roles.has(Role::ClockTimestamp),
            FieldKind::String(s) => s.length.as_ref().is_none_or(length),
            FieldKind::Blob(b) => length(&b.length),
            FieldKind::Array(a) => length(&a.length) && is_template(&a.element, align),
            FieldKind::Struct(s) => s.members.iter().all(|m| is_template(&m.class, align)),
            FieldKind::Option(o) => inside(&o.selector) && is_template(&o.class, align),
            FieldKind::Variant(v) => {
                inside(&v.selector) && v.options.iter().all(|o| is_template(&o.class, align))
            }
            _ => true,
        }
}

/// Returns `true` if a length or selector under a class is in the event header.
pub(super) fn needs_header(class: &FieldClass) -> bool {
    let there = |d: &Dependency| d.origin == LocationOrigin::Scope(Scope::EventHeader);
    let length = |l: &Length| matches!(l, Length::Dynamic(d) if there(d));
    match &class.kind {
        FieldKind::String(s) => s.length.as_ref().is_some_and(length),
        FieldKind::Blob(b) => length(&b.length),
        FieldKind::Array(a) => length(&a.length) || needs_header(&a.element),
        FieldKind::Struct(s) => s.members.iter().any(|m| needs_header(&m.class)),
        FieldKind::Option(o) => there(&o.selector) || needs_header(&o.class),
        FieldKind::Variant(v) => {
            there(&v.selector) || v.options.iter().any(|o| needs_header(&o.class))
        }
        _ => false,
    }
}
