//! Iteration over events.

mod event;
mod found;
mod getter;
mod iterator;
mod place;
mod reader;
mod recording;

pub(crate) use event::Event;
pub(crate) use iterator::{Events, Rows};
pub(crate) use reader::{OnDamage, Reader};
pub(crate) use recording::Follow;
