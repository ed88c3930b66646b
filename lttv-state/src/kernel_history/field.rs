//! Attribute values in a form that is cheap to compare before they are stored.

use crate::history::{HistoryError, Store, Text};
use crate::kernel::{
    BlockDeviceMode, CpuMode, ExecutionMode, NameId, ProcessStatus, ProcessType, TraceState,
};
use crate::tree::Quark;
use crate::value::StateValue;

/// An attribute value whose text is represented by its id, so that comparing does not look
/// at texts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Field {
    #[default]
    Null,
    I32(i32),
    I64(i64),
    U64(u64),
    Text(Text),
}

impl Field {
    /// Creates the value of an unsigned number: an `I32` if it fits, otherwise an `I64`.
    pub(super) fn number(number: u32) -> Field {
        i32::try_from(number).map_or(Field::I64(number.into()), Field::I32)
    }

    /// Returns the current value of an attribute.
    pub(super) fn ongoing(builder: &mut impl Store, quark: Quark) -> Result<Field, HistoryError> {
        Ok(match builder.value(quark)? {
            StateValue::I32(number) => Field::I32(number),
            StateValue::I64(number) => Field::I64(number),
            StateValue::U64(number) => Field::U64(number),
            StateValue::Str(text) => {
                let text = text.to_owned();
                Field::Text(builder.text(&text)?)
            }
            // Kernel states have no other values.
            _ => Field::Null,
        })
    }

    /// Creates the value of a number, or null.
    pub(super) fn optional(number: Option<i32>) -> Field {
        number.map_or(Field::Null, Field::I32)
    }
}

/// The enum_texts of all modes, statuses and types, as texts of one builder.
#[derive(Debug)]
pub(super) struct EnumTexts {
    pub(super) cpu_modes: Vec<Field>,
    pub(super) statuses: Vec<Field>,
    pub(super) modes: Vec<Field>,
    pub(super) kinds: Vec<Field>,
    pub(super) device_modes: Vec<Field>,
}

impl EnumTexts {
    /// Adds the spellings to a builder.
    pub(super) fn new(builder: &mut impl Store) -> Result<EnumTexts, HistoryError> {
        // They are the first texts of the builder, so that their ids need few bits.
        let mut all = |texts: &mut dyn Iterator<Item = &'static str>| {
            texts.map(|text| builder.text(text).map(Field::Text)).collect::<Result<Vec<_>, _>>()
        };
        Ok(EnumTexts {
            cpu_modes: all(&mut CpuMode::ALL.iter().map(|of| of.as_str()))?,
            statuses: all(&mut ProcessStatus::ALL.iter().map(|of| of.as_str()))?,
            modes: all(&mut ExecutionMode::ALL.iter().map(|of| of.as_str()))?,
            kinds: all(&mut ProcessType::ALL.iter().map(|of| of.as_str()))?,
            device_modes: all(&mut BlockDeviceMode::ALL.iter().map(|of| of.as_str()))?,
        })
    }
}

/// The names of one trace, as texts of one builder.
#[derive(Debug, Default)]
pub(super) struct NameTexts {
    /// The texts by name id; null if a name has not been used yet.
    texts: Vec<Field>,
}

impl NameTexts {
    /// Returns the value of a name; null for the empty name.
    #[inline]
    pub(super) fn field(
        &mut self,
        id: NameId,
        state: &TraceState,
        builder: &mut impl Store,
    ) -> Result<Field, HistoryError> {
        match self.texts.get(id.index()) {
            _ if id == NameId::EMPTY => Ok(Field::Null),
            Some(Field::Null) | None => self.add(id, state, builder),
            Some(text) => Ok(*text),
        }
    }

    #[cold]
    fn add(
        &mut self,
        id: NameId,
        state: &TraceState,
        builder: &mut impl Store,
    ) -> Result<Field, HistoryError> {
        let name = state.name(id);
        if name.is_empty() {
            return Ok(Field::Null);
        }
        if self.texts.len() <= id.index() {
            self.texts.resize(id.index() + 1, Field::Null);
        }
        let text = Field::Text(builder.text(name)?);
        self.texts[id.index()] = text;
        Ok(text)
    }
}
