//! Event types of samples and of other records: their field classes, and the places of these in records.

use std::sync::Arc;

use super::attributes::{Attribute, HEADER, read, sample};
use super::kinds::{Form, described};
use crate::layout::record::{FieldPlace, FieldPlaces, Origin, Section, SectionForm, Sections};
use crate::schema::{
    Array, DisplayBase, EventType, FieldClass, FieldKind, Integer, Length, Member, Roles,
    StreamClassId,
};
use crate::tracepoint::classes::{Machine, bytes, dynamic_length, structure, text};
use crate::tracepoint::formats::Format;

/// An event type with the places of its fields.
#[derive(Debug)]
pub(super) struct PlacedType {
    pub(super) event_type: EventType,
    pub(super) places: FieldPlaces,
    pub(super) sections: Sections,
}

/// A field with its place, and the origin from which that is counted.
type Placed = (Member, FieldPlace, Origin);

/// The state while the fields of a type are placed one after the other.
struct Placing {
    machine: Machine,
    context: Vec<Placed>,
    payload: Vec<Placed>,
    sections: Vec<Section>,
    /// The place of the next field.
    origin: Origin,
    at: u32,
}

impl Placing {
    fn new(machine: Machine) -> Self {
        let (context, payload, sections) = (Vec::new(), Vec::new(), Vec::new());
        Placing { machine, context, payload, sections, origin: Origin::Record, at: HEADER }
    }

    fn integer(&self, size: u32, base: DisplayBase) -> FieldClass {
        FieldClass::integer(8 * size, self.machine.order, Integer { base, ..Integer::default() })
    }

    /// Places the next field of some bytes.
    fn next(&mut self, name: &str, class: FieldClass, size: u32) -> Placed {
        let placed = (member(name, class), FieldPlace::At(self.at), self.origin);
        self.at = self.at.saturating_add(size);
        placed
    }

    /// Adds an integer to the context.
    fn context(&mut self, name: &str, size: u32, base: DisplayBase) {
        let class = self.integer(size, base);
        let placed = self.next(name, class, size);
        self.context.push(placed);
    }

    /// Adds a section. Returns the origin of its contents.
    fn section(&mut self, form: SectionForm) -> Origin {
        let number = self.sections.len() as u8;
        self.sections.push(Section { from: self.origin, at: self.at, form });
        (self.origin, self.at) = (Origin::After(number), 0);
        Origin::StartOf(number)
    }

    /// Adds the contents of a section to the context, as an array of numbers of 8 bytes.
    fn numbers(&mut self, name: &str, form: SectionForm, base: DisplayBase) {
        let element = Arc::new(self.integer(8, base));
        self.elements(name, form, element);
    }

    fn elements(&mut self, name: &str, form: SectionForm, element: Arc<FieldClass>) {
        let array = Array { element, length: dynamic_length(name), roles: Roles::NONE };
        let class = FieldClass::new(FieldKind::Array(array), 8);
        let origin = self.section(form);
        self.context.push((member(name, class), FieldPlace::ToEnd(0), origin));
    }

    /// Creates a field with all bytes of a section.
    fn bytes(&mut self, name: &str, form: SectionForm) -> Placed {
        let origin = self.section(form);
        (member(name, bytes(dynamic_length(name))), FieldPlace::ToEnd(0), origin)
    }

    /// Adds the values of counters.
    fn values(&mut self, read_format: u64) {
        let has = |bit| read_format & bit != 0;
        let decimal = DisplayBase::Decimal;
        let times = [(read::ENABLED, "time_enabled"), (read::RUNNING, "time_running")];
        let times = times.into_iter().filter(|(bit, _)| has(*bit)).map(|(_, name)| name);
        let more = [(read::ID, "id"), (read::LOST, "lost")];
        let more = more.into_iter().filter(|(bit, _)| has(*bit)).map(|(_, name)| name);
        let number = Arc::new(self.integer(8, decimal));
        let values = |names: Vec<&str>| {
            let size = 8 * names.len() as u32;
            let members = names.into_iter().map(|name| (name, FieldClass::clone(&number)));
            (FieldClass::structure(members), size)
        };
        if !has(read::GROUP) {
            let (class, size) = values(["value"].into_iter().chain(times).chain(more).collect());
            let placed = self.next("read", class, size);
            self.context.push(placed);
            return;
        }
        let (element, unit) = values(["value"].into_iter().chain(more).collect());
        let mut gap = 0;
        for name in times {
            let at = self.at + 8 + u32::from(gap);
            let class = FieldClass::clone(&number);
            self.context.push((member(name, class), FieldPlace::At(at), self.origin));
            gap += 8;
        }
        let form = SectionForm::Counted { count: 8, gap, unit, rest: 0 };
        self.elements("read", form, Arc::new(element));
    }

