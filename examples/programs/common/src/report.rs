//! The messages of programs on standard error, and their exit status.
//!
//! Every program runs in [`main`] and writes all messages with its [`Report`]. So a full
//! or closed standard error does no harm, control characters have no effect on a terminal,
//! and the exit status has one meaning in all programs:
//!
//! * 0: everything was read and written, or the reader of the output closed it early;
//! * 1: something could not be read or written;
//! * 2: the command line is wrong ([`Usage`]);
//! * 130: the user has interrupted the program ([`Interrupted`]), as in shells.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use ltt_read::ErrorChain;
use lttv_filter::{FilterError, FilterNotes};

use crate::archives;
use crate::escape;
use crate::host::{self, Severity};
use crate::inputs::IsInput;
use crate::losses::Losses;
use crate::progress;
use crate::text::output::Output;
use crate::text::palette::Color;

/// The last paragraph of the help of every program.
pub const EXIT_STATUS: &str = "\
Exit status: 0 if everything was read and written; 1 if something could not be read or written;
2 for a wrong command line.";

/// An error in a command line.
///
/// The exit status is 2 if it is among the causes of an error.
#[derive(Debug, thiserror::Error)]
#[error("{plain}")]
pub struct Usage {
    plain: String,
    /// The text with colours, for a terminal.
    styled: Option<String>,
}

impl Usage {
    /// Creates an error with a description of the fault.
    pub fn new(what: impl Display) -> Self {
        Usage { plain: what.to_string(), styled: None }
    }

    /// Creates an error of a filter: a line about its origin, then the drawn diagnostic.
    pub fn filter(from: &str, error: &FilterError) -> Self {
        let below = |drawn: String| format!("{from}\n{}", drawn.trim_end());
        Usage { plain: below(error.render(false)), styled: Some(below(error.render(true))) }
    }
}

/// The end of a program by an interrupt from the user, after the results so far were written.
///
/// The exit status is 130 if it is the error of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted after {events} events")]
pub struct Interrupted {
    /// The number of events read.
    pub events: u64,
}

impl Interrupted {
    /// The exit status, as in shells.
    pub const STATUS: u8 = 130;
}

/// The messages of a program to standard error.
#[derive(Debug, Clone)]
pub struct Report {
    program: &'static str,
    is_damaged: bool,
}

impl Report {
    /// Creates the report of a program, without errors so far.
    pub fn new(program: &'static str) -> Self {
        Report { program, is_damaged: false }
    }

    /// Reports a failure to read or write something: the exit status becomes 1.
    ///
    /// The message contains the causes of an error.
    pub fn error<'e>(&mut self, error: impl Into<Box<dyn Error + 'e>>) {
        self.is_damaged = true;
        self.tell(Severity::Error, &ErrorChain(&*error.into()).to_string());
    }

    /// Reports the errors of a merge or a context, and the number of those omitted.
    pub fn errors(&mut self, errors: &[ltt_read::Error], omitted: u64) {
        errors.iter().for_each(|error| self.error(error));
        match omitted {
            0 => {}
            1 => self.error("… and 1 more error"),
            _ => self.error(format!("… and {omitted} more errors")),
        }
    }

    /// Reports something that does not change the exit status.
    pub fn warning(&self, text: impl Display) {
        self.tell(Severity::Warning, &text.to_string());
    }

    /// Reports the number of notices omitted.
    pub fn notices_omitted(&self, omitted: u64) {
        match omitted {
            0 => {}
            1 => self.warning("… and 1 more warning"),
            _ => self.warning(format_args!("… and {omitted} more warnings")),
        }
    }

    /// Reports the parts of a filter that are never or always true, if there are any.
    pub fn filter_notes(&self, notes: &FilterNotes) {
        let (plain, styled) = (notes.render(false), notes.render(true));
        if !plain.is_empty() {
            line_styled(plain.trim_end(), styled.trim_end());
        }
    }

    /// Writes a message that is no fault.
    pub fn message(&self, text: impl Display) {
        self.tell(Severity::Note, &text.to_string());
    }

    fn tell(&self, severity: Severity, text: &str) {
        if let Some(host) = host::current() {
            return host.add_message(severity, text.to_owned());
        }
        let kind = match severity {
            Severity::Error => "error: ",
            Severity::Warning => "warning: ",
            Severity::Note => "",
        };
        line(&format!("{}: {kind}{text}", self.program));
    }

    /// Reports the sum of all losses, if there are any. `events` is the number of events that
    /// were recorded in the window, if it is known.
    pub fn losses(&self, losses: &Losses, events: Option<u64>) {
        if let Some(summary) = losses.summary(events) {
            self.message(summary);
        }
    }

    /// Returns `true` if something could not be read or written.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }
}

