//! Reading of single values of events by name, found once per event type.

use std::sync::Arc;

use ltt_read::schema::{EventTypeId, FieldKind, Scope};
use ltt_read::{Event, Field, Trace};
use lttv_common::text::clock_text::ClockRange;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::times::Ns;
use crate::values::{Builder, Slots, scalar};

/// The common parts of the events of one type.
#[derive(Debug)]
pub(super) struct TypeInfo {
    pub(super) name: Py<PyString>,
    /// The range of the times.
    pub(super) range: ClockRange,
    slots: Slots,
    /// The values that were requested, by name. Interned names are found by their addresses.
    by_name: Vec<(Py<PyString>, Getter)>,
    /// The values of rows, and the number of their form.
    row: Option<(u64, Box<[Getter]>)>,
}

/// The way to read a value of the events of one type.
#[derive(Debug)]
enum Getter {
    Time(ClockRange),
    Name,
    Cpu,
    Trace,
    Stream,
    /// A field without parts.
    Scalar(Box<Field>),
    /// A field with parts: its scope and name.
    Compound(Scope, Py<PyString>),
    Missing,
}

/// The scopes in which fields are looked up by name.
const SCOPES: [Scope; 3] = [Scope::Payload, Scope::SpecificContext, Scope::CommonContext];

/// The scopes of contexts, the last of which wins.
const CONTEXTS: [Scope; 2] = [Scope::CommonContext, Scope::SpecificContext];

impl TypeInfo {
    pub(super) fn new(py: Python<'_>, trace: &Trace, id: EventTypeId) -> TypeInfo {
        let name = PyString::intern(py, trace.event_type(id).name()).unbind();
        let range = ClockRange::of(trace.schema(), trace.event_type(id));
        TypeInfo { name, range, slots: Slots::default(), by_name: Vec::new(), row: None }
    }

    /// Returns the value of a field; `None` if there is none of this name, or if it is an absent option.
    pub(super) fn field<'py>(
        &mut self,
        event: &Event<'_>,
        name: &Bound<'py, PyString>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = name.py();
        let is_same = |(known, _): &(Py<PyString>, Getter)| known.as_ptr() == name.as_ptr();
        let found = match self.by_name.iter().position(is_same) {
            Some(found) => found,
            None => {
                let text = name.to_cow()?;
                let interned = PyString::intern(py, &text);
                let is_same =
                    |(known, _): &(Py<PyString>, Getter)| known.as_ptr() == interned.as_ptr();
                match self.by_name.iter().position(is_same) {
                    Some(found) => found,
                    None => {
                        let getter = Getter::of_field(py, event.trace(), event.type_id(), &text);
                        self.by_name.push((interned.unbind(), getter));
                        self.by_name.len() - 1
                    }
                }
            }
        };
        let TypeInfo { slots, by_name, name, .. } = self;
        by_name[found].1.get(py, event, slots, name)
    }

    /// Passes the values of a row to `take`.
    pub(super) fn row<'py>(
        &mut self,
        py: Python<'py>,
        event: &Event<'_>,
        (form, columns): (u64, &[String]),
        mut take: impl FnMut(Bound<'py, PyAny>) -> PyResult<()>,
    ) -> PyResult<()> {
        let TypeInfo { slots, row, name, .. } = self;
        if row.as_ref().is_none_or(|(of, _)| *of != form) {
            let getter =
                |column: &String| Getter::of_column(py, event.trace(), event.type_id(), column);
            *row = Some((form, columns.iter().map(getter).collect()));
        }
        for getter in row.iter().flat_map(|(_, row)| row) {
            let value = getter.get(py, event, slots, name)?;
            take(value.unwrap_or_else(|| py.None().into_bound(py)))?;
        }
        Ok(())
    }

    /// Adds the payload to a dictionary.
    pub(super) fn payload(&mut self, event: &Event<'_>, to: &Bound<'_, PyDict>) -> PyResult<()> {
        let mut builder = Builder::new(to.clone(), &mut self.slots);
        event.visit(Scope::Payload, &mut builder);
        builder.finish()
    }

    /// Adds the contexts to a dictionary.
    pub(super) fn contexts(&mut self, event: &Event<'_>, to: &Bound<'_, PyDict>) -> PyResult<()> {
        for scope in CONTEXTS.into_iter().filter(|scope| event.has_scope(*scope)) {
            let mut builder = Builder::new(to.clone(), &mut self.slots);
            event.visit(scope, &mut builder);
            builder.finish()?;
        }
        Ok(())
    }
}

