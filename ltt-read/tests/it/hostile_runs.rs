//! Random headers, bodies and damage: all ways to read a tracefile return what a plain decoder of the
//! same bytes finds, in any mixture and with seeks in between.

use std::sync::Arc;

use ltt_read::columns::{ColumnValues, Columns};
use ltt_read::schema::{EventTypeId, Scope};
use ltt_read::tuning::EventSequence;
use ltt_read::{Cursor, Event, Merge, Position, Trace, TracefileIndex, TracefileNumber, Value};
use proptest::prelude::*;

/// The form of a trace.
#[derive(Debug, Clone)]
struct Plan {
    big: bool,
    /// The event headers of two stream classes.
    headers: [Header; 2],
    frequency: u64,
    /// `true` if packets have a start time.
    begins: bool,
    /// The stream class, the id and the kind of the body of each event type.
    types: Vec<(usize, u64, u8)>,
}

/// The form of event headers.
#[derive(Debug, Clone, Copy)]
enum Header {
    /// An id and a clock value, in bits.
    Fixed { id: u32, clock: u32 },
    /// The form of LTTng: the greatest value of the id chooses an extended header, and the one before it may
    /// have no meaning.
    Selected { id: u32, clock: u32, has_gap: bool, long_id: u32, long_clock: u32, align: u32 },
}

/// An event as the test writes it: the number of its type, whether it has an extended header, the step of
/// the clock, and random data.
type Written = (usize, bool, u64, u64);

/// A packet as the test writes it: its stream class, its events, and what is added to its content size and
/// to its size.
type WrittenPacket = (usize, Vec<Written>, i8, i8);

#[derive(Debug, Clone, PartialEq)]
enum Cell {
    Number(u64),
    Bytes(Vec<u8>),
    List(Vec<u64>),
}

#[derive(Debug, Clone, PartialEq)]
struct Row {
    event_type: usize,
    time: i64,
    cells: Vec<Cell>,
}

/// The contents of a packet. Nothing can be read after the last one.
#[derive(Debug, Default)]
struct Found {
    /// `false` if the header or context is damaged.
    is_entered: bool,
    rows: Vec<Row>,
    /// `true` if there is damage after the last row, or in the header of the packet.
    is_damaged: bool,
}

fn header() -> impl Strategy<Value = Header> {
    let fixed =
        (prop::sample::select(&[3, 8, 16][..]), prop::sample::select(&[24, 29, 32, 48, 64][..]))
            .prop_map(|(id, clock)| Header::Fixed { id, clock });
    let selected = (
        prop::sample::select(&[(5, 27), (8, 56), (8, 24), (16, 32), (5, 20), (5, 59), (3, 13)][..]),
        any::<bool>(),
        prop::sample::select(&[8, 16, 32][..]),
        prop::sample::select(&[40, 48, 24, 64, 32][..]),
        prop::sample::select(&[1, 8][..]),
    );
    let selected = selected.prop_map(|((id, clock), has_gap, long_id, long_clock, align)| {
        Header::Selected { id, clock, has_gap, long_id, long_clock, align }
    });
    prop_oneof![1 => fixed, 3 => selected]
}

fn plan() -> impl Strategy<Value = Plan> {
    let id = prop_oneof![0..7_u64, 0..40_u64, 250..300_u64];
    let types = prop::collection::hash_map((0..2_usize, id), 0..KINDS, 1..9);
    let frequency = prop_oneof![3 => Just(1_000_000_000), 1 => Just(1000_u64)];
    (any::<bool>(), [header(), header()], frequency, any::<bool>(), types).prop_map(
        |(big, headers, frequency, begins, types)| {
            let types = types.into_iter().map(|((stream, id), kind)| (stream, id, kind));
            let mut types: Vec<_> = types.collect();
            types.sort_unstable();
            Plan { big, headers, frequency, begins, types }
        },
    )
}