    /// Adds those values of 8 bytes whose bits are given, in their order, to the context.
    fn words(&mut self, bits: impl IntoIterator<Item = u64>) {
        use DisplayBase::{Decimal, Hexadecimal};
        for bit in bits {
            let (name, base) = match bit {
                sample::TID => {
                    self.context("pid", 4, Decimal);
                    self.context("tid", 4, Decimal);
                    continue;
                }
                // The time of the event, which is no field.
                sample::TIME => {
                    self.at += 8;
                    continue;
                }
                sample::CPU => {
                    self.context("cpu", 4, Decimal);
                    self.at += 4;
                    continue;
                }
                sample::IDENTIFIER => ("identifier", Decimal),
                sample::IP => ("ip", Hexadecimal),
                sample::ADDR => ("addr", Hexadecimal),
                sample::ID => ("id", Decimal),
                sample::STREAM_ID => ("stream_id", Decimal),
                sample::PERIOD => ("period", Decimal),
                sample::DATA_SRC => ("data_src", Decimal),
                sample::TRANSACTION => ("transaction", Decimal),
                sample::PHYS_ADDR => ("phys_addr", Decimal),
                sample::CGROUP => ("cgroup", Decimal),
                sample::DATA_PAGE_SIZE => ("data_page_size", Decimal),
                sample::CODE_PAGE_SIZE => ("code_page_size", Decimal),
                // Of two forms, of which a sample has one.
                _ => ("weight", Decimal),
            };
            self.context(name, 8, base);
        }
    }

    fn finish(self, id: u64, name: &str) -> PlacedType {
        let (context_members, context_places, context_origins) = split(self.context);
        let (payload_members, payload_places, payload_origins) = split(self.payload);
        let class = |members: Vec<(Member, FieldPlace)>| {
            let (class, _) = structure(members);
            Some(Arc::new(class)).filter(|class| !class.members().is_empty())
        };
        PlacedType {
            event_type: EventType {
                specific_context: class(context_members),
                payload: class(payload_members),
                ..EventType::new(StreamClassId(0), id, name)
            },
            places: context_places.into_iter().chain(payload_places).collect(),
            sections: Sections {
                sections: self.sections.into(),
                origins: context_origins.into_iter().chain(payload_origins).collect(),
            },
        }
    }
}

/// Splits placed fields into members with places, as for [`structure`], places and origins.
fn split(placed: Vec<Placed>) -> (Vec<(Member, FieldPlace)>, Vec<FieldPlace>, Vec<Origin>) {
    let places = placed.iter().map(|(_, place, _)| *place).collect();
    let origins = placed.iter().map(|(_, _, origin)| *origin).collect();
    (placed.into_iter().map(|(member, place, _)| (member, place)).collect(), places, origins)
}

fn member(name: &str, class: FieldClass) -> Member {
    Member { name: name.into(), class: Arc::new(class), attributes: None }
}

/// Returns the type of the samples of an attribute. Those of tracepoints have the fields of the
/// description, which has a system.
pub(super) fn sample_type(
    machine: Machine,
    id: u64,
    attribute: &Attribute,
    described: Option<&(Arc<str>, Format)>,
) -> PlacedType {
    use DisplayBase::Hexadecimal;
    let mut placing = Placing::new(machine);
    let having =
        |bits: &[u64]| bits.iter().copied().filter(|bit| attribute.has(*bit)).collect::<Vec<_>>();
    placing.words(having(&[
        sample::IDENTIFIER,
        sample::IP,
        sample::TID,
        sample::TIME,
        sample::ADDR,
        sample::ID,
        sample::STREAM_ID,
        sample::CPU,
        sample::PERIOD,
    ]));
    if attribute.has(sample::READ) {
        placing.values(attribute.read_format);
    }
    let counted = |count, unit| SectionForm::Counted { count, gap: 0, unit, rest: 0 };
    if attribute.has(sample::CALLCHAIN) {
        placing.numbers("callchain", counted(8, 8), Hexadecimal);
    }
    if attribute.has(sample::RAW) {
        match described {
            Some((system, format)) => {
                let origin = placing.section(counted(4, 1));
                let common = format.common.iter().filter(|field| field.name != "common_type");
                let common = common.map(|field| machine.member(field, None));
                placing.context.extend(common.map(|(member, place)| (member, place, origin)));
                let fields = machine.members(system, format).into_iter();
                placing.payload.extend(fields.map(|(member, place)| (member, place, origin)));
            }
            None => {
                let raw = placing.bytes("raw", counted(4, 1));
                placing.payload.push(raw);
            }
        }
    }
    if attribute.has(sample::BRANCH_STACK) {
        let gap = attribute.branch_gap();
        let unit = attribute.branch_size();
        let form = SectionForm::Counted { count: 8, gap, unit, rest: 0 };
        let branches = placing.bytes("branch_stack", form);
        placing.context.push(branches);
    }
    let registers = |mask: u64| SectionForm::IfNonzero { size: 8 * mask.count_ones() };
    if attribute.has(sample::REGS_USER) {
        placing.numbers("regs_user", registers(attribute.regs_user), Hexadecimal);
    }
    if attribute.has(sample::STACK_USER) {
        let form = SectionForm::Counted { count: 8, gap: 0, unit: 1, rest: 8 };
        let stack = placing.bytes("stack_user", form);
        placing.context.push(stack);
    }
    if attribute.has(sample::WEIGHT | sample::WEIGHT_STRUCT) {
        placing.words([sample::WEIGHT]);
    }
    placing.words(having(&[sample::DATA_SRC, sample::TRANSACTION]));
    if attribute.has(sample::REGS_INTR) {
        placing.numbers("regs_intr", registers(attribute.regs_intr), Hexadecimal);
    }
    placing.words(having(&[
        sample::PHYS_ADDR,
        sample::CGROUP,
        sample::DATA_PAGE_SIZE,
        sample::CODE_PAGE_SIZE,
    ]));
    if attribute.has(sample::AUX) {
        let aux = placing.bytes("aux", counted(8, 1));
        placing.context.push(aux);
    }
    // What newer versions have after that is kept as well.
    if attribute.sample_type & !sample::KNOWN != 0 {
        let rest = placing.bytes("rest", SectionForm::UpTo { tail: 0 });
        placing.context.push(rest);
    }
    let name = described.map(|(system, format)| format!("{system}:{}", format.name));
    placing.finish(id, &name.unwrap_or_else(|| attribute.name()))
}

