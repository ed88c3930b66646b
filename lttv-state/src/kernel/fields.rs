//! The fields of an event that its transition needs.

use ltt_read::{Event, Value};

use super::modes::ProcessType;
use super::resources::{DeviceNumber, RequestOperation};
use super::rule::Rule;

/// The fields of an event, by slot of its transition: of the event itself, or recorded before.
pub(super) trait Fields {
    /// Returns the integer in a slot.
    fn integer(&self, slot: usize) -> Option<u64>;

    /// Returns the text in a slot.
    fn text(&self, slot: usize) -> Option<&[u8]>;

    /// Returns the text in a slot, see [`Rule::raw_text`].
    fn raw_text(&self, slot: usize) -> Option<&[u8]>;

    /// Returns the operation of a request to a block device.
    fn operation(&self, slot: usize) -> RequestOperation;

    /// Returns the type of a process.
    fn process_type(&self, slot: usize) -> Option<ProcessType>;

    /// Returns the two descriptors in a slot.
    fn descriptors(&self, slot: usize) -> Option<[i32; 2]>;

    /// Returns the process id in a slot; -1, which is no process id, if the value is too large.
    #[inline]
    fn tid(&self, slot: usize) -> Option<i32> {
        let value = self.integer(slot)?;
        Some(i32::try_from(value as i64).unwrap_or(-1))
    }

    /// Returns the unsigned 32-bit number in a slot; `u32::MAX` if the value is too large.
    #[inline]
    fn number(&self, slot: usize) -> Option<u32> {
        Some(u32::try_from(self.integer(slot)?).unwrap_or(u32::MAX))
    }

    /// Returns the number of the block device in the slots of a request.
    fn device(&self) -> Option<DeviceNumber> {
        if let Some(device) = self.number(0) {
            return Some(DeviceNumber::from_kernel(device));
        }
        Some(DeviceNumber { major: self.number(1)?, minor: self.number(2)? })
    }
}

/// The fields of an event, read when they are needed.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventFields<'e, 't> {
    pub(super) rule: &'e Rule,
    pub(super) event: &'e Event<'t>,
}

impl Fields for EventFields<'_, '_> {
    #[inline]
    fn integer(&self, slot: usize) -> Option<u64> {
        self.rule.integer(self.event, slot)
    }

    #[inline]
    fn text(&self, slot: usize) -> Option<&[u8]> {
        self.rule.text(self.event, slot)
    }

    #[inline]
    fn raw_text(&self, slot: usize) -> Option<&[u8]> {
        self.rule.raw_text(self.event, slot)
    }

    fn operation(&self, slot: usize) -> RequestOperation {
        RequestOperation::of(self.rule.value(self.event, slot).as_ref())
    }

    fn descriptors(&self, slot: usize) -> Option<[i32; 2]> {
        let Some(Value::Array(array)) = self.rule.value(self.event, slot) else { return None };
        let of = |at| i32::try_from(array.get(at)?.as_i64()?).ok();
        Some([of(0)?, of(1)?])
    }

    fn process_type(&self, slot: usize) -> Option<ProcessType> {
        match self.rule.label(self.event, slot) {
            Some(label) if label.to_ascii_lowercase().contains("kernel") => {
                Some(ProcessType::Kernel)
            }
            Some(_) => Some(ProcessType::User),
            None => match self.rule.integer(self.event, slot) {
                Some(0) => Some(ProcessType::User),
                Some(1) => Some(ProcessType::Kernel),
                _ => None,
            },
        }
    }
}