/// Writes one or more lines to standard error. They are lost if it is full or closed. Within another program,
/// they are a warning for the [host].
pub fn line(text: &str) {
    if let Some(host) = host::current() {
        return host.add_message(Severity::Warning, text.to_owned());
    }
    write_raw(&escape::lines(text));
}

/// Writes lines to standard error: in colours if it is a terminal and nothing has to be
/// escaped.
fn line_styled(plain: &str, styled: &str) {
    let is_clean = matches!(escape::lines(plain), Cow::Borrowed(_));
    match is_clean && Color::Auto.is_on(io::stderr().is_terminal()) {
        true => write_raw(styled),
        false => line(plain),
    }
}

fn write_raw(text: &str) {
    let text = format!("{text}\n");
    // A failure cannot be reported anywhere.
    progress::suspended(|| _ = io::stderr().write_all(text.as_bytes()));
}

/// Parses the arguments of a program, runs it, reports its error, and returns the exit
/// status.
pub fn main<C: Parser>(
    program: &'static str,
    run: impl FnOnce(&C, &mut Report) -> Result<(), Box<dyn Error>>,
) -> ExitCode {
    match C::try_parse() {
        Ok(cli) => main_with_status(program, |report| run(&cli, report).map(|()| None)),
        Err(answer) => print_answer(program, &answer),
    }
}

/// Runs a program that parses its arguments itself, reports its error, and returns the exit
/// status: the program's own one if it returns one. The error may also be an answer of clap.
pub fn main_with_status(
    program: &'static str,
    run: impl FnOnce(&mut Report) -> Result<Option<u8>, Box<dyn Error>>,
) -> ExitCode {
    let mut report = Report::new(program);
    let result = run(&mut report);
    archives::remove();
    let error = match result {
        Ok(Some(status)) => return ExitCode::from(status),
        Ok(None) if report.is_damaged => return ExitCode::FAILURE,
        Ok(None) => return ExitCode::SUCCESS,
        Err(error) => error,
    };
    let error = match error.downcast::<clap::Error>() {
        Ok(answer) => return print_answer(program, &answer),
        Err(error) => error,
    };
    // The reader of the output has closed the pipe.
    if is_closed_pipe(&*error) {
        return ExitCode::SUCCESS;
    }
    if causes(&*error).any(|cause| cause.is::<Interrupted>()) {
        report.message(ErrorChain(&*error));
        return ExitCode::from(Interrupted::STATUS);
    }
    let plain = format!("{program}: error: {}", ErrorChain(&*error));
    let usage = causes(&*error).find_map(|cause| cause.downcast_ref::<Usage>());
    match usage.and_then(|usage| usage.styled.as_deref()) {
        Some(styled) => line_styled(&plain, &format!("{program}: error: {styled}")),
        None => line(&plain),
    }
    let is_usage = usage.is_some() || causes(&*error).any(|cause| cause.is::<IsInput>());
    ExitCode::from(if is_usage { 2 } else { 1 })
}

/// Iterates over the causes of an error, starting with the error itself.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// Returns `true` if the error comes from an output whose reader has closed it. Programs
/// write to no other pipe.
fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    let mut io = causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>());
    io.any(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Prints the answer of clap in place of arguments: help and version to standard output,
/// errors to standard error. Returns the exit status.
pub fn print_answer(program: &'static str, answer: &clap::Error) -> ExitCode {
    let text = answer.render();
    let (plain, styled) = (text.to_string(), text.ansi().to_string());
    if answer.use_stderr() {
        line_styled(plain.trim_end(), styled.trim_end());
        return ExitCode::from(2);
    }
    main_with_status(program, |_| {
        // The text is that of the program, without anything to escape but its colours.
        let mut out = Output::new(None)?;
        let is_colored = Color::Auto.is_on(out.is_terminal());
        let text = if is_colored { styled } else { plain };
        out.write_all(text.as_bytes())?;
        out.finish()?;
        Ok(None)
    })
}
