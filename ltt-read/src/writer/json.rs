//! A minimal JSON printer. Objects and arrays keep the order of writing, which matters
//! for mappings and environments of CTF 2.

use std::fmt::{Display, Write};

/// Prints a JSON string.
pub(super) fn string(text: &str) -> String {
    let mut json = String::from('"');
    for c in text.chars() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            c if u32::from(c) < 0x20 => {
                // Writing to a string cannot fail.
                let _ = write!(json, "\\u{:04x}", u32::from(c));
            }
            c => json.push(c),
        }
    }
    json.push('"');
    json
}

/// Prints a JSON array of items that are JSON text.
pub(super) fn array<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut json = String::from('[');
    for (i, item) in items.into_iter().enumerate() {
        let _ = write!(json, "{}{item}", if i > 0 { "," } else { "" });
    }
    json.push(']');
    json
}

/// A JSON object.
#[derive(Debug)]
pub(super) struct Object(String);

impl Object {
    pub(super) fn new() -> Self {
        Object(String::from("{"))
    }

    /// Creates an object with `type` as its first property.
    pub(super) fn of_type(name: &str) -> Self {
        let mut object = Object::new();
        object.text("type", name);
        object
    }

    /// Adds a property whose value is a number or JSON text.
    pub(super) fn raw(&mut self, key: &str, value: impl Display) -> &mut Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        let _ = write!(self.0, "{}:{value}", string(key));
        self
    }

    /// Adds a string property.
    pub(super) fn text(&mut self, key: &str, value: &str) -> &mut Self {
        self.raw(key, string(value))
    }

    /// Adds a string property unless the value is `None`.
    pub(super) fn maybe_text(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        if let Some(value) = value {
            self.text(key, value);
        }
        self
    }

    /// Adds a property unless the value is `None`.
    pub(super) fn maybe_raw(&mut self, key: &str, value: Option<impl Display>) -> &mut Self {
        if let Some(value) = value {
            self.raw(key, value);
        }
        self
    }

    /// Returns the finished JSON text.
    pub(super) fn end(&mut self) -> String {
        self.0.push('}');
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested() {
        let mut object = Object::of_type("a\"b\u{1}");
        object.raw("n", array([1, 2])).maybe_text("no", None);
        assert_eq!(object.end(), r#"{"type":"a\"b\u0001","n":[1,2]}"#);
        assert_eq!(Object::new().end(), "{}");
    }
}
