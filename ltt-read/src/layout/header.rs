//! Event headers: fast decoding of the id and time of the next event record.
//!
//! Nearly all headers either have constant offsets or, like LTTng's, a small fixed part
//! whose first field selects one of two fixed rests. For these, a *plan* of bit offsets
//! is derived from the header's program. All other headers run the program itself. The
//! most frequent plans have an even faster form, [`Quick`].

use super::FixedRead;
use super::clock::{ClockConverter, update_clock};
use super::ids::{IdEntry, IdTable};
use super::program::{Op, Scratch, Window};
use super::region::Region;
use crate::base::time::Timestamp;
use crate::report::DecodeError;
use crate::schema::{Role, Roles};

/// A field at a constant offset from the header's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Located {
    offset: u64,
    read: FixedRead,
}

/// A header or a part of a header, whose fields all have constant offsets.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    id: Option<Located>,
    clock: Option<Located>,
    /// The end of the part, in bits from the header's start.
    end: u64,
}

/// A rest that a range of selector values chooses.
#[derive(Debug, Clone, Copy)]
struct Rest {
    low: u64,
    high: u64,
    part: Part,
}

/// The way in which a header is decoded.
#[derive(Debug)]
enum Plan {
    /// All offsets are constant.
    Fixed(Part),
    /// A selector is followed by one of several rests.
    Selected { first: Part, selector: Located, rests: Box<[Rest]> },
    /// The header has another form and needs its program.
    Program,
}

/// A compiled event header.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) region: Region,
    plan: Plan,
    align_mask: u64,
}

/// The form of almost all headers of almost all traces: the id and the clock are each
/// within one 64-bit load, often the same. Headers of another form, such as extended
/// headers, are decoded by the [`Header`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quick {
    pub(super) align_mask: u64,
    /// The size of the header in bits.
    pub(crate) bits: u64,
    id: QuickField,
    clock: QuickField,
    /// The ids for which the header has this form are `low` to `low + span`.
    pub(super) low: u64,
    pub(super) span: u64,
    /// `true` if the fields are big-endian.
    big: bool,
    /// `true` if the fields are little-endian and within one load.
    pub(super) one_load: bool,
    /// `true` if in addition a cycle is a nanosecond and times are not transformed. Most headers
    /// are of this kind, and one branch distinguishes them.
    simple: bool,
    pub(crate) converter: ClockConverter,
}

#[derive(Debug, Clone, Copy)]
struct QuickField {
    /// The offset of the load from the header's start, in bytes.
    byte: usize,
    shift: u32,
    mask: u64,
}

/// The values of a header of the quick form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuickValues {
    pub(crate) begin: u64,
    /// The end of the header, which is the start of the body, in bits.
    pub(crate) end: u64,
    pub(crate) id: u64,
    pub(crate) entry: IdEntry,
    pub(crate) cycles: u64,
    pub(crate) time: Timestamp,
}

/// The header of the next record, which is looked up while the record before it is decoded.
///
/// The processor then knows in time what depends on the type of an event, such as a branch, and its
/// misprediction costs less. It is valid for one packet, and until something is noted about the id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ahead {
    /// The end of the record before, in bits.
    of: u64,
    /// The start of the header, in bits.
    begin: u64,
    /// The first 64 bits of the header, little-endian.
    word: u64,
    entry: IdEntry,
}

impl Ahead {
    /// The header of no record.
    pub(crate) const NONE: Ahead = Ahead { of: u64::MAX, begin: 0, word: 0, entry: IdEntry::NONE };
}

impl QuickField {
    fn new(located: Located, byte: usize) -> Option<Self> {
        let bits = located.read.bits();
        let first = located.offset.checked_sub(8 * byte as u64)?;
        let first = u32::try_from(first).ok().filter(|f| f + bits <= 64)?;
        located.read.is_plain().then(|| QuickField {
            byte,
            shift: if located.read.is_big() { 64 - first - bits } else { first },
            mask: u64::MAX >> (64 - bits),
        })
    }

    #[inline(always)]
    fn of(&self, word: u64) -> u64 {
        (word >> self.shift) & self.mask
    }
}

