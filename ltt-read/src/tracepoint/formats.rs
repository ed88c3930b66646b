//! Descriptions of events: the text of the kernel's `format` files.

/// The description of an event type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) name: String,
    pub(crate) id: u16,
    /// The fields that all events have, whose names begin with `common_`.
    pub(crate) common: Vec<Field>,
    pub(crate) fields: Vec<Field>,
}

/// The description of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// The words of the type of the field, or of its elements.
    pub(crate) words: Vec<String>,
    pub(crate) storage: Storage,
    /// The offset in the record, in bytes.
    pub(crate) offset: u32,
    /// The size in bytes; 0 for an array up to the end of the record.
    pub(crate) size: u32,
    pub(crate) is_signed: bool,
}

/// The way in which a field is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    Value,
    /// An array; the number of its elements is `None` if it is a name or left out.
    Array(Option<u32>),
    /// An array whose offset and length are in the record (`__data_loc`).
    Located,
    /// An array like `Located`, whose offset counts from the end of the two (`__rel_loc`).
    LocatedRelative,
}

/// The greatest number of fields of an event type. Those of kernels have at most some tens.
const MAX_FIELDS: usize = 4096;

/// The greatest length of the name of an event type or of a field, which is copied to each type that
/// is made from the description. Names of kernels have at most some tens of bytes.
const MAX_NAME: usize = 256;

impl Format {
    /// Parses the text of a description; `None` if it lacks the name or the id, has too many fields,
    /// or a name is too long.
    pub(crate) fn parse(text: &[u8]) -> Option<Format> {
        let text = String::from_utf8_lossy(text);
        let (mut name, mut id) = (None, None);
        let (mut common, mut fields) = (Vec::new(), Vec::new());
        for line in text.lines() {
            let line = line.trim();
            if let Some(rest) = line.strip_prefix("name:") {
                name = Some(rest.trim().to_owned());
            } else if let Some(rest) = line.strip_prefix("ID:") {
                id = rest.trim().parse().ok();
            } else if line.starts_with("print fmt:") {
                break;
            } else if let Some(field) = line.strip_prefix("field:").and_then(Field::parse) {
                if field.name.len() > MAX_NAME {
                    return None;
                }
                match fields.is_empty() && field.name.starts_with("common_") {
                    true => common.push(field),
                    false => fields.push(field),
                }
            }
            if common.len() + fields.len() > MAX_FIELDS {
                return None;
            }
        }
        let name = name.filter(|name| (1..=MAX_NAME).contains(&name.len()))?;
        Some(Format { name, id: id?, common, fields })
    }
}

impl Field {
    /// Parses what follows `field:`, such as `char comm[16]; offset:8; size:16; signed:0;`.
    fn parse(text: &str) -> Option<Field> {
        let mut parts = text.split(';').map(str::trim);
        let declaration = parts.next()?;
        let (mut offset, mut size, mut is_signed) = (None, None, false);
        for part in parts {
            match part.split_once(':') {
                Some(("offset", value)) => offset = value.trim().parse().ok(),
                Some(("size", value)) => size = value.trim().parse().ok(),
                Some(("signed", value)) => is_signed = value.trim() != "0",
                _ => {}
            }
        }
        let (offset, size) = (offset?, size?);
        let located = [("__data_loc ", Storage::Located), ("__rel_loc ", Storage::LocatedRelative)];
        for (prefix, storage) in located {
            let Some(rest) = declaration.strip_prefix(prefix) else { continue };
            let (element, name) = rest.trim().rsplit_once(char::is_whitespace)?;
            let element = element.trim();
            let element = element.rfind('[').map_or(element, |at| &element[..at]);
            let (name, words) = (name.to_owned(), words(element));
            return Some(Field { name, words, storage, offset, size, is_signed });
        }
        let (head, dimensions) = match declaration.find('[') {
            Some(at) => declaration.split_at(at),
            None => (declaration, ""),
        };
        let head = head.trim();
        let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
        let at = head.trim_end_matches(is_of_name).len();
        let (element, name) = head.split_at(at);
        if name.is_empty() {
            return None;
        }
        let storage = match dimensions.is_empty() {
            true => Storage::Value,
            false => Storage::Array(elements(dimensions)),
        };
        let (name, words) = (name.to_owned(), words(element));
        Some(Field { name, words, storage, offset, size, is_signed })
    }

    /// Returns `true` if the field, or an element of it, is an address.
    pub(crate) fn is_pointer(&self) -> bool {
        self.words.iter().any(|word| word == "*")
    }

    /// Returns `true` if the elements are characters rather than numbers.
    pub(crate) fn is_text(&self) -> bool {
        self.storage != Storage::Value
            && self.words.last().is_some_and(|word| word == "char")
            && !self.words.iter().any(|word| word == "unsigned")
    }