/// Adds the fields of a header or packet context to a dictionary.
pub(super) fn outer(event: &Event<'_>, scope: Scope, to: &Bound<'_, PyDict>) -> PyResult<()> {
    // Its fields have numbers of their own.
    let mut slots = Slots::default();
    let mut builder = Builder::new(to.clone(), &mut slots);
    event.visit(scope, &mut builder);
    builder.finish()
}

impl Getter {
    fn of_field(py: Python<'_>, trace: &Arc<Trace>, id: EventTypeId, name: &str) -> Getter {
        let found = SCOPES.iter().find_map(|scope| Getter::in_scope(py, trace, id, *scope, name));
        found.unwrap_or(Getter::Missing)
    }

    fn in_scope(
        py: Python<'_>,
        trace: &Arc<Trace>,
        id: EventTypeId,
        scope: Scope,
        name: &str,
    ) -> Option<Getter> {
        let members = trace.schema().root(id, scope)?.members();
        let member = members.iter().find(|member| &*member.name == name)?;
        let is_compound = matches!(
            member.class.kind,
            FieldKind::Array(_)
                | FieldKind::Struct(_)
                | FieldKind::Option(_)
                | FieldKind::Variant(_)
        );
        Some(match trace.field(id, scope, name).filter(|_| !is_compound) {
            Some(field) => Getter::Scalar(Box::new(field)),
            None => Getter::Compound(scope, PyString::intern(py, name).unbind()),
        })
    }

    fn of_column(py: Python<'_>, trace: &Arc<Trace>, id: EventTypeId, name: &str) -> Getter {
        let within = |scopes: &[Scope], name: &str| {
            scopes.iter().find_map(|scope| Getter::in_scope(py, trace, id, *scope, name))
        };
        match name {
            "ts" => Getter::Time(ClockRange::of(trace.schema(), trace.event_type(id))),
            "name" => Getter::Name,
            "cpu" => Getter::Cpu,
            "trace" => Getter::Trace,
            "stream" => Getter::Stream,
            _ => match (name.strip_prefix("fields."), name.strip_prefix("context.")) {
                (Some(name), _) => within(&SCOPES[..1], name).unwrap_or(Getter::Missing),
                (_, Some(name)) => within(&SCOPES[1..], name).unwrap_or(Getter::Missing),
                _ => Getter::of_field(py, trace, id, name),
            },
        }
    }

    fn get<'py>(
        &self,
        py: Python<'py>,
        event: &Event<'_>,
        slots: &mut Slots,
        of_type: &Py<PyString>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self {
            Getter::Time(range) => {
                event.timestamp().map(|time| Ns::of(time, *range).into_bound_py_any(py))
            }
            Getter::Name => return Ok(Some(of_type.bind(py).clone().into_any())),
            Getter::Cpu => event.tracefile().cpu().map(|cpu| cpu.into_bound_py_any(py)),
            Getter::Trace => Some(event.trace_index().0.into_bound_py_any(py)),
            Getter::Stream => Some(event.tracefile().name().into_bound_py_any(py)),
            Getter::Scalar(field) => {
                let Some(value) = event.get(field) else { return Ok(None) };
                return scalar(py, slots, field.info(), &value);
            }
            Getter::Compound(scope, name) => {
                let all = PyDict::new(py);
                let mut builder = Builder::new(all.clone(), slots);
                event.visit(*scope, &mut builder);
                builder.finish()?;
                return all.get_item(name);
            }
            Getter::Missing => None,
        }
        .transpose()
    }
}
