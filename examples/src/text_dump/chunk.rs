//! Short texts that are appended millions of times.

/// A text to append to a buffer. A short one is copied as a block of constant
/// size, which takes no call and no loop.
#[derive(Debug, Clone)]
pub(super) struct Chunk {
    block: [u8; BLOCK],
    length: usize,
    /// The whole text, if the block cannot hold it.
    long: Option<Box<[u8]>>,
}

const BLOCK: usize = 32;

impl Chunk {
    pub(super) fn new(text: impl Into<Vec<u8>>) -> Self {
        let text: Vec<u8> = text.into();
        let length = text.len();
        let mut block = [0; BLOCK];
        match block.get_mut(..length) {
            Some(start) => {
                start.copy_from_slice(&text);
                Chunk { block, length, long: None }
            }
            None => Chunk { block, length, long: Some(text.into()) },
        }
    }

    /// Appends the text.
    #[inline]
    pub(super) fn append(&self, out: &mut Vec<u8>) {
        match &self.long {
            None => append_start(out, &self.block, self.length),
            Some(text) => out.extend_from_slice(text),
        }
    }
}

/// Appends the first `length` bytes of a block.
#[inline]
pub(super) fn append_start<const N: usize>(out: &mut Vec<u8>, block: &[u8; N], length: usize) {
    let end = out.len() + length;
    out.extend_from_slice(block);
    out.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_length() {
        for length in [0, 1, 31, 32, 33, 1000] {
            let text = "é".repeat(500)[..length & !1].to_owned() + &"x"[..length & 1];
            let mut out = b"before ".to_vec();
            Chunk::new(text.clone()).append(&mut out);
            assert_eq!(out, format!("before {text}").as_bytes());
        }
    }
}
