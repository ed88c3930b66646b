//! Records of events.

use std::borrow::Cow;

use ltt_read::schema::Encoding;
use ltt_read::{Event, Value};

use super::fields::TraceField;
use super::state::StateView;
use crate::compile::record::Record;

/// An event, and the state at the event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TraceRecord<'a, S> {
    pub(crate) event: Event<'a>,
    pub(crate) state: &'a S,
}

impl<S: StateView> Record<TraceField> for TraceRecord<'_, S> {
    #[inline(always)]
    fn record_type(&self) -> u32 {
        self.event.type_id().0
    }

    #[inline(always)]
    fn integer(&self, field: &TraceField) -> Option<u64> {
        match field {
            TraceField::Plain(field) => self.event.integer(field),
            TraceField::Time => self.event.timestamp().map(|time| time.as_ns() as u64),
            TraceField::Tracefile => Some(self.event.tracefile_index().0 as u64),
            TraceField::Cycles => self.event.cycles(),
            TraceField::State(field) => self.state.integer(*field, &self.event),
            TraceField::Any(field) => match self.event.get(field)? {
                Value::Uint(n) | Value::Bits(n) => Some(n),
                Value::Sint(n) => Some(n as u64),
                Value::Bool(truth) => Some(truth.into()),
                _ => None,
            },
            TraceField::Text(_) => None,
        }
    }

    fn float(&self, field: &TraceField) -> Option<f64> {
        match field {
            TraceField::Any(field) => self.event.get(field)?.as_f64(),
            _ => None,
        }
    }

    fn text<'t>(&'t self, field: &TraceField) -> Option<Cow<'t, [u8]>> {
        match field {
            TraceField::Text(field) => self.event.text(field).map(Cow::Borrowed),
            TraceField::Any(field) => {
                let text = self.event.get(field)?.as_str()?;
                Some(match text.encoding {
                    Encoding::Utf8 => Cow::Borrowed(text.bytes),
                    _ => Cow::Owned(text.to_str_lossy().into_owned().into_bytes()),
                })
            }
            TraceField::State(field) => self.state.text(*field, &self.event),
            _ => None,
        }
    }

    fn has(&self, field: &TraceField) -> bool {
        match field {
            TraceField::Plain(field) | TraceField::Text(field) | TraceField::Any(field) => {
                self.event.get(field).is_some()
            }
            // Integer fields are tested by `integer`.
            TraceField::State(field) => self.state.text(*field, &self.event).is_some(),
            TraceField::Time | TraceField::Cycles | TraceField::Tracefile => true,
        }
    }
}
