//! The columns that tell what the durations of a row have in common.

use std::ops::Range;

use lttv_common::table::{Cell, Declaration};
use lttv_state::latency::{GroupBy, PartOf, Row, TraceLatency};
use nix::errno::Errno;

use super::{Choice, name, subject, tid};

/// Adds the columns of the property by which figures are divided. `of` returns the row of an element; all are empty
/// without one.
pub(super) fn with_key<'r, R>(
    table: Declaration<'r, R>,
    choice: &Choice,
    subject_title: &'static str,
    of: impl Fn(&'r R) -> (&'r TraceLatency, Option<&'r Row>),
) -> Declaration<'r, R> {
    let mut table = table;
    if matches!(choice.by, GroupBy::Subject | GroupBy::ThreadAndSubject) {
        table = table.text("subject", subject_title, |row| {
            let (of, row) = of(row);
            subject(of, row?.subject)
        });
    }
    if matches!(choice.by, GroupBy::Thread | GroupBy::ThreadAndSubject) {
        table = table
            .integer("tid", "TID", |row| {
                let (of, row) = of(row);
                tid(of, row?.thread?)
            })
            .text("thread", "THREAD", |row| {
                let (of, row) = of(row);
                name(of, row?.thread?)
            });
    }
    let part = |row| of(row).1.and_then(|row| row.part.as_ref());
    match choice.by {
        GroupBy::Process => table.integer("pid", "PID", |row| of(row).1?.process).text(
            "process",
            "PROCESS",
            |row| {
                let (of, row) = of(row);
                process_name(of, row?)
            },
        ),
        GroupBy::File => table.text("file", "FILE", |row| match part(row)? {
            PartOf::File(file) => Some(file.to_string()),
            _ => Some("others".to_owned()),
        }),
        GroupBy::Cpu => table.integer("cpu", "CPU", |row| match part(row)? {
            PartOf::Cpu(cpu) => Some(*cpu).filter(|cpu| *cpu != u32::MAX),
            _ => None,
        }),
        GroupBy::Size => table
            .bytes("size_from", "SIZE FROM", |row| match part(row)? {
                PartOf::Size(bytes) => Some(bytes.start),
                _ => None,
            })
            .bytes("size_below", "BELOW", |row| match part(row)? {
                PartOf::Size(bytes) => Some(bytes.end),
                _ => None,
            }),
        GroupBy::Value => with_value(table, choice, part),
        GroupBy::Result => table.text("result", "RESULT", |row| match part(row)? {
            PartOf::Result(None) => Some("0".to_owned()),
            PartOf::Result(Some(error)) => Some(error_text(*error)),
            _ => None,
        }),
        _ => table,
    }
}

/// Adds the columns of a label or value of periods.
fn with_value<'r, R>(
    table: Declaration<'r, R>,
    choice: &Choice,
    part: impl Fn(&'r R) -> Option<&'r PartOf>,
) -> Declaration<'r, R> {
    let (name, is_label) = choice.value.as_ref().map_or(("", false), |(name, of)| (&**name, *of));
    let title = name.to_uppercase();
    if is_label {
        return table.text("label", title, |row| match part(row)? {
            PartOf::Label(text) => Some(text.to_string()),
            PartOf::Others => Some("others".to_owned()),
            _ => None,
        });
    }
    let bound = |row, of: fn(&Range<i128>) -> i128| match part(row)? {
        PartOf::Value(values) => Some(Cell::Integer(of(values))),
        _ => None,
    };
    table.integer("value_from", format!("{title} FROM"), |row| bound(row, |of| of.start)).integer(
        "value_below",
        "BELOW",
        |row| bound(row, |of| of.end),
    )
}

/// Returns the name of an error, such as `ENOENT`, or its number.
pub(super) fn error_text(number: u16) -> String {
    match Errno::from_raw(number.into()) {
        Errno::UnknownErrno => number.to_string(),
        known => format!("{known:?}"),
    }
}

/// Returns the name of the process of a row.
fn process_name<'l>(of: &'l TraceLatency, row: &Row) -> Option<&'l str> {
    let process = Some(row.process?);
    let first = of.threads().iter().find(|thread| Some(thread.tid) == process);
    let any = || of.threads().iter().find(|thread| thread.pid == process);
    first.or_else(any).map(|thread| of.name(thread.name))
}
