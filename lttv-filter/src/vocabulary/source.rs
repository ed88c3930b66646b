//! The model of the records that a vocabulary describes, without access to records.

use std::convert::Infallible;

#[cfg(feature = "traces")]
use super::traces::Traces;
use crate::model::{FieldAccess, FieldType, Model, Resolution, SelectorError};
use crate::syntax::{Expr, Selector};
#[cfg(feature = "traces")]
use crate::trace::{bare_name, is_event, with_names};

/// The records that a vocabulary describes.
#[derive(Debug)]
pub(super) enum Source {
    /// Records of one type with these fields.
    Fields(Vec<(String, FieldType)>),
    /// The events of traces.
    #[cfg(feature = "traces")]
    Traces(Traces),
}

impl Source {
    /// Returns the number of an event type of a trace among all types.
    pub(super) fn number(&self, trace: usize, id: u32) -> u32 {
        match self {
            Source::Fields(_) => {
                _ = (trace, id);
                0
            }
            #[cfg(feature = "traces")]
            Source::Traces(traces) => traces.number(trace, id),
        }
    }
}

impl Source {
    /// Returns a tree in which names of events that stand alone are comparisons.
    pub(super) fn with_names(&self, tree: Expr) -> Expr {
        match self {
            Source::Fields(_) => tree,
            #[cfg(feature = "traces")]
            Source::Traces(traces) => with_names(&tree, &traces.models()),
        }
    }

    /// Returns `true` if a selector that stands alone is the name of an event.
    pub(super) fn is_event(&self, selector: &Selector) -> bool {
        match self {
            Source::Fields(_) => {
                _ = selector;
                false
            }
            #[cfg(feature = "traces")]
            Source::Traces(traces) => {
                bare_name(selector).is_some_and(|name| is_event(selector, &name, &traces.models()))
            }
        }
    }
}

impl Model for Source {
    type Field = ();
    type Record<'r> = Infallible;

    fn types(&self) -> u32 {
        match self {
            Source::Fields(_) => 1,
            #[cfg(feature = "traces")]
            Source::Traces(traces) => traces.types(),
        }
    }

    fn find(&self, record_type: u32, selector: &Selector) -> Resolution<()> {
        match self {
            Source::Fields(fields) => {
                _ = record_type; // there is one
                let name = selector.to_string();
                match fields.iter().find(|(known, _)| *known == name) {
                    Some((_, of)) => Resolution::Fields(vec![FieldAccess {
                        field: (),
                        field_type: of.clone(),
                        always: false,
                    }]),
                    None => Resolution::Nothing,
                }
            }
            #[cfg(feature = "traces")]
            Source::Traces(traces) => {
                let found = traces.model_of(record_type);
                found.map_or(Resolution::Nothing, |(model, id)| {
                    without_keys(model.find(id, selector))
                })
            }
        }
    }

    fn find_qualified(&self, record_type: u32, selector: &Selector) -> Resolution<()> {
        match self {
            Source::Fields(_) => {
                _ = (record_type, selector);
                Resolution::Nothing
            }
            #[cfg(feature = "traces")]
            Source::Traces(traces) => {
                let found = traces.model_of(record_type);
                found.map_or(Resolution::Nothing, |(model, id)| {
                    without_keys(model.find_qualified(id, selector))
                })
            }
        }
    }

    /// Checks nothing: an unknown field is absent.
    fn check(&self, _: &Selector) -> Result<(), SelectorError> {
        Ok(())
    }

    fn record_type(record: &Infallible) -> u32 {
        match *record {}
    }
}

/// Removes the keys by which records are read.
#[cfg(feature = "traces")]
fn without_keys<F>(found: Resolution<F>) -> Resolution<()> {
    match found {
        Resolution::Nothing => Resolution::Nothing,
        Resolution::Constant(constant) => Resolution::Constant(constant),
        Resolution::OneOf(_, values) => Resolution::OneOf((), values),
        Resolution::Fields(fields) => {
            let fields = fields.into_iter().map(|access| FieldAccess {
                field: (),
                field_type: access.field_type,
                always: access.always,
            });
            Resolution::Fields(fields.collect())
        }
    }
}
