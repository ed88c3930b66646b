//! The events and times of the two parts that are compared.

mod command;
mod handled;
mod side;
mod waits;

pub(crate) use handled::Handled;
pub(crate) use side::{Part, Side};
