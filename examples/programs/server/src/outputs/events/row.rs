//! The cells of events.

use lttv_common::text::Text;
use lttv_common::text_dump::lttv::Lttv;
use lttv_context::EventCall;

use crate::outputs::line_query::Search;
use crate::protocol::models::{Column, DataType};

/// The columns of the table.
pub(super) const COLUMNS: [Column; 6] = [
    Column::new(0, "Timestamp", "Time of the event, in ns", DataType::Timestamp),
    Column::new(1, "Trace", "Name of the trace's directory", DataType::String),
    Column::new(2, "Tracefile", "Channel and CPU that recorded the event", DataType::String),
    Column::new(3, "CPU", "Number of the CPU", DataType::Number),
    Column::new(4, "Event type", "Name of the event", DataType::String),
    Column::new(5, "Contents", "Contexts and fields", DataType::String),
];

/// Returns the cost of the text of a column, to be compared with that of others.
pub(super) fn cost(column: usize) -> u8 {
    match column {
        4 => 0,
        5 => 2,
        _ => 1,
    }
}

/// The cells of an event, each of which is written when it is first needed.
pub(super) struct Row<'r, 'a, 'h> {
    call: &'r EventCall<'a, 'h>,
    format: &'r mut Lttv,
    cells: [Option<String>; COLUMNS.len()],
}

impl<'r, 'a, 'h> Row<'r, 'a, 'h> {
    /// Creates the cells of an event.
    pub(super) fn new(call: &'r EventCall<'a, 'h>, format: &'r mut Lttv) -> Self {
        Row { call, format, cells: [const { None }; COLUMNS.len()] }
    }

    /// Returns the text of a cell.
    pub(super) fn cell(&mut self, column: usize) -> &str {
        if self.cells[column].is_none() {
            self.cells[column] = Some(self.text(column));
        }
        self.cells[column].as_deref().unwrap_or_default()
    }

    /// Returns `true` if the event is found by a search.
    pub(super) fn is_found_by(&mut self, search: &Search) -> bool {
        search.matches(|column, regex| regex.is_match(self.cell(column)))
    }

    fn text(&mut self, column: usize) -> String {
        let tracefile = self.call.tracefile.tracefile();
        match column {
            0 => self.call.event_time().as_ns().to_string(),
            1 => {
                let path = self.call.trace.trace().path().file_name();
                path.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
            }
            2 => tracefile.name().to_owned(),
            3 => tracefile.cpu().map_or_else(String::new, |cpu| cpu.to_string()),
            4 => self.call.event.event_type().name().to_owned(),
            _ => {
                let mut fields = Text::default();
                self.format.fields(&self.call.event, &mut fields);
                let text = String::from_utf8_lossy(fields.as_bytes());
                text.trim_start_matches([',', ' ']).trim_end().to_owned()
            }
        }
    }
}
