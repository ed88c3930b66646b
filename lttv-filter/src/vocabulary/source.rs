//! The model of the records that a vocabulary describes, without access to records.

use std::convert::Infallible;

#[cfg(feature = "traces")]
use super::traces::Traces;
use crate::model::{FieldAccess, FieldType, Model, Resolution, SelectorError};
use crate::syntax::Selector;

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
