//! Reading of one table in bulk: the fields of many events of a tracefile become columns in one loop each,
//! and the rows of all tracefiles are merged by their times.
//!
//! This is possible for events in order, without filters, whose wanted fields are single values.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use arrow_schema::ArrowError;
use ltt_read::columns::{ColumnValues, Columns as Values};
use ltt_read::schema::{Encoding, FieldKind};
use ltt_read::{Cursor, Merge, Progress, Timestamp, Trace, TraceIndex, TracefileIndex};
use lttv_common::time::Window;

use super::column::{Columns, NodeId};
use super::plan::handle;
use super::{Decoder, Selection};
use crate::damage::Damage;
use crate::sink::Sink;
use crate::table::{Source, TypeOfTable};

/// The number of events of all tracefiles that are read at once.
const EVENTS_AT_ONCE: u64 = 1 << 15;

/// The smallest number of events of one tracefile that are read at once.
const FEWEST_EVENTS: u64 = 1 << 9;

/// The largest number of errors that are stored.
const MAX_ERRORS: usize = 1000;

/// The origin of the values of a column.
#[derive(Debug, Clone, Copy)]
enum Part {
    Time,
    Cpu,
    /// The number of the event type among those of all traces.
    Name,
    /// A field, by its number in the columns of the reader.
    Field(usize),
}

/// A read of one table in bulk.
pub(crate) struct Bulk {
    parts: Vec<(NodeId, Part)>,
    streams: Vec<Stream>,
    window: Window,
    /// `true` if the rows may be in any order.
    any_order: bool,
}

/// A tracefile, and the rows that were read of it last.
struct Stream {
    cursor: Cursor,
    values: Values,
    /// The number of the next row.
    next: usize,
    /// The number of rows before the end of the window.
    rows: usize,
    is_over: bool,
    /// The number of events to read next: few at first, since a window may be short.
    most: u64,
    /// The number of the tracefile among those of all traces.
    number: u32,
    /// The number of the first event type of the trace among those of all traces.
    first_type: u32,
    /// The time of the last row.
    last: i64,
}

impl Bulk {
    /// Prepares the read of a table; `None` if events have to be read one by one.
    pub(crate) fn new(
        traces: &[Arc<Trace>],
        selection: &Selection,
        only: Option<TraceIndex>,
        (window, any_order): (Window, bool),
        decoder: &Decoder,
    ) -> Option<Bulk> {
        let table = &*selection.table;
        let nodes = &decoder.tables.first()?.nodes;
        let mut parts = Vec::new();
        let mut fields = Vec::new();
        for (&column, &node) in selection.columns.iter().zip(nodes) {
            let column_of = table.columns.get(column)?;
            let part = match column_of.source {
                Source::Timestamp | Source::Ts if !column_of.nullable => Part::Time,
                // Known by the tracefile.
                Source::Stream | Source::Trace => continue,
                Source::Cpu if !column_of.nullable => continue,
                Source::Cpu => Part::Cpu,
                Source::Name => Part::Name,
                Source::Field(_) if !table.is_all && !column_of.nullable => {
                    fields.push(column);
                    Part::Field(fields.len() - 1)
                }
                _ => return None,
            };
            parts.push((node, part));
        }
        let mut streams = Vec::new();
        let (mut first_stream, mut first_type) = (0, 0);
        for (index, trace) in traces.iter().enumerate() {
            if only.is_none_or(|only| only.0 == index) {
                let types = table.types.iter().filter(|of| of.trace.0 == index);
                if let Some(values) = values(trace, table.is_all, types, &fields)? {
                    for tracefile in 0..trace.tracefiles().len() {
                        streams.push(Stream {
                            cursor: trace.cursor(TracefileIndex(tracefile)),
                            values: values.clone(),
                            next: 0,
                            rows: 0,
                            is_over: false,
                            most: FEWEST_EVENTS,
                            number: first_stream + tracefile as u32,
                            first_type,
                            last: window.begin.map_or(i64::MIN, Timestamp::as_ns),
                        });
                    }
                }
            }
            first_stream += trace.tracefiles().len() as u32;
            first_type += trace.schema().event_types.len() as u32;
        }
        Some(Bulk { parts, streams, window, any_order })
    }