fn packets() -> impl Strategy<Value = Vec<WrittenPacket>> {
    let step = prop_oneof![12 => 0..50_u64, 1 => 0..1_u64 << 20, 1 => any::<u64>()];
    let event = (0..100_usize, prop::bool::weighted(0.2), step, any::<u64>());
    // Many events of one type in a row are read in another way.
    let burst = prop_oneof![4 => 1..4_usize, 1 => 8..40_usize, 1 => Just(600_usize)];
    let events = prop::collection::vec((event, burst), 0..12).prop_map(|bursts| {
        let repeated = bursts.into_iter().flat_map(|((of, long, step, random), count)| {
            (0..count as u64).map(move |at| {
                let step = if at == 0 { step } else { step % 64 };
                (of, long, step, random.rotate_left(at as u32 % 7))
            })
        });
        repeated.collect()
    });
    let off = || prop_oneof![9 => Just(0_i8), 1 => any::<i8>()];
    let stream = prop_oneof![3 => Just(0_usize), 1 => Just(1)];
    prop::collection::vec((stream, events, off(), off()), 1..5)
}

/// The kinds of bodies.
const KINDS: u8 = 7;

/// Returns the members of a kind of body.
fn members(kind: u8) -> &'static [(&'static str, &'static str)] {
    match kind {
        0 => &[],
        1 => &[
            ("n", "integer { size = 32; align = 8; } n;"),
            ("b", "integer { size = 8; align = 8; } b;"),
        ],
        2 => &[("s", "string s;"), ("x", "integer { size = 16; align = 8; } x;")],
        3 => &[
            ("len", "integer { size = 8; align = 8; } len;"),
            ("a", "integer { size = 16; align = 8; } a[len];"),
            ("t", "integer { size = 8; align = 8; } t;"),
        ],
        4 => {
            &[("a", "string a;"), ("n", "integer { size = 32; align = 8; } n;"), ("b", "string b;")]
        }
        5 => &[
            ("a", "integer { size = 5; align = 8; } a;"),
            ("b", "integer { size = 14; align = 1; } b;"),
            ("c", "integer { size = 9; align = 1; } c;"),
        ],
        _ => &[
            ("t", "integer { size = 8; align = 8; encoding = UTF8; } t[16];"),
            ("n", "integer { size = 64; align = 8; } n;"),
        ],
    }
}

impl Plan {
    fn header_text(header: Header) -> String {
        let clock = "map = clock.c.value;";
        match header {
            Header::Fixed { id, clock: bits } => format!(
                "struct {{ integer {{ size = {id}; align = 8; }} id;
                 integer {{ size = {bits}; align = 1; {clock} }} timestamp; }}"
            ),
            Header::Selected { id, clock: bits, has_gap, long_id, long_clock, align } => {
                let long = (1 << id) - 1;
                let last = long - 1 - i32::from(has_gap);
                format!(
                    "struct {{
                     enum : integer {{ size = {id}; align = 8; }} {{ compact = 0 ... {last}, extended = {long} }} id;
                     variant <id> {{
                         struct {{ integer {{ size = {bits}; align = 1; {clock} }} timestamp; }} compact;
                         struct {{ integer {{ size = {long_id}; align = {align}; }} id;
                             integer {{ size = {long_clock}; align = {align}; {clock} }} timestamp; }} extended;
                     }} v; }}"
                )
            }
        }
    }

    fn metadata(&self) -> String {
        let begin = if self.begins {
            "integer { size = 64; align = 8; map = clock.c.value; } timestamp_begin;"
        } else {
            ""
        };
        let mut text = format!(
            "/* CTF 1.8 */
            trace {{ major = 1; minor = 8; byte_order = {};
                packet.header := struct {{ integer {{ size = 32; align = 8; }} magic;
                    integer {{ size = 8; align = 8; }} stream_id; }}; }};
            clock {{ name = c; freq = {}; }};\n",
            if self.big { "be" } else { "le" },
            self.frequency,
        );
        for (stream, header) in self.headers.into_iter().enumerate() {
            let header = Self::header_text(header);
            text += &format!(
                "stream {{ id = {stream};
                packet.context := struct {{
                    integer {{ size = 32; align = 8; }} content_size;
                    integer {{ size = 32; align = 8; }} packet_size; {begin} }};
                event.header := {header} align(8); }};\n"
            );
        }
        for (stream, id, kind) in &self.types {
            let fields: String = members(*kind).iter().map(|(_, text)| *text).collect();
            text += &format!(
                "event {{ name = \"e{id}\"; id = {id}; stream_id = {stream};
                fields := struct {{ {fields} }}; }};\n"
            );
        }
        text
    }
}

