//! The labels of enumerations.

use ltt_read::FieldInfo;

/// The number of values whose labels are kept.
const KEPT: usize = 1024;

/// The labels of the values of a field that were met before, as far as the values are small.
#[derive(Debug, Default)]
pub(super) struct Labels {
    known: Vec<Option<Option<Box<str>>>>,
    text: String,
}

impl Labels {
    /// Returns the labels of a value, joined by `|`; `None` if it has none.
    #[inline]
    pub(super) fn of(&mut self, field: &FieldInfo, value: i128) -> Option<&str> {
        let Ok(index) = usize::try_from(value) else { return self.new_text(field, value) };
        if index >= KEPT {
            return self.new_text(field, value);
        }
        if self.known.len() <= index {
            self.known.resize(index + 1, None);
        }
        if self.known[index].is_none() {
            let text = labels(field, value, &mut self.text).then(|| self.text.as_str().into());
            self.known[index] = Some(text);
        }
        self.known[index].as_ref()?.as_deref()
    }

    #[cold]
    fn new_text(&mut self, field: &FieldInfo, value: i128) -> Option<&str> {
        labels(field, value, &mut self.text).then_some(&*self.text)
    }
}

/// Writes the labels of a value, or of its bits, joined by `|`. Returns `false` if it has none.
pub(super) fn labels(field: &FieldInfo, value: i128, text: &mut String) -> bool {
    text.clear();
    let mut has_any = false;
    let flags = field.class().flags(value);
    for label in flags.unwrap_or_else(|| field.labels(value).collect()) {
        if has_any {
            text.push('|');
        }
        text.push_str(label);
        has_any = true;
    }
    has_any
}