impl Quick {
    /// Decodes the header after a record that ended at `pos`. If it does not have the quick form, or its
    /// id is not in the dense part of the table, there may be no entry. The caller has to compare its
    /// end with the packet's. `SIMPLE` is what [`is_simple`](Self::is_simple) returns.
    #[inline(always)]
    pub(crate) fn read<const SIMPLE: bool>(
        &self,
        ids: &IdTable,
        data: &[u8],
        pos: u64,
        clock: u64,
        ahead: &Ahead,
    ) -> Option<QuickValues> {
        let found;
        let Ahead { begin, word, entry, .. } = match ahead.of == pos {
            true => ahead,
            false => {
                found = self.look_ahead::<SIMPLE>(ids, data, pos);
                &found
            }
        };
        if cfg!(debug_assertions) {
            let again = self.look_ahead::<SIMPLE>(ids, data, pos);
            debug_assert_eq!((*begin, *word), (again.begin, again.word));
        }
        let now = match SIMPLE || self.one_load {
            true => *word,
            false => self.clock_word(data, (*begin / 8) as usize)?,
        };
        let cycles = self.cycles(now, clock);
        Some(QuickValues {
            begin: *begin,
            end: *begin + self.bits,
            id: self.id_in::<SIMPLE>(*word),
            entry: *entry,
            cycles,
            time: self.time::<SIMPLE>(cycles)?,
        })
    }

    /// Looks up the header after a record that ended at `pos`, for [`read`](Self::read).
    #[inline(always)]
    pub(crate) fn look_ahead<const SIMPLE: bool>(
        &self,
        ids: &IdTable,
        data: &[u8],
        pos: u64,
    ) -> Ahead {
        let begin = self.begin(pos);
        let Some(word) = load(data, (begin / 8) as usize) else { return Ahead::NONE };
        let word = u64::from_le_bytes(word);
        let entry = self.entry(ids, self.id_in::<SIMPLE>(word)).unwrap_or(IdEntry::NONE);
        Ahead { of: pos, begin, word, entry }
    }

    /// Returns the id in the first 64 bits of a header, which were read as little-endian.
    #[inline(always)]
    fn id_in<const SIMPLE: bool>(&self, word: u64) -> u64 {
        self.id.of(if !SIMPLE && self.big { word.swap_bytes() } else { word })
    }

    /// Reads the word of a header that contains its clock value.
    #[inline(always)]
    fn clock_word(&self, data: &[u8], byte: usize) -> Option<u64> {
        let now = u64::from_le_bytes(load(data, byte + self.clock.byte)?);
        Some(if self.big { now.swap_bytes() } else { now })
    }

    /// Returns the start of the header that follows a record ending at `pos`.
    #[inline(always)]
    pub(crate) fn begin(&self, pos: u64) -> u64 {
        (pos + self.align_mask) & !self.align_mask
    }

    /// Returns the entry of an id, if a header with it has the quick form and the id is in the
    /// dense part of the table.
    #[inline(always)]
    pub(crate) fn entry(&self, ids: &IdTable, id: u64) -> Option<IdEntry> {
        if self.has_id(id) { ids.entry(id) } else { None }
    }

    /// Returns `true` if a header with an id has the quick form.
    #[inline(always)]
    pub(crate) fn has_id(&self, id: u64) -> bool {
        id.wrapping_sub(self.low) <= self.span
    }

    /// Converts a value of the default clock to a time.
    #[inline(always)]
    pub(crate) fn time<const SIMPLE: bool>(&self, cycles: u64) -> Option<Timestamp> {
        match SIMPLE {
            true => self.converter.linear(cycles),
            false => self.converter.transformed(cycles),
        }
    }

    /// Returns `true` if the functions with a parameter `SIMPLE` may be called with `true`.
    #[inline(always)]
    pub(crate) fn is_simple(&self) -> bool {
        self.simple
    }

    /// Returns `true` if bodies start at byte boundaries.
    pub(crate) fn keeps_bytes(&self) -> bool {
        self.bits.is_multiple_of(8)
    }

    /// Reads the id of a header that starts at a byte, and the word that contains its
    /// clock value.
    #[inline(always)]
    pub(crate) fn words<const SIMPLE: bool>(&self, data: &[u8], byte: usize) -> Option<(u64, u64)> {
        let word = u64::from_le_bytes(load(data, byte)?);
        let now = if SIMPLE { word } else { self.clock_word(data, byte)? };
        Some((self.id_in::<SIMPLE>(word), now))
    }