/// Bits of a packet, in the byte order of a trace.
#[derive(Debug, Clone)]
struct Bits<'b> {
    big: bool,
    data: &'b [u8],
    at: u64,
    end: u64,
}

impl Bits<'_> {
    fn take(&mut self, bits: u32) -> Option<u64> {
        let begin = self.at;
        self.at += u64::from(bits);
        if self.at > self.end {
            return None;
        }
        let bit = |at: u64| {
            let byte = self.data[(at / 8) as usize];
            u64::from(if self.big { byte >> (7 - at % 8) } else { byte >> (at % 8) } & 1)
        };
        Some((0..u64::from(bits)).fold(0, |value, n| match self.big {
            true => value << 1 | bit(begin + n),
            false => value | bit(begin + n) << n,
        }))
    }

    fn align(&mut self, bits: u64) {
        self.at = self.at.next_multiple_of(bits);
    }

    fn text(&mut self) -> Option<Cell> {
        let mut bytes = Vec::new();
        loop {
            match self.take(8)? as u8 {
                0 => return Some(Cell::Bytes(bytes)),
                byte => bytes.push(byte),
            }
        }
    }
}

/// The bits of a packet that is being written.
#[derive(Debug, Default)]
struct Writer {
    big: bool,
    data: Vec<u8>,
    at: usize,
}

impl Writer {
    fn put(&mut self, bits: u32, value: u64) {
        self.data.resize((self.at + bits as usize).div_ceil(8), 0);
        for n in 0..bits {
            let bit = if self.big { value >> (bits - 1 - n) } else { value >> n } & 1;
            let shift = if self.big { 7 - self.at % 8 } else { self.at % 8 };
            self.data[self.at / 8] |= (bit as u8) << shift;
            self.at += 1;
        }
    }

    fn align(&mut self, bits: usize) {
        self.at = self.at.next_multiple_of(bits);
        self.data.resize(self.at.div_ceil(8), 0);
    }

    fn text(&mut self, len: u64, random: u64) {
        for n in 0..len {
            self.put(8, random >> (n % 8) & 0x7f | 1);
        }
        self.put(8, 0);
    }
}

