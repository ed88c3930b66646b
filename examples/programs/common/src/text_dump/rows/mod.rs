//! Rows with chosen columns: comma-separated values, or aligned text.
//!
//! Each event is one row, written when it is read. Only [`top`](RowOptions::top) keeps rows,
//! and no more than are printed.

mod cell;
mod column;
mod delta;
mod of_type;
mod top;

use std::sync::Arc;

use ltt_read::{Event, Trace};
use lttv_filter::Zone;

pub(super) use column::needs_state;
pub use column::{Column, ColumnError};

use self::cell::{Cell, Layout};
use self::delta::{Deltas, Thread};
use self::of_type::OfType;
use self::top::Top;
use super::lttv::Lttv;
use super::options::{Contexts, LineOptions};
use super::per_trace::PerTrace;
use super::{EventText, StateAt};
use crate::escape;
use crate::text::Text;
use crate::text::clock_text::ClockText;

/// The options of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowOptions {
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// Prints comma-separated values in place of aligned text.
    pub is_csv: bool,
    /// Prints times as the clock does, also in comma-separated values, which otherwise contain
    /// nanoseconds.
    pub formats_times: bool,
    /// Prints only this many rows: those with the greatest values in the first column, the
    /// greatest first.
    pub top: Option<usize>,
}

/// A format that prints chosen columns.
#[derive(Debug)]
pub struct Rows {
    columns: Vec<Column>,
    layout: Layout,
    clock: ClockText,
    traces: PerTrace<OfTrace>,
    /// The format of the column of all fields.
    lines: Lttv,
    deltas: Deltas,
    top: Option<Top>,
    wants_state: bool,
    /// The text of the current cell.
    scratch: Text,
    warnings: Vec<String>,
}

/// The parts that the rows of one trace share.
#[derive(Debug)]
struct OfTrace {
    /// The place of the trace among those read.
    number: usize,
    path: String,
    /// The channels of the tracefiles.
    channels: Vec<String>,
    /// The parts by event type, created at the first event of the type.
    types: Vec<Option<Box<OfType>>>,
}

impl Rows {
    /// Creates a format for the events of these traces.
    ///
    /// # Errors
    ///
    /// If a column is neither known nor a field of an event of the traces, or if the first
    /// column has no numbers but the rows with the greatest are requested.
    pub fn new(
        known: &[Arc<Trace>],
        clock: ClockText,
        options: RowOptions,
    ) -> Result<Self, ColumnError> {
        let RowOptions { columns, is_csv, formats_times, top } = options;
        column::check(&columns, known, top.is_some())?;
        let traces = PerTrace::new(known, OfTrace::new);
        let lines = LineOptions { contexts: Contexts::None, ..LineOptions::default() };
        Ok(Rows {
            warnings: column::empty(&columns, known),
            wants_state: column::need_state(&columns, known),
            layout: Layout { is_csv, times_as_ns: is_csv && !formats_times },
            lines: Lttv::with(known, ClockText::new(clock.style(), Zone::UTC), false, lines),
            top: top.map(Top::new),
            deltas: Deltas::default(),
            scratch: Text::default(),
            columns,
            clock,
            traces,
        })
    }
}

impl OfTrace {
    fn new(number: usize, trace: &Trace) -> OfTrace {
        let tracefiles = trace.tracefiles().iter();
        OfTrace {
            number,
            path: escape::name(&trace.path().display().to_string()).into_owned(),
            channels: tracefiles.map(|it| escape::name(it.channel()).into_owned()).collect(),
            types: trace.schema().event_types.iter().map(|_| None).collect(),
        }
    }
}

impl EventText for Rows {
    fn continue_with(&mut self, traces: &[Arc<Trace>], names: &[String]) {
        self.traces.continue_with(traces, OfTrace::new);
        self.lines.continue_with(traces, names);
    }

    fn wants_state(&self) -> bool {
        self.wants_state
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn has_parts(&self) -> bool {
        let is_alone = |column: &Column| !matches!(column, Column::Delta | Column::ThreadDelta);
        self.top.is_none() && self.columns.iter().all(is_alone)
    }

    fn start(&mut self, out: &mut Text) {
        for (number, column) in self.columns.iter().enumerate() {
            self.scratch.clear();
            let title = column.title(self.layout.is_csv);
            self.scratch.append(escape::name(&title).as_bytes());
            let is_last = number + 1 == self.columns.len();
            self.layout.append(out, column, self.scratch.as_bytes(), number == 0, is_last);
        }
        out.push(b'\n');
    }

    fn event(&mut self, event: &Event<'_>, state: Option<StateAt<'_>>, out: &mut Text) {
        let Rows { columns, layout, clock, traces, lines, deltas, top, scratch, .. } = self;
        let Some(OfTrace { number, path, channels, types }) = traces.of(event.trace()) else {
            return;
        };
        let Some(of) = types.get_mut(event.type_id().index()) else { return };
        let of = of.get_or_insert_with(|| OfType::new(event, columns));
        let cpu = event.tracefile().cpu().or(state.map(|state| state.cpu));
        let mut cells = Cell { event, state, of, cpu, clock, layout: *layout, out: scratch };
        let ids = of.thread.ids(event, state);
        let thread = ids.tid.map(|tid| {
            // Each CPU has an idle thread of number 0.
            Thread { trace: *number, tid, cpu: cpu.filter(|_| tid == 0) }
        });
        let (since_last, since_thread) = deltas.advance(event.timestamp(), thread);
        let mut row = top.as_mut().map(Top::row);
        let mut least = None;
        for (place, column) in columns.iter().enumerate() {
            cells.out.clear();
            let number = match column {
                Column::Time => cells.time(),
                Column::Delta => cells.duration(since_last),
                Column::ThreadDelta => cells.duration(since_thread),
                Column::Cpu => cells.integer(cpu.map(i128::from)),
                Column::Tid => cells.integer(ids.tid.map(i128::from)),
                Column::Pid => cells.integer(ids.pid.map(i128::from)),
                Column::Comm => cells.comm(),
                Column::Channel => {
                    let channel = channels.get(event.tracefile_index().0);
                    cells.text(channel.map_or("", String::as_str))
                }
                Column::Name => cells.text(&of.name),
                Column::Trace => cells.text(path),
                Column::Fields => cells.fields(lines),
                Column::Field(_) => cells.field(place),
            };
            if place == 0 {
                least = number;
                // A row that is not among the greatest needs no other column.
                if top.as_ref().is_some_and(|top| !top.accepts(number)) {
                    break;
                }
            }
            let is_last = place + 1 == columns.len();
            let text = cells.out.as_bytes();
            match &mut row {
                Some(row) => layout.append(row, column, text, place == 0, is_last),
                None => layout.append(out, column, text, place == 0, is_last),
            }
        }
        match (top, row) {
            (Some(top), Some(row)) => top.offer(least, row),
            _ => out.push(b'\n'),
        }
    }

    fn finish(&mut self, out: &mut Text) {
        for row in self.top.take().into_iter().flat_map(Top::into_rows) {
            out.append(&row);
            out.push(b'\n');
            out.spill();
        }
    }
}
