//! Printing spans.

use std::io;

use lttv_common::spans::Shown;
use lttv_common::text::output::Output;

use super::receiver::SpanReceiver;
use super::records::{Csv, Json};
use super::text::Lines;

/// The form of the output.
#[derive(Debug)]
pub(super) enum Form {
    Lines(Box<Lines>),
    Csv(Csv),
    Json(Json),
}

/// Prints spans.
#[derive(Debug)]
pub(super) struct Printer {
    pub(super) form: Form,
    pub(super) out: Output,
}

impl SpanReceiver for Printer {
    fn span(&mut self, shown: &mut Shown<'_, '_, '_>) -> io::Result<()> {
        let Printer { form, out } = self;
        match form {
            Form::Lines(lines) => lines.write(shown, out),
            Form::Csv(csv) => csv.write(shown, out),
            Form::Json(json) => json.write(shown, out),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Form::Csv(csv) = &mut self.form {
            csv.head(&mut self.out)?;
        }
        self.out.finish()
    }
}