impl Plan {
    fn write(&self, packets: &[WrittenPacket]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut clock = 0_u64;
        for (stream, events, content_off, size_off) in packets {
            let mut to = Writer { big: self.big, ..Writer::default() };
            to.put(32, 0xc1fc_1fc1);
            to.put(8, *stream as u64);
            let types: Vec<_> = self.types.iter().filter(|of| of.0 == *stream).collect();
            let sizes = to.at;
            to.put(64, 0);
            if self.begins {
                to.put(64, clock);
            }
            for (of, long, step, random) in events {
                clock = clock.wrapping_add(*step) & (u64::MAX >> 1);
                let Some((_, id, kind)) = of.checked_rem(types.len()).map(|of| *types[of]) else {
                    break;
                };
                to.align(8);
                match self.headers[*stream] {
                    Header::Fixed { id: id_bits, clock: bits } => {
                        to.put(id_bits, id);
                        to.put(bits, clock);
                    }
                    Header::Selected {
                        id: id_bits,
                        clock: bits,
                        has_gap,
                        long_id,
                        long_clock,
                        align,
                    } => {
                        let escape = (1 << id_bits) - 1;
                        if *long || id >= escape - u64::from(has_gap) {
                            to.put(id_bits, escape);
                            to.align(align as usize);
                            to.put(long_id, id);
                            to.put(long_clock, clock);
                        } else {
                            to.put(id_bits, id);
                            to.put(bits, clock);
                        }
                    }
                }
                if kind > 0 {
                    to.align(8);
                }
                match kind {
                    0 => {}
                    1 => {
                        to.put(32, *random);
                        to.put(8, *random >> 32);
                    }
                    2 => {
                        to.text(random % 50, *random);
                        to.put(16, *random);
                    }
                    3 => {
                        let len = random % 5;
                        to.put(8, len);
                        (0..len).for_each(|n| to.put(16, *random >> n));
                        to.put(8, *random);
                    }
                    4 => {
                        to.text(random % 9, *random);
                        to.put(32, *random);
                        to.text(random % 40, *random);
                    }
                    5 => {
                        to.put(5, *random);
                        to.put(14, *random >> 5);
                        to.put(9, *random >> 20);
                    }
                    _ => {
                        (0..16).for_each(|n| to.put(8, if n < random % 17 { 0x61 } else { 0 }));
                        to.put(64, *random);
                    }
                }
            }
            let content = (to.at as i64 + i64::from(*content_off)) as u64;
            to.align(32);
            let size = to.at as i64 + 8 * i64::from(*size_off);
            let mut both = Writer { big: self.big, ..Writer::default() };
            both.put(32, content);
            both.put(32, size as u64);
            to.data[sizes / 8..][..8].copy_from_slice(&both.data);
            bytes.append(&mut to.data);
        }
        bytes
    }

    /// Decodes all packets of a file, bit by bit.
    fn decode(&self, file: &[u8]) -> Vec<Found> {
        let (mut packets, mut offset, mut clock) = (Vec::new(), 0, 0_u64);
        while offset < file.len() {
            let data = &file[offset..];
            let available = 8 * data.len() as u64;
            let mut bits = Bits { big: self.big, data, at: 32, end: available };
            let begins = self.begins;
            let mut sizes = || {
                let stream = bits.take(8).filter(|stream| *stream < 2)? as usize;
                let sizes = (bits.take(32)?, bits.take(32)?);
                Some((stream, sizes, if begins { Some(bits.take(64)?) } else { None }))
            };
            let Some((stream, (content, total), begin)) = sizes() else {
                packets.push(Found { is_damaged: true, ..Found::default() });
                return packets;
            };
            let read = bits.at;
            if !total.is_multiple_of(8) || content > total || content < read || total == 0 {
                packets.push(Found { is_damaged: true, ..Found::default() });
                if total.is_multiple_of(8) && total >= read && total <= available {
                    offset += total as usize / 8;
                    continue;
                }
                return packets;
            }
            clock = begin.unwrap_or(clock);
            let is_cut = total > available;
            bits.end = content.min(available);
            let mut found = Found { is_entered: true, ..Found::default() };
            while bits.at < bits.end {
                let Some((row, now)) = self.event(stream, &mut bits, clock) else {
                    found.is_damaged = true;
                    break;
                };
                clock = now;
                found.rows.push(row);
            }
            found.is_damaged |= is_cut;
            packets.push(found);
            if is_cut {
                return packets;
            }
            offset += total as usize / 8;
        }
        packets
    }

