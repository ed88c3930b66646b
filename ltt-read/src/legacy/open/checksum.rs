//! Checksums of facilities: a CRC-32 of all names and types.

use super::description::{Facility, Field, Type};

/// The maximum number of types that a checksum covers; references multiply them.
const MAX_TYPES: u32 = 1 << 16;

/// Computes the checksum of a facility.
pub(super) fn checksum(facility: &Facility) -> u32 {
    // Only the CRC of the name is inverted before and after.
    let name = !update(!0, facility.name.as_bytes());
    let mut sum = Checksum { facility, crc: name, budget: MAX_TYPES };
    for event in &facility.events {
        sum.text(&event.name);
        sum.fields(&event.fields, 0);
    }
    sum.crc
}

fn update(crc: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(crc, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ ((crc & 1) * 0xedb8_8320))
    })
}

struct Checksum<'a> {
    facility: &'a Facility,
    crc: u32,
    budget: u32,
}

impl Checksum<'_> {
    fn text(&mut self, text: &str) {
        self.crc = update(self.crc, text.as_bytes());
    }

    fn fields(&mut self, fields: &[Field], depth: u32) {
        for field in fields {
            self.text(&field.name);
            self.class(&field.class, depth);
        }
    }

    fn class(&mut self, class: &Type, depth: u32) {
        if self.budget == 0 || depth > 64 {
            return;
        }
        self.budget -= 1;
        match class {
            Type::Scalar(scalar) => self.text(scalar.c_name),
            Type::String => self.text("string"),
            Type::Enum { labels, .. } => {
                self.text("enum");
                labels.iter().for_each(|(label, _)| self.text(label));
            }
            Type::Array(length, element) => {
                self.text(&format!("array {length}"));
                self.class(element, depth + 1);
            }
            Type::Sequence(length, element) => {
                self.text("sequence ");
                self.class(length, depth + 1);
                self.class(element, depth + 1);
            }
            Type::Struct { union, fields } => {
                self.text(if *union { "union" } else { "struct" });
                self.fields(fields, depth + 1);
            }
            Type::Named(name) => {
                let facility = self.facility;
                if let Some((_, class)) = facility.types.iter().find(|(n, _)| n == name) {
                    self.class(class, depth + 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::description::parse;
    use super::*;

    #[test]
    fn checksum_of_a_real_facility() {
        let text = "<facility name=\"process\">
            <event name=\"schedchange\"><field name=\"out\"><int/></field>
              <field name=\"in\"><int/></field><field name=\"out_state\"><long/></field></event>
            <event name=\"fork\"><field name=\"parent_pid\"><int/></field>
              <field name=\"child_pid\"><int/></field></event></facility>";
        assert_eq!(checksum(&parse(text).unwrap()[0]), 452_725_483);
    }

    #[test]
    fn recursive_types_terminate() {
        let text = "<facility name=x><event name=e><field name=f><typeref name=t/></field></event>
            <type name=t><struct><field name=a><typeref name=t/></field>
              <field name=b><typeref name=t/></field></struct></type></facility>";
        checksum(&parse(text).unwrap()[0]);
    }
}