    /// Returns the size of an element in bytes, given that of a `long`; `None` if its type is not
    /// known.
    pub(crate) fn element_size(&self, long: u32) -> Option<u32> {
        if let Storage::Array(Some(count @ 1..)) = self.storage
            && self.size > 0
            && self.size.is_multiple_of(count)
        {
            return Some(self.size / count);
        }
        if self.is_pointer() {
            return Some(long);
        }
        let longs = self.words.iter().filter(|word| *word == "long").count();
        if longs > 0 || self.words.iter().any(|word| word == "size_t") {
            return Some(if longs > 1 { 8 } else { long });
        }
        let sizes = self.words.iter().rev().map(|word| match word.as_str() {
            "char" | "bool" | "_Bool" | "u8" | "s8" | "__u8" | "__s8" | "uint8_t" | "int8_t" => 1,
            "short" | "u16" | "s16" | "__u16" | "__s16" | "__le16" | "__be16" | "uint16_t"
            | "int16_t" => 2,
            "int" | "unsigned" | "u32" | "s32" | "__u32" | "__s32" | "__le32" | "__be32"
            | "uint32_t" | "int32_t" | "pid_t" | "dev_t" | "gfp_t" => 4,
            "u64" | "s64" | "__u64" | "__s64" | "uint64_t" | "int64_t" | "loff_t" | "sector_t" => 8,
            _ => 0,
        });
        sizes.into_iter().find(|size| *size > 0)
    }
}

/// Splits a type into words; `*` is one.
fn words(text: &str) -> Vec<String> {
    text.replace('*', " * ").split_whitespace().map(str::to_owned).collect()
}

/// Returns the number of elements of dimensions such as `[4][2]`; `None` if one of them is a name or
/// is left out.
fn elements(dimensions: &str) -> Option<u32> {
    let mut count = 1_u32;
    for dimension in dimensions.split('[').skip(1) {
        let number = dimension.split(']').next()?.trim();
        count = count.checked_mul(number.parse().ok()?)?;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(text: &str) -> Field {
        Field::parse(text).unwrap()
    }

    #[test]
    fn forms_of_fields() {
        let comm = field("char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;");
        assert_eq!((comm.name.as_str(), comm.storage), ("prev_comm", Storage::Array(Some(16))));
        assert!(comm.is_text() && comm.element_size(8) == Some(1));
        let name = field("__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;");
        assert_eq!((name.name.as_str(), name.storage), ("name", Storage::Located));
        assert!(name.is_text());
        let mask = field("__rel_loc unsigned long[] mask; offset:8; size:4; signed:0;");
        assert_eq!((mask.storage, mask.element_size(4)), (Storage::LocatedRelative, Some(4)));
        let pointer = field("const char * filename;\toffset:16;\tsize:8;\tsigned:0;");
        assert!(pointer.is_pointer() && !pointer.is_text());
        let open = field("u32 buf[];\toffset:16;\tsize:0;\tsigned:0;");
        assert_eq!((open.storage, open.element_size(8)), (Storage::Array(None), Some(4)));
        let named = field("char comm[TASK_COMM_LEN];\toffset:8;\tsize:16;\tsigned:1;");
        assert_eq!((named.storage, named.element_size(8)), (Storage::Array(None), Some(1)));
        let table = field("u8 x[4][2];\toffset:8;\tsize:8;\tsigned:0;");
        assert_eq!((table.storage, table.element_size(8)), (Storage::Array(Some(8)), Some(1)));
        assert!(!table.is_text());
        assert!(Field::parse("int;\toffset:1;").is_none());
        assert!(Field::parse("").is_none());
    }

    #[test]
    fn a_description() {
        let text = b"name: x\nID: 7\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
                     \n\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"field:int b;\"\n";
        let format = Format::parse(text).unwrap();
        assert_eq!((format.name.as_str(), format.id), ("x", 7));
        assert_eq!((format.common.len(), format.fields.len()), (1, 1));
        assert!(format.common[0].is_signed);
        assert!(Format::parse(b"name: x\nID: 70000\n").is_none());
        assert!(Format::parse(b"ID: 1\n").is_none());
        let named = |of_event: usize, of_field: usize| {
            let (event, field) = ("e".repeat(of_event), "f".repeat(of_field));
            let field = format!("field:int {field}; offset:8; size:4; signed:1;");
            Format::parse(format!("name: {event}\nID: 1\n{field}\n").as_bytes())
        };
        assert!(named(MAX_NAME, MAX_NAME).is_some());
        assert!(named(MAX_NAME + 1, 1).is_none() && named(1, MAX_NAME + 1).is_none());
    }
}