    /// Decodes an event; `None` if it is not sound.
    fn event(&self, stream: usize, bits: &mut Bits<'_>, clock: u64) -> Option<(Row, u64)> {
        bits.align(8);
        let update = |low: u64, size: u32| {
            let mask = u64::MAX >> (64 - size);
            clock.wrapping_add(low.wrapping_sub(clock) & mask)
        };
        let (id, cycles) = match self.headers[stream] {
            Header::Fixed { id, clock } => (bits.take(id)?, update(bits.take(clock)?, clock)),
            Header::Selected { id: id_bits, clock, has_gap, long_id, long_clock, align } => {
                let (id, escape) = (bits.take(id_bits)?, (1 << id_bits) - 1);
                if id == escape {
                    bits.align(align.into());
                    (bits.take(long_id)?, update(bits.take(long_clock)?, long_clock))
                } else if has_gap && id == escape - 1 {
                    return None;
                } else {
                    (id, update(bits.take(clock)?, clock))
                }
            }
        };
        let event_type = self.types.iter().position(|of| (of.0, of.1) == (stream, id))?;
        let kind = self.types[event_type].2;
        let time = u128::from(cycles) * u128::from(1_000_000_000 / self.frequency);
        let time = i64::try_from(time).ok()?;
        if kind > 0 {
            bits.align(8);
        }
        let cells = match kind {
            0 => vec![],
            1 => vec![Cell::Number(bits.take(32)?), Cell::Number(bits.take(8)?)],
            2 => vec![bits.text()?, Cell::Number(bits.take(16)?)],
            3 => {
                let len = bits.take(8)?;
                let list = (0..len).map(|_| bits.take(16)).collect::<Option<_>>()?;
                vec![Cell::Number(len), Cell::List(list), Cell::Number(bits.take(8)?)]
            }
            4 => vec![bits.text()?, Cell::Number(bits.take(32)?), bits.text()?],
            5 => vec![
                Cell::Number(bits.take(5)?),
                Cell::Number(bits.take(14)?),
                Cell::Number(bits.take(9)?),
            ],
            _ => {
                let text =
                    (0..16).map(|_| Some(bits.take(8)? as u8)).collect::<Option<Vec<_>>>()?;
                let text = text.into_iter().take_while(|byte| *byte != 0).collect();
                vec![Cell::Bytes(text), Cell::Number(bits.take(64)?)]
            }
        };
        (bits.at <= bits.end).then_some((Row { event_type, time, cells }, cycles))
    }
}

fn cell_of(value: Option<Value<'_>>) -> Cell {
    match value.expect("a field") {
        Value::Uint(value) => Cell::Number(value),
        Value::Str(text) => Cell::Bytes(text.bytes.to_vec()),
        Value::Array(values) => {
            Cell::List(values.iter().map(|value| value.as_u64().expect("a number")).collect())
        }
        other => panic!("{other:?}"),
    }
}