    /// Computes the new value of the clock, as
    /// [`update_clock`](crate::layout::clock::update_clock) does.
    #[inline(always)]
    pub(crate) fn cycles(&self, now: u64, clock: u64) -> u64 {
        clock.wrapping_add(self.passed(now, clock))
    }

    /// Computes the number of cycles that have passed since the value `clock`, given the word that
    /// contains the new one.
    #[inline(always)]
    pub(crate) fn passed(&self, now: u64, clock: u64) -> u64 {
        (now >> self.clock.shift).wrapping_sub(clock) & self.clock.mask
    }

    /// Returns the bits of the word of a header that are the id, and their value for an id. The
    /// fields must be within one load.
    pub(crate) fn id_bits(&self, id: u64) -> (u64, u64) {
        (self.id.mask << self.id.shift, id << self.id.shift)
    }

    /// Returns the bits of the clock in the word of a header, and the greatest number of cycles
    /// between two headers. The fields must be within one load.
    pub(crate) fn clock_bits(&self) -> (u32, u64) {
        (self.clock.shift, self.clock.mask)
    }
}

#[inline(always)]
fn load(data: &[u8], byte: usize) -> Option<[u8; 8]> {
    data.get(byte..byte.wrapping_add(8))?.first_chunk().copied()
}

/// The values of an event header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeaderValues {
    pub(crate) id: Option<u64>,
    /// The value of the default clock after the header, in cycles.
    pub(crate) clock: u64,
    /// The end of the header, in bits.
    pub(crate) end: u64,
}

impl Header {
    pub(crate) fn new(region: Region, align: u32) -> Self {
        let plan = plan(&region.ops).unwrap_or(Plan::Program);
        Header { region, plan, align_mask: u64::from(align.max(1)) - 1 }
    }

    /// Returns the quick form of the header for a clock, if it has one.
    pub(crate) fn quick(&self, converter: ClockConverter) -> Option<Quick> {
        if self.align_mask < 7 {
            return None;
        }
        let (part, id, low, high) = match &self.plan {
            Plan::Fixed(part) => (part, part.id?, 0, u64::MAX),
            Plan::Selected { first, selector, rests } => {
                let (id, rest) = (first.id?, rests.first()?);
                if id != *selector || first.clock.is_some() || rest.part.id.is_some() {
                    return None;
                }
                (&rest.part, id, rest.low, rest.high)
            }
            Plan::Program => return None,
        };
        let clock = part.clock?;
        let big = id.read.is_big();
        if clock.read.is_big() != big {
            return None;
        }
        let apart = (clock.offset / 8) as usize;
        let clock = QuickField::new(clock, 0).or_else(|| QuickField::new(clock, apart))?;
        Some(Quick {
            align_mask: self.align_mask,
            bits: part.end,
            id: QuickField::new(id, 0)?,
            one_load: !big && clock.byte == 0,
            simple: !big && clock.byte == 0 && converter.is_linear(),
            clock,
            big,
            low,
            span: high - low,
            converter,
        })
    }

    /// Returns the start of the header that follows a record ending at `pos`.
    pub(crate) fn begin(&self, pos: u64) -> u64 {
        (pos + self.align_mask) & !self.align_mask
    }

    /// Reads the header that starts at `pos`, which must be aligned. `clock` is the value
    /// of the default clock before it.
    pub(crate) fn read(
        &self,
        window: Window<'_>,
        pos: u64,
        clock: u64,
        scratch: &mut Scratch,
    ) -> Result<HeaderValues, DecodeError> {
        let values = match &self.plan {
            Plan::Fixed(part) => part.read(window, pos, None, clock),
            Plan::Selected { first, selector, rests } => {
                let at_first = first.read(window, pos, None, clock);
                let value = selector.read.raw(window.data, pos + selector.offset);
                let rest = rests.iter().find(|r| r.low <= value && value <= r.high);
                let Some(rest) = rest else {
                    return Err(no_option(window, at_first.end, value));
                };
                rest.part.read(window, pos, at_first.id, at_first.clock)
            }
            Plan::Program => return self.run(window, pos, clock, scratch),
        };
        if values.end > window.end {
            return Err(DecodeError::BeyondContent { needed: values.end - window.end });
        }
        Ok(values)
    }