    /// Reads, and passes the batches of the table to `sink`.
    pub(crate) fn read(
        mut self,
        traces: &[Arc<Trace>],
        mut decoder: Decoder,
        sink: &mut impl Sink,
    ) -> Result<Damage, ArrowError> {
        let mut damage = Damage::default();
        self.seek(traces, &mut damage);
        let most = (EVENTS_AT_ONCE / self.streams.len().max(1) as u64).max(FEWEST_EVENTS);
        // The tracefiles with rows, by the times of their next ones.
        let mut heads = BinaryHeap::new();
        let mut unread: Vec<usize> = (0..self.streams.len()).rev().collect();
        let total = self.streams.iter().map(|of| of.cursor.tracefile().size()).sum();
        let mut reader = Reader { window: self.window, most, total, damage: &mut damage, sink };
        let mut runs: Vec<(usize, Range<usize>)> = Vec::new();
        let mut rows = 0;
        let is_whole = 'read: loop {
            // In any order, one tracefile is read after the other.
            while let Some(number) = unread.pop_if(|_| !self.any_order || heads.is_empty()) {
                match reader.fill(&mut self.streams, number) {
                    ControlFlow::Continue(Some(time)) => heads.push(Reverse((time, number))),
                    ControlFlow::Continue(None) => {}
                    ControlFlow::Break(()) => break 'read false,
                }
            }
            let Some(Reverse((_, number))) = heads.pop() else { break true };
            let until = heads.peek().map(|Reverse(next)| *next);
            let stream = &mut self.streams[number];
            let run = stream.run(number, until, decoder.max_rows - rows);
            rows += run.len();
            runs.push((number, run));
            let next = stream.times().first().copied();
            if let Some(time) = next {
                heads.push(Reverse((time, number)));
            }
            if next.is_none() || rows >= decoder.max_rows {
                self.append(&mut decoder, &runs);
                runs.clear();
            }
            if rows >= decoder.max_rows {
                rows = 0;
                if let Some(batch) = decoder.take(0)?
                    && reader.sink.batch(0, batch).is_break()
                {
                    break false;
                }
            }
            if next.is_none() {
                unread.push(number);
            }
        };
        if is_whole && let Some(batch) = decoder.take(0)? {
            _ = reader.sink.batch(0, batch);
        }
        for stream in &mut self.streams {
            let notices = stream.cursor.take_notices();
            let notices_omitted = stream.cursor.notices_omitted();
            damage.add(Damage { notices, notices_omitted, ..Damage::default() });
        }
        Ok(damage)
    }

    /// Seeks the start of the window.
    fn seek(&mut self, traces: &[Arc<Trace>], damage: &mut Damage) {
        let Some(begin) = self.window.begin else { return };
        let mut merge = Merge::new(traces);
        let mut wanted = self.streams.iter().map(|stream| stream.number as usize).peekable();
        merge.retain_tracefiles(|number| wanted.next_if_eq(&number.0).is_some());
        merge.seek(begin);
        let positions = merge.positions();
        for stream in &mut self.streams {
            let position = positions[stream.number as usize];
            // The position is that of an event or an end.
            if let Err(error) = stream.cursor.seek(position) {
                damage.add(error.into());
                stream.is_over = true;
            }
        }
        let (errors_omitted, notices_omitted) = (merge.errors_omitted(), merge.notices_omitted());
        let (errors, notices) = (merge.take_errors(), merge.take_notices());
        damage.add(Damage { errors, errors_omitted, notices, notices_omitted, goes_back: false });
    }

    /// Appends the rows of runs to the columns of the table.
    fn append(&self, decoder: &mut Decoder, runs: &[(usize, Range<usize>)]) {
        let table = &mut decoder.tables[0];
        let before = table.columns.bytes;
        let columns = &mut table.columns;
        for &(node, part) in &self.parts {
            for (number, run) in runs {
                self.streams[*number].append(columns, node, part, run.clone());
            }
        }
        for (number, run) in runs {
            columns.stream(self.streams[*number].number, run.len());
        }
        let rows: usize = runs.iter().map(|(_, run)| run.len()).sum();
        table.rows += rows;
        decoder.bytes += rows * table.width + (table.columns.bytes - before);
    }
}

impl Stream {
    /// Returns the times of the rows that are left.
    fn times(&self) -> &[i64] {
        &self.values.times()[self.next..self.rows]
    }

    /// Counts the rows within the window, after new ones have been read. Returns `true` at the end of the
    /// window.
    fn count(&mut self, window: Window, damage: &mut Damage) -> bool {
        let end = window.end.map_or(i64::MAX, Timestamp::as_ns);
        for &time in self.values.times() {
            damage.goes_back |= time < self.last;
            self.last = time;
            if time > end {
                return true;
            }
            self.rows += 1;
        }
        false
    }

    /// Takes the rows before those of other tracefiles, at most `most`.
    fn run(&mut self, number: usize, until: Option<(i64, usize)>, most: usize) -> Range<usize> {
        let times = self.times();
        let times = &times[..times.len().min(most)];
        let is_before = |time: &&i64| until.is_none_or(|until| (**time, number) < until);
        let len = times.iter().take_while(is_before).count();
        let run = self.next..self.next + len;
        self.next = run.end;
        run
    }