fn cell_in(values: &ColumnValues, row: usize) -> Cell {
    let range = |offsets: &[i64]| offsets[row] as usize..offsets[row + 1] as usize;
    match values {
        ColumnValues::Unsigned(values) => Cell::Number(values[row]),
        ColumnValues::Bytes { offsets, bytes } => Cell::Bytes(bytes[range(offsets)].to_vec()),
        ColumnValues::List { offsets, elements } => match &**elements {
            ColumnValues::Unsigned(values) => Cell::List(values[range(offsets)].to_vec()),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// The ways to read a trace.
struct Readers<'p> {
    plan: &'p Plan,
    trace: Arc<Trace>,
    one: Columns,
    other: Columns,
    all: Columns,
}

impl<'p> Readers<'p> {
    fn new(plan: &'p Plan, trace: Arc<Trace>, wanted: usize) -> Self {
        let columns = |number: usize| {
            let id = EventTypeId(number as u32);
            let names = members(plan.types[number].2).iter();
            let fields =
                names.map(|(name, _)| trace.field(id, Scope::Payload, name).expect("a field"));
            Columns::new(&trace, id, fields).expect("columns")
        };
        let types = plan.types.len();
        let (one, other) = (columns(wanted % types), columns(wanted / types % types));
        Readers { plan, one, other, all: Columns::of_all_types(), trace }
    }

    fn row(&self, event: &Event<'_>) -> Row {
        let event_type = event.type_id().index();
        let time = event.timestamp().expect("a time").as_ns();
        let names = members(self.plan.types[event_type].2).iter();
        let cells = names.map(|(name, _)| cell_of(event.field(name))).collect();
        Row { event_type, time, cells }
    }

    /// Checks and removes the rows of columns, given the events from which they were filled.
    fn check(columns: &mut Columns, rows: &[Row]) -> Result<(), TestCaseError> {
        let event_type = columns.event_type();
        let is_own = |row: &&Row| event_type.is_none_or(|of| of.index() == row.event_type);
        let own: Vec<_> = rows.iter().filter(is_own).collect();
        prop_assert_eq!(columns.len(), own.len());
        for (at, row) in own.iter().enumerate() {
            prop_assert_eq!(columns.times()[at], row.time);
            match event_type {
                None => prop_assert_eq!(columns.types()[at].index(), row.event_type),
                Some(_) => {
                    let of = |column: &ltt_read::columns::Column| cell_in(column.values(), at);
                    let cells: Vec<_> = columns.columns().iter().map(of).collect();
                    prop_assert_eq!(&cells, &row.cells);
                }
            }
        }
        columns.clear();
        Ok(())
    }

    /// Reads at most `most` events in a way, and compares them with the rows that should follow. Returns
    /// the number of events and whether there was an error.
    fn read(
        &mut self,
        cursor: &mut Cursor,
        way: u8,
        most: u64,
        rows: &[Row],
    ) -> Result<(usize, bool), TestCaseError> {
        let left = (most as usize).min(rows.len());
        let result = match way {
            0 => cursor.read_columns(&mut self.all, most),
            1 => cursor.read_columns(&mut self.one, most),
            2 => cursor.read_columns(&mut self.other, most),
            _ => {
                let mut read = 0;
                let error = loop {
                    if way == 4 {
                        read += cursor.pass_events(most - read);
                    }
                    if read == most {
                        break None;
                    }
                    match cursor.advance() {
                        Ok(true) => {
                            let row = self.row(&cursor.event());
                            prop_assert_eq!(Some(&row), rows.get(read as usize));
                            read += 1;
                        }
                        Ok(false) => break None,
                        Err(error) => break Some(error),
                    }
                };
                error.map_or(Ok(read), Err)
            }
        };
        match way {
            0 => Self::check(&mut self.all, &rows[..left])?,
            1 => Self::check(&mut self.one, &rows[..left])?,
            2 => Self::check(&mut self.other, &rows[..left])?,
            _ => {}
        }
        if let Ok(read) = &result {
            prop_assert_eq!(*read as usize, left);
            // At the end there is no current event.
            if *read == most {
                let row = self.row(&cursor.event());
                prop_assert_eq!(&row, &rows[left - 1]);
            }
        }
        Ok((left, result.is_err()))
    }

    /// Reads the trace in a mixture of ways.
    fn run(
        &mut self,
        found: &[Found],
        steps: &[(u8, u64, prop::sample::Index)],
    ) -> Result<(), TestCaseError> {
        let mut cursor = self.trace.cursor(TracefileIndex(0));
        // The rows of successive packets without damage between them follow each other.
        let mut kept: Vec<(Position, usize, usize)> = Vec::new();
        let (mut packet, mut at) = (0, 0);
        let mut is_in_packet = false;
        for (way, most, which) in steps.iter().cycle().take(4000) {
            match way {
                5 if !kept.is_empty() => {
                    let position;
                    (position, packet, at) = *which.get(&kept);
                    cursor.seek(position).expect("a position");
                    is_in_packet = true;
                }
                // Without start times, the clock goes on from the last event that was read.
                6 if self.plan.begins => {
                    let next = if is_in_packet { packet + 1 } else { packet };
                    let is_cut = is_in_packet && next == found.len() && found[packet].is_damaged;
                    match cursor.next_packet() {
                        Ok(true) => {
                            prop_assert!(found[next].is_entered);
                            (packet, at, is_in_packet) = (next, 0, true);
                        }
                        Ok(false) => {
                            prop_assert_eq!(next, found.len());
                            return Ok(());
                        }
                        Err(_) => {
                            prop_assert!(is_cut || !found[next].is_entered);
                            if !cursor.skip_packet() {
                                prop_assert!(next + 1 >= found.len());
                                return Ok(());
                            }
                            (packet, at, is_in_packet) = (next + 1, 0, false);
                        }
                    }
                }
                _ => {
                    let mut rows = Vec::new();
                    let mut places = Vec::new();
                    let mut end = found.len();
                    for (number, of) in found.iter().enumerate().skip(packet) {
                        let first = if number == packet { at } else { 0 };
                        rows.extend_from_slice(&of.rows[first..]);
                        places.extend((first..of.rows.len()).map(|row| (number, row + 1)));
                        if of.is_damaged {
                            end = number;
                            break;
                        }
                    }
                    let (read, is_error) = self.read(&mut cursor, *way, *most, &rows)?;
                    prop_assert_eq!(is_error, read < *most as usize && end < found.len());
                    if is_error {
                        if !cursor.skip_packet() {
                            prop_assert_eq!(end + 1, found.len());
                            return Ok(());
                        }
                        (packet, at, is_in_packet) = (end + 1, 0, false);
                    } else if read < *most as usize {
                        return Ok(());
                    } else if read > 0 {
                        (packet, at) = places[read - 1];
                        is_in_packet = true;
                        kept.push((cursor.position(), packet, at));
                    }
                }
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn all_ways_to_read_find_what_a_plain_decoder_finds(
        plan in plan(),
        packets in packets(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in prop_oneof![3 => Just(0_usize), 1 => 0..60_usize],
        wanted in any::<usize>(),
        steps in prop::collection::vec(
            (0..7_u8, prop_oneof![1..9_u64, 1..2000_u64], any::<prop::sample::Index>()), 1..12),
    ) {
        let mut bytes = plan.write(&packets);
        for (place, byte) in damage {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len() - cut.min(bytes.len() - 1));
        let found = plan.decode(&bytes);
        let file = ("stream".to_owned(), bytes);
        let trace = Trace::from_memory(plan.metadata().as_bytes(), [file]).expect("a trace");
        if trace.tracefiles().is_empty() {
            return Ok(());
        }
        for way in [0, 1, 2, 3, 4] {
            let every = [(way, 1 << 20, steps[0].2)];
            Readers::new(&plan, trace.clone(), wanted).run(&found, &every)?;
        }
        Readers::new(&plan, trace.clone(), wanted).run(&found, &steps)?;
        // A merge delivers the same events, and goes on after damage by itself.
        let traces = [trace.clone()];
        let mut merge = Merge::new(&traces);
        let readers = Readers::new(&plan, trace, 1);
        let whole = |event: &Event<'_>| (readers.row(event), event.position(), event.cycles());
        let (mut sequence, mut noted) = (EventSequence::default(), Vec::new());
        for (at, row) in found.iter().flat_map(|packet| &packet.rows).enumerate() {
            let next = merge.next();
            let delivered = next.map(|event| readers.row(&event));
            prop_assert_eq!(delivered.as_ref(), Some(row));
            if let Some(event) = next.filter(|_| steps[at % steps.len()].0 > 0) {
                sequence.push(TracefileNumber(0), &event);
                noted.push(whole(&event));
            }
        }
        // A sequence of some of them does, too.
        let mut noted = noted.iter();
        sequence.replay(|_, event| assert_eq!(Some(&whole(event)), noted.next()));
        prop_assert_eq!(noted.next(), None);
        prop_assert!(merge.next().is_none());
        prop_assert_eq!(merge.errors().len(), found.iter().filter(|packet| packet.is_damaged).count());
    }
}
