//! Event headers: id and time of the next event record, as fast as possible.
//!
//! Nearly all headers are either fixed or, as LTTng's, a small fixed part
//! whose first field selects one of two fixed rests. For those a *plan* of
//! bit offsets is made from the header's program; anything else runs the
//! program itself. The commonest plans have a still quicker form.

pub(crate) mod skip;

use super::FixedRead;
use super::program::{Op, Scratch, Window};
use super::region::Region;
use super::tables::{IdEntry, IdTable};
use crate::error::DecodeError;
use crate::schema::{Role, Roles};
use crate::time::{ClockConverter, Timestamp, update_clock};

/// A field at a constant distance from the header's begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Located {
    offset: u64,
    read: FixedRead,
}

/// A header, or a part of one, whose fields all have constant offsets.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    id: Option<Located>,
    clock: Option<Located>,
    /// End, in bits from the header's begin.
    end: u64,
}

/// One of the rests that the selector chooses from.
#[derive(Debug, Clone, Copy)]
struct Rest {
    low: u64,
    high: u64,
    part: Part,
}

#[derive(Debug)]
enum Plan {
    /// Only constant offsets.
    Fixed(Part),
    /// A selector, then one of several rests.
    Selected { first: Part, selector: Located, rests: Box<[Rest]> },
    /// Anything else: run the program.
    Program,
}

/// A compiled event header.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) region: Region,
    plan: Plan,
    align_mask: u64,
}

/// The form that almost all headers of almost all traces have: id and clock
/// each within one 64-bit load, often the same. It is read without a look at
/// the layout; whatever does not fit (an extended header, say) takes the long
/// way.
#[derive(Debug)]
pub(crate) struct Quick {
    align_mask: u64,
    /// Size of the header in bits.
    bits: u64,
    id: QuickField,
    clock: QuickField,
    /// Ids with which the header has this form: from `low`, `span` more.
    low: u64,
    span: u64,
    /// Whether the fields are big-endian.
    big: bool,
    /// Neither that nor in two loads, and a cycle is a nanosecond: most headers,
    /// told by one branch.
    simple: bool,
    converter: ClockConverter,
}

#[derive(Debug, Clone, Copy)]
struct QuickField {
    /// Where the load begins, in bytes from the header's begin.
    byte: usize,
    shift: u32,
    mask: u64,
}

/// What a header of a quick form says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuickValues {
    pub(crate) begin: u64,
    /// Where it ends, and the body begins.
    pub(crate) end: u64,
    pub(crate) entry: IdEntry,
    pub(crate) cycles: u64,
    pub(crate) time: Timestamp,
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
    /// The header after a record that ended at `pos`, if it has the quick form and
    /// its id is a small one. Where it ends has not been compared with where the
    /// packet does.
    #[inline(always)]
    pub(crate) fn read(
        &self,
        ids: &IdTable,
        data: &[u8],
        pos: u64,
        clock: u64,
    ) -> Option<QuickValues> {
        let begin = (pos + self.align_mask) & !self.align_mask;
        let (id, now) = match self.simple {
            true => self.words::<true>(data, (begin / 8) as usize)?,
            false => self.words::<false>(data, (begin / 8) as usize)?,
        };
        if id.wrapping_sub(self.low) > self.span {
            return None;
        }
        let cycles = self.cycles(now, clock);
        let time = match self.simple {
            true => self.converter.linear(cycles)?,
            false => self.converter.timestamp(cycles)?,
        };
        Some(QuickValues { begin, end: begin + self.bits, entry: ids.entry(id)?, cycles, time })
    }

    /// The id, and the word that the clock's value is in, of a header that begins at a
    /// byte.
    #[inline(always)]
    fn words<const SIMPLE: bool>(&self, data: &[u8], byte: usize) -> Option<(u64, u64)> {
        let word = u64::from_le_bytes(load(data, byte)?);
        if SIMPLE {
            return Some((self.id.of(word), word));
        }
        let now = u64::from_le_bytes(load(data, byte + self.clock.byte)?);
        Some(match self.big {
            true => (self.id.of(word.swap_bytes()), now.swap_bytes()),
            false => (self.id.of(word), now),
        })
    }

    /// The value of the clock, as [`update_clock`](crate::time::update_clock) has it.
    #[inline(always)]
    fn cycles(&self, now: u64, clock: u64) -> u64 {
        let passed = (now >> self.clock.shift).wrapping_sub(clock) & self.clock.mask;
        clock.wrapping_add(passed)
    }
}

#[inline(always)]
fn load(data: &[u8], byte: usize) -> Option<[u8; 8]> {
    data.get(byte..byte.wrapping_add(8))?.as_array().copied()
}

/// What an event header says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeaderValues {
    pub(crate) id: Option<u64>,
    /// The default clock after the header.
    pub(crate) clock: u64,
    /// Where the header ends.
    pub(crate) end: u64,
}

impl Header {
    pub(crate) fn new(region: Region, align: u32) -> Self {
        let plan = plan(&region.ops).unwrap_or(Plan::Program);
        Header { region, plan, align_mask: u64::from(align.max(1)) - 1 }
    }

    /// Its quick form, if it has one, for a clock.
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
            simple: !big && clock.byte == 0 && converter.is_linear(),
            clock,
            big,
            low,
            span: high - low,
            converter,
        })
    }

    /// Where a header begins that follows a record ending at `pos`.
    pub(crate) fn begin(&self, pos: u64) -> u64 {
        (pos + self.align_mask) & !self.align_mask
    }

    /// Reads the header that begins at `pos` (aligned). `clock` is the clock's
    /// value before it.
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

/// The plan of a header program, if it has one of the simple forms.
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

/// The constant part at the begin of a program, the fields that it saves, and
/// the variant that ends it.
#[allow(clippy::type_complexity)] // three parts of one answer, used once
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
                    return None; // each update counts: leave it to the program
                }
                let known = [Role::EventTypeId, Role::ClockTimestamp];
                debug_assert!(known.iter().any(|r| roles.has(*r)) || *roles != Roles::NONE);
            }
            Op::Variant { .. } if i + 1 == ops.len() => return Some((part, saves, Some(op))),
            _ => return None,
        }
    }
    // A size that could overflow a position is no plan.
    (part.end < 1 << 32).then_some((part, saves, None))
}