    /// Appends a part of some rows to a column.
    fn append(&self, columns: &mut Columns, node: NodeId, part: Part, rows: Range<usize>) {
        match part {
            Part::Time => columns.extend(node, signed(&self.values.times()[rows])),
            Part::Cpu => match self.cursor.tracefile().cpu() {
                Some(cpu) => columns.extend(node, same(cpu, rows.len())),
                None => rows.for_each(|_| columns.null(node)),
            },
            Part::Name => match self.values.event_type() {
                Some(id) => columns.extend(node, same(self.first_type + id.0, rows.len())),
                None => {
                    let types = self.values.types()[rows].iter();
                    columns.extend(node, types.map(|id| u64::from(self.first_type + id.0)));
                }
            },
            Part::Field(number) => match self.values.columns()[number].values() {
                ColumnValues::Unsigned(values) => {
                    columns.extend(node, values[rows].iter().copied())
                }
                ColumnValues::Signed(values) => columns.extend(node, signed(&values[rows])),
                ColumnValues::Float(values) => {
                    values[rows].iter().for_each(|value| columns.float(node, *value));
                }
                ColumnValues::Bool(values) => {
                    columns.extend(node, values[rows].iter().map(|value| u64::from(*value)));
                }
                ColumnValues::Bytes { offsets, bytes } => {
                    let ends = &offsets[rows.start..=rows.end];
                    columns.extend_bytes(node, ends, bytes);
                }
                _ => debug_assert!(false, "a list is no single value"),
            },
        }
    }
}

fn signed(values: &[i64]) -> impl ExactSizeIterator<Item = u64> {
    values.iter().map(|value| *value as u64)
}

fn same(value: u32, len: usize) -> impl ExactSizeIterator<Item = u64> {
    std::iter::repeat_n(u64::from(value), len)
}

/// The common state of reading tracefiles.
struct Reader<'r, S> {
    window: Window,
    /// The largest number of events that are read at once.
    most: u64,
    /// The size of all tracefiles.
    total: u64,
    damage: &'r mut Damage,
    sink: &'r mut S,
}

impl<S: Sink> Reader<'_, S> {
    /// Reads further rows of a tracefile. Returns the time of the first one; `None` at the end.
    fn fill(&mut self, streams: &mut [Stream], number: usize) -> ControlFlow<(), Option<i64>> {
        let stream = &mut streams[number];
        stream.values.clear();
        (stream.next, stream.rows) = (0, 0);
        while streams[number].rows == 0 && !streams[number].is_over {
            let stream = &mut streams[number];
            stream.values.clear();
            let read = stream.cursor.read_columns(&mut stream.values, stream.most);
            let is_last = stream.count(self.window, self.damage);
            match read {
                Ok(read) => stream.is_over = is_last || read < stream.most,
                // What is behind the window is not met.
                Err(_) if is_last => stream.is_over = true,
                Err(error) => {
                    match self.damage.errors.len() < MAX_ERRORS {
                        true => self.damage.add(error.into()),
                        false => self.damage.errors_omitted += 1,
                    }
                    stream.is_over = !stream.cursor.skip_packet();
                }
            }
            stream.most = (2 * stream.most).min(self.most);
            self.sink.step(Progress { done: done(streams), total: self.total })?;
        }
        ControlFlow::Continue(streams[number].times().first().copied())
    }
}

/// Returns the number of bytes before the current packets of the tracefiles.
fn done(streams: &[Stream]) -> u64 {
    let done = |stream: &Stream| match stream.is_over {
        true => stream.cursor.tracefile().size(),
        false => stream.cursor.packet().map_or(0, |packet| packet.offset),
    };
    streams.iter().map(done).sum()
}

/// Returns the columns in which the events of a trace are read. Returns `Some(None)` if the table has no
/// events of the trace, and `None` if they cannot be read in this way.
fn values<'t>(
    trace: &Trace,
    is_all: bool,
    mut types: impl Iterator<Item = &'t TypeOfTable>,
    columns: &[usize],
) -> Option<Option<Values>> {
    let Some(of) = types.next() else { return Some(None) };
    if is_all {
        return Some(Some(Values::of_all_types()));
    }
    if types.next().is_some() {
        return None;
    }
    let field = |column: &usize| {
        let member = of.members.get(*column)?.as_ref()?;
        let is_other_text = match &member.class.kind {
            FieldKind::String(text) => text.encoding != Encoding::Utf8,
            _ => false,
        };
        handle(trace, of, member).filter(|_| !is_other_text)
    };
    let fields = columns.iter().map(field).collect::<Option<Vec<_>>>()?;
    Values::new(trace, of.id, fields).ok().map(Some)
}
