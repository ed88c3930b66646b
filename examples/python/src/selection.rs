//! The events that a user selects.

use std::sync::Arc;

use ltt_read::Trace;
use lttv_common::time::Window;
use lttv_filter::{Environment, Expression, Zone};
use lttv_state::filter::KernelFilters;
use pyo3::prelude::*;

use crate::errors::{TraceWarning, of_filter, warn};
use crate::times::{Time, window};

/// One text, or several ones.
#[derive(Debug, Clone, FromPyObject)]
pub(crate) enum Texts {
    /// One text.
    One(String),
    /// Several texts.
    Several(Vec<String>),
}

/// One number, or several ones.
#[derive(Debug, Clone, FromPyObject)]
pub(crate) enum Numbers {
    /// One number.
    One(u32),
    /// Several numbers.
    Several(Vec<u32>),
}

impl Texts {
    pub(crate) fn into_vec(self) -> Vec<String> {
        match self {
            Texts::One(text) => vec![text],
            Texts::Several(texts) => texts,
        }
    }
}

/// The choice of a user, as given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choice {
    pub(crate) events: Option<Texts>,
    pub(crate) filter: Option<Texts>,
    pub(crate) cpu: Option<Numbers>,
    pub(crate) begin: Option<Time>,
    pub(crate) end: Option<Time>,
}

/// The events that are selected.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    pub(crate) filters: Option<Arc<KernelFilters>>,
    pub(crate) window: Window,
}

impl Choice {
    /// Returns the condition of the names and CPUs, and the filters.
    fn expressions(&self) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(events) = self.events.clone() {
            let names = events.into_vec();
            let names: Vec<String> =
                names.iter().map(|name| format!("name =~ {}", quoted(name))).collect();
            // No name is no event.
            all.push(if names.is_empty() { "name == \"\"".to_owned() } else { names.join(" || ") });
        }
        if let Some(cpu) = &self.cpu {
            let numbers = match cpu {
                Numbers::One(number) => vec![*number],
                Numbers::Several(numbers) => numbers.clone(),
            };
            let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
            all.push(format!("cpu in ({})", numbers.join(", ")));
        }
        all.extend(self.filter.clone().map(Texts::into_vec).unwrap_or_default());
        all
    }

    /// Returns the filter; `None` if all events are selected.
    pub(crate) fn expression(&self) -> PyResult<Option<Expression>> {
        let all = self.expressions();
        let texts = all.iter().map(String::as_str);
        let parsed = (!all.is_empty()).then(|| Expression::parse_all(texts)).transpose();
        parsed.map_err(|error| of_filter(&error))
    }

    /// Returns the selection within traces. Warns of parts of the filter that are never or always true.
    pub(crate) fn compile(&self, py: Python<'_>, traces: &[Arc<Trace>]) -> PyResult<Selection> {
        let environment = Environment::new().in_zone(Zone::UTC);
        let compile = |expression| KernelFilters::new(&expression, traces, &environment);
        let filters = self.expression()?.map(compile).transpose();
        let filters = filters.map_err(|error| of_filter(&error))?;
        if let Some(filters) = filters.as_ref().filter(|_| self.filter.is_some()) {
            let notes = filters.filters().notes().render(false);
            if !notes.is_empty() {
                warn::<TraceWarning>(py, notes.trim_end())?;
            }
        }
        let window = window(traces, self.begin.as_ref(), self.end.as_ref())?;
        Ok(Selection { filters: filters.map(Arc::new), window })
    }
}

/// Returns a text in the quotes of filters.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