    /// Reads a header like [`read`](Self::read); `None` if it has no plan or is damaged.
    #[inline(never)]
    pub(crate) fn read_plan(
        &self,
        window: Window<'_>,
        pos: u64,
        clock: u64,
    ) -> Option<HeaderValues> {
        match self.plan {
            Plan::Program => None,
            Plan::Fixed(_) | Plan::Selected { .. } => {
                self.read(window, pos, clock, &mut Scratch::default()).ok()
            }
        }
    }

    #[inline(never)]
    fn run(
        &self,
        window: Window<'_>,
        pos: u64,
        clock: u64,
        scratch: &mut Scratch,
    ) -> Result<HeaderValues, DecodeError> {
        scratch.roles.clear();
        scratch.roles.clock = clock;
        let end = self.region.run(window, pos, scratch)?;
        Ok(HeaderValues {
            id: scratch.roles.get(Role::EventTypeId),
            clock: scratch.roles.clock,
            end,
        })
    }
}

#[cold]
fn no_option(window: Window<'_>, end: u64, value: u64) -> DecodeError {
    if end > window.end {
        return DecodeError::BeyondContent { needed: end - window.end };
    }
    DecodeError::NoVariantOption { value: value.into() }
}

impl Part {
    fn read(&self, window: Window<'_>, pos: u64, id: Option<u64>, clock: u64) -> HeaderValues {
        HeaderValues {
            id: match &self.id {
                Some(l) => Some(l.read.raw(window.data, pos + l.offset)),
                None => id,
            },
            clock: match &self.clock {
                Some(l) => {
                    update_clock(clock, l.read.raw(window.data, pos + l.offset), l.read.bits())
                }
                None => clock,
            },
            end: pos + self.end,
        }
    }
}

/// Derives the plan of a header from its program; `None` if the program has another form.
fn plan(ops: &[Op]) -> Option<Plan> {
    let (first, saves, variant) = part(ops, 0)?;
    let Some(Op::Variant { selector, signed: false, options, .. }) = variant else {
        return variant.is_none().then_some(Plan::Fixed(first));
    };
    let (_, selector) = saves.into_iter().find(|(slot, _)| slot == selector)?;
    let mut rests = Vec::new();
    for option in options.iter() {
        let (rest, _, None) = part(&option.ops, first.end)? else { return None };
        for (low, high) in &option.ranges {
            rests.push(Rest {
                low: (*low).try_into().ok()?,
                high: (*high).try_into().ok()?,
                part: rest,
            });
        }
    }
    Some(Plan::Selected { first, selector, rests: rests.into() })
}

/// Returns the constant part at the start of a program, the fields that it saves, and the
/// variant that ends it.
#[allow(clippy::type_complexity)] // three parts of one result, used once
fn part(ops: &[Op], begin: u64) -> Option<(Part, Vec<(u32, Located)>, Option<&Op>)> {
    let (mut part, mut saves) = (Part { end: begin, ..Part::default() }, Vec::new());
    for (i, op) in ops.iter().enumerate() {
        match op {
            Op::Skip(bits) => part.end = part.end.checked_add(*bits)?,
            Op::Save { delta, read, slot } => {
                saves.push((*slot, Located { offset: part.end + delta, read: *read }));
            }
            Op::Role { delta, read, roles } => {
                let located = Located { offset: part.end + delta, read: *read };
                if roles.has(Role::EventTypeId) {
                    part.id = Some(located);
                }
                if roles.has(Role::ClockTimestamp) && part.clock.replace(located).is_some() {
                    return None; // only the program supports several updates
                }
                let known = [Role::EventTypeId, Role::ClockTimestamp];
                debug_assert!(known.iter().any(|r| roles.has(*r)) || *roles != Roles::NONE);
            }
            Op::Variant { .. } if i + 1 == ops.len() => return Some((part, saves, Some(op))),
            _ => return None,
        }
    }
    // The size is limited so that positions cannot overflow.
    (part.end < 1 << 32).then_some((part, saves, None))
}