/// Returns the type of records of a kind that are no samples. `attribute` has the form of their end.
pub(super) fn record_type(
    machine: Machine,
    id: u64,
    kind: u32,
    misc: u16,
    attribute: &Attribute,
) -> PlacedType {
    let mut placing = Placing::new(machine);
    let (name, fields) = described(kind, misc);
    let misc = member("misc", placing.integer(2, DisplayBase::Hexadecimal));
    placing.payload.push((misc, FieldPlace::At(4), Origin::Record));
    let rest = SectionForm::UpTo { tail: attribute.tail_size() };
    for (name, form) in fields {
        let (class, size) = match form {
            Form::Decimal(size) => (placing.integer((*size).into(), DisplayBase::Decimal), *size),
            Form::Hexadecimal(size) => {
                (placing.integer((*size).into(), DisplayBase::Hexadecimal), *size)
            }
            Form::Bytes(size) => (bytes(Length::Static((*size).into())), *size),
            Form::Skip(size) => {
                placing.at += u32::from(*size);
                continue;
            }
            Form::Text => {
                let origin = placing.section(rest);
                placing.payload.push((member(name, text(None)), FieldPlace::ToEnd(0), origin));
                continue;
            }
        };
        let placed = placing.next(name, class, size.into());
        placing.payload.push(placed);
    }
    if placing.sections.is_empty() {
        // What is not described is kept.
        match name {
            "unknown" | "read" | "namespaces" | "bpf_event" | "text_poke"
            | "callchain_deferred" => {
                let data = placing.bytes("data", rest);
                placing.payload.push(data);
            }
            _ => _ = placing.section(rest),
        }
    }
    if name == "unknown" {
        let class = placing.integer(4, DisplayBase::Decimal);
        placing.payload.push((member("type", class), FieldPlace::At(0), Origin::Record));
    }
    placing.words(attribute.tail());
    placing.finish(id, &format!("perf:{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ByteOrder;

    #[test]
    fn counters_follow_branches() {
        let sections = |branch_type: u64| {
            let mut bytes = [0; 144];
            let sample_type = sample::BRANCH_STACK | sample::REGS_INTR;
            bytes[24..32].copy_from_slice(&sample_type.to_le_bytes());
            bytes[72..80].copy_from_slice(&branch_type.to_le_bytes());
            let attribute = Attribute::read(&bytes, ByteOrder::Little).unwrap();
            let machine = Machine { order: ByteOrder::Little, long: 8 };
            super::sample_type(machine, 0, &attribute, None).sections.sections
        };
        let of = |gap, unit| SectionForm::Counted { count: 8, gap, unit, rest: 0 };
        for (branch_type, form) in
            [(0, of(0, 24)), (1 << 17, of(8, 24)), (1 << 19, of(0, 32)), (5 << 17, of(8, 32))]
        {
            let found = sections(branch_type);
            assert_eq!(found[0], Section { from: Origin::Record, at: HEADER, form });
            assert_eq!(found[1].from, Origin::After(0));
        }
    }
}
