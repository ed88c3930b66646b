//! The forms of the output.

use std::io;

use lttv_common::spans::Shown;
use lttv_common::text::output::Output;

use super::records::{Csv, Json};
use super::text::Lines;

/// A form of the output.
#[derive(Debug)]
pub(super) enum Form {
    Lines(Box<Lines>),
    Csv(Csv),
    Json(Json),
}

impl Form {
    pub(super) fn write(
        &mut self,
        shown: &mut Shown<'_, '_, '_>,
        out: &mut Output,
    ) -> io::Result<()> {
        match self {
            Form::Lines(lines) => lines.write(shown, out),
            Form::Csv(csv) => csv.write(shown, out),
            Form::Json(json) => json.write(shown, out),
        }
    }

    /// Writes the names of the columns, if there was no span.
    pub(super) fn finish(&mut self, out: &mut Output) -> io::Result<()> {
        match self {
            Form::Csv(csv) => csv.head(out),
            Form::Lines(_) | Form::Json(_) => Ok(()),
        }
    }
}
