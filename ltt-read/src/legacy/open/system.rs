//! The description of the traced machine, in the format of 2003.

use super::facility_class::Machine;
use super::xml::tags;
use crate::metadata::{Diagnostic, MetadataError, Span};
use crate::schema::ByteOrder;

/// The contents of `system.xml`.
#[derive(Debug)]
pub(super) struct System {
    pub(super) machine: Machine,
    /// The size of all blocks in bytes.
    pub(super) block_size: u64,
    /// All attributes of the element, by name.
    pub(super) attributes: Vec<(String, String)>,
}

impl System {
    /// Parses the `<system>` element of a text.
    pub(super) fn parse(text: &str) -> Result<Self, Box<MetadataError>> {
        let error = |at: usize, message: String| {
            let diagnostic = Diagnostic::error(Span::new(at, at), message);
            Box::new(MetadataError::new(text, vec![diagnostic]))
        };
        let tag = tags(text).find(|tag| tag.name == "system");
        let tag = tag.ok_or_else(|| error(0, "missing `<system>`".to_owned()))?;
        let attribute = |name: &str| {
            tag.attribute(name).ok_or_else(|| error(tag.at, format!("`<system>` lacks `{name}`")))
        };
        let wrong = |name: &str, value: &str| {
            error(tag.at, format!("invalid value of `{name}`: `{value}`"))
        };
        let order = match attribute("endian")? {
            "LITTLE_ENDIAN" => ByteOrder::Little,
            "BIG_ENDIAN" => ByteOrder::Big,
            other => return Err(wrong("endian", other)),
        };
        let (int, long) = match attribute("arch_size")? {
            "LP32" => (2, 4),
            "ILP32" => (4, 4),
            "LP64" => (4, 8),
            "ILP64" => (8, 8),
            other => return Err(wrong("arch_size", other)),
        };
        let size = attribute("ltt_block_size")?;
        let block_size = size.trim().parse().map_err(|_| wrong("ltt_block_size", size))?;
        Ok(System {
            machine: Machine { order, int, long, pointer: long, size_t: long, alignment: 0 },
            block_size,
            attributes: tag
                .attributes
                .iter()
                .map(|(n, v)| (n.to_string(), v.to_string()))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_attributes() {
        let system =
            "<system endian=\"BIG_ENDIAN\" arch_size=\"LP64\" ltt_block_size=\"1000\" x=y>";
        let parsed = System::parse(system).unwrap();
        assert_eq!((parsed.machine.order, parsed.machine.long), (ByteOrder::Big, 8));
        assert_eq!((parsed.block_size, parsed.attributes.len()), (1000, 4));
        let error = |text: &str| System::parse(text).unwrap_err().to_string();
        assert_eq!(error(""), "1:1: missing `<system>`");
        assert_eq!(error("\n <system endian=BIG_ENDIAN>"), "2:2: `<system>` lacks `arch_size`");
        let size = system.replace("1000", "x");
        assert_eq!(error(&size), "1:1: invalid value of `ltt_block_size`: `x`");
    }
}
