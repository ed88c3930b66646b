//! Attributes, each of which describes an event source and the form of its samples.

use crate::schema::ByteOrder;
use crate::tracepoint::input::{Fault, Input};

/// The bits of the type of samples.
pub(super) mod sample {
    pub(crate) const IP: u64 = 1 << 0;
    pub(crate) const TID: u64 = 1 << 1;
    pub(crate) const TIME: u64 = 1 << 2;
    pub(crate) const ADDR: u64 = 1 << 3;
    pub(crate) const READ: u64 = 1 << 4;
    pub(crate) const CALLCHAIN: u64 = 1 << 5;
    pub(crate) const ID: u64 = 1 << 6;
    pub(crate) const CPU: u64 = 1 << 7;
    pub(crate) const PERIOD: u64 = 1 << 8;
    pub(crate) const STREAM_ID: u64 = 1 << 9;
    pub(crate) const RAW: u64 = 1 << 10;
    pub(crate) const BRANCH_STACK: u64 = 1 << 11;
    pub(crate) const REGS_USER: u64 = 1 << 12;
    pub(crate) const STACK_USER: u64 = 1 << 13;
    pub(crate) const WEIGHT: u64 = 1 << 14;
    pub(crate) const DATA_SRC: u64 = 1 << 15;
    pub(crate) const IDENTIFIER: u64 = 1 << 16;
    pub(crate) const TRANSACTION: u64 = 1 << 17;
    pub(crate) const REGS_INTR: u64 = 1 << 18;
    pub(crate) const PHYS_ADDR: u64 = 1 << 19;
    pub(crate) const AUX: u64 = 1 << 20;
    pub(crate) const CGROUP: u64 = 1 << 21;
    pub(crate) const DATA_PAGE_SIZE: u64 = 1 << 22;
    pub(crate) const CODE_PAGE_SIZE: u64 = 1 << 23;
    pub(crate) const WEIGHT_STRUCT: u64 = 1 << 24;
    /// All bits that are known.
    pub(crate) const KNOWN: u64 = (1 << 25) - 1;
}

/// The bits of the form of values that samples contain.
pub(super) mod read {
    pub(crate) const ENABLED: u64 = 1 << 0;
    pub(crate) const RUNNING: u64 = 1 << 1;
    pub(crate) const ID: u64 = 1 << 2;
    pub(crate) const GROUP: u64 = 1 << 3;
    pub(crate) const LOST: u64 = 1 << 4;
}

/// The bit of the type of branches with which an index follows the number of branches.
const BRANCH_HW_INDEX: u64 = 1 << 17;

/// The bit of the type of branches with which a counter for each follows all branches.
const BRANCH_COUNTERS: u64 = 1 << 19;

/// The flag with which all records end with the values that identify a sample.
const SAMPLE_ID_ALL: u64 = 1 << 18;

/// The type of tracepoints.
const TRACEPOINT: u32 = 2;

/// The size of a record header in bytes.
pub(super) const HEADER: u32 = 8;

/// The smallest size of an attribute in bytes, that of its first version.
const SMALLEST: usize = 64;

/// An attribute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Attribute {
    kind: u32,
    pub(super) config: u64,
    pub(super) sample_type: u64,
    pub(super) read_format: u64,
    flags: u64,
    branch_type: u64,
    pub(super) regs_user: u64,
    pub(super) regs_intr: u64,
    /// The number of its clock, which has a meaning only with a date.
    pub(super) clock: i32,
    pub(super) ids: Vec<u64>,
    pub(super) name: Option<String>,
}

impl Attribute {
    /// Reads an attribute of any size. What a shorter one lacks is 0.
    pub(super) fn read(bytes: &[u8], order: ByteOrder) -> Result<Attribute, Fault> {
        if bytes.len() < SMALLEST {
            let input = Input::unpacked(bytes, 0, order, "attributes");
            return Err(input.fault("an attribute is too short"));
        }
        let mut whole = [0; 144];
        for (to, from) in whole.iter_mut().zip(bytes) {
            *to = *from;
        }
        let mut input = Input::unpacked(&whole, 0, order, "attributes");
        let (kind, _size) = (input.u32()?, input.u32()?);
        let (config, _period) = (input.u64()?, input.u64()?);
        let (sample_type, read_format, flags) = (input.u64()?, input.u64()?, input.u64()?);
        input.take(24)?; // wakeup, breakpoints or further configuration
        let (branch_type, regs_user) = (input.u64()?, input.u64()?);
        let (_stack_size, clock) = (input.u32()?, input.u32()? as i32);
        let regs_intr = input.u64()?;
        let (ids, name) = (Vec::new(), None);
        Ok(Attribute {
            kind,
            config,
            sample_type,
            read_format,
            flags,
            branch_type,
            regs_user,
            regs_intr,
            clock,
            ids,
            name,
        })
    }

    pub(super) fn has(&self, bit: u64) -> bool {
        self.sample_type & bit != 0
    }

    pub(super) fn is_tracepoint(&self) -> bool {
        self.kind == TRACEPOINT
    }

    /// Returns the size of what follows the number of branches, in bytes.
    pub(super) fn branch_gap(&self) -> u8 {
        if self.branch_type & BRANCH_HW_INDEX != 0 { 8 } else { 0 }
    }

    /// Returns the size of a branch with its counters, in bytes.
    pub(super) fn branch_size(&self) -> u32 {
        if self.branch_type & BRANCH_COUNTERS != 0 { 24 + 8 } else { 24 }
    }

    /// Returns the name, or the numbers if it has none.
    pub(super) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("type{}:{}", self.kind, self.config))
    }

    /// Returns the size of some fields of 8 bytes each, in bytes.
    fn size_of(&self, bits: &[u64]) -> u32 {
        8 * bits.iter().filter(|bit| self.has(**bit)).count() as u32
    }

    /// Returns the offset of the time in samples, in bytes.
    pub(super) fn time_in_sample(&self) -> Option<u32> {
        let before = HEADER + self.size_of(&[sample::IDENTIFIER, sample::IP, sample::TID]);
        self.has(sample::TIME).then_some(before)
    }

    /// Returns the offset of the id in samples that have no identifier, in bytes.
    pub(super) fn id_in_sample(&self) -> u32 {
        HEADER + self.size_of(&[sample::IP, sample::TID, sample::TIME, sample::ADDR])
    }

    /// Returns the offset of the CPU in samples, in bytes.
    pub(super) fn cpu_in_sample(&self) -> Option<u32> {
        let bits = [
            sample::IDENTIFIER,
            sample::IP,
            sample::TID,
            sample::TIME,
            sample::ADDR,
            sample::ID,
            sample::STREAM_ID,
        ];
        self.has(sample::CPU).then_some(HEADER + self.size_of(&bits))
    }

    /// Returns the values at the end of records that are no samples, in their order.
    pub(super) fn tail(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        let bits = [
            sample::TID,
            sample::TIME,
            sample::ID,
            sample::STREAM_ID,
            sample::CPU,
            sample::IDENTIFIER,
        ];
        let has_tail = self.flags & SAMPLE_ID_ALL != 0;
        bits.into_iter().filter(move |bit| has_tail && self.has(*bit))
    }

    /// Returns the size of these values in bytes.
    pub(super) fn tail_size(&self) -> u32 {
        8 * self.tail().count() as u32
    }

    /// Returns the distance of one of these values from the end of the record, in bytes.
    pub(super) fn before_end(&self, wanted: u64) -> Option<u32> {
        let at = self.tail().rev().position(|bit| bit == wanted)?;
        Some(8 * (at as u32 + 1))
    }
}
