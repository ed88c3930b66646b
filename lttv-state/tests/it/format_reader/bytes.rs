//! The encodings of `docs/history-format.md`: integers, bit fields, CRC-32 and LZ4.

/// Bytes that are read from front to back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input<'d>(pub(crate) &'d [u8]);

impl<'d> Input<'d> {
    pub(crate) fn take(&mut self, len: usize) -> &'d [u8] {
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        taken
    }

    pub(crate) fn int(&mut self, width: usize) -> u64 {
        self.take(width).iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
    }

    pub(crate) fn u32(&mut self) -> usize {
        self.int(4) as usize
    }

    pub(crate) fn u64(&mut self) -> u64 {
        self.int(8)
    }

    pub(crate) fn i64(&mut self) -> i64 {
        self.int(8) as i64
    }

    pub(crate) fn varint(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = self.int(1);
            value |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }

    /// Reads a length in a varint and that many bytes.
    pub(crate) fn sized(&mut self) -> &'d [u8] {
        let len = self.varint() as usize;
        self.take(len)
    }

    /// Reads the length of the plain bytes in a varint, and an LZ4 block up to the end.
    pub(crate) fn sized_lz4(&mut self) -> Vec<u8> {
        let len = self.varint() as usize;
        let plain = lz4(Input(self.0));
        assert_eq!(plain.len(), len);
        plain
    }
}

/// Decompresses an LZ4 block.
fn lz4(mut packed: Input<'_>) -> Vec<u8> {
    let mut plain: Vec<u8> = Vec::new();
    loop {
        let token = packed.int(1);
        let literals = lz4_length(&mut packed, token >> 4);
        plain.extend_from_slice(packed.take(literals));
        if packed.0.is_empty() {
            return plain;
        }
        let distance = packed.int(2) as usize;
        assert!(distance > 0);
        for _ in 0..lz4_length(&mut packed, token & 15) + 4 {
            plain.push(plain[plain.len() - distance]);
        }
    }
}

/// Reads the rest of a length that starts with four bits of the token.
fn lz4_length(packed: &mut Input<'_>, four_bits: u64) -> usize {
    let mut len = four_bits;
    if four_bits == 15 {
        loop {
            let byte = packed.int(1);
            len += byte;
            if byte < 255 {
                break;
            }
        }
    }
    len as usize
}

/// Computes the CRC-32 of all parts, one after the other.
pub(crate) fn crc32(parts: &[&[u8]]) -> u64 {
    let update = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| match crc & 1 {
            1 => crc >> 1 ^ 0xEDB8_8320,
            _ => crc >> 1,
        })
    };
    u64::from(!parts.iter().copied().flatten().fold(u32::MAX, update))
}

/// Returns the number of bits that an integer needs.
pub(crate) fn bits(value: u64) -> usize {
    64 - value.leading_zeros() as usize
}

/// Returns the field of `width` bits at bit `at`.
pub(crate) fn bit_field(data: &[u8], at: usize, width: usize) -> u64 {
    (0..width).fold(0, |all, i| {
        let bit = data[(at + i) / 8] >> ((at + i) % 8) & 1;
        all | u64::from(bit) << i
    })
}

pub(crate) fn unzigzag(stored: u64) -> u64 {
    (stored >> 1) ^ (stored & 1).wrapping_neg()
}
