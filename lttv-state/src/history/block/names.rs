//! The names of the attributes that first occurred in a block, compressed with LZ4.
//!
//! ```text
//! varint  size before compression, in bytes; absent if there are no names
//! LZ4     for each attribute: varint, its quark − its parent's quark, or 0 below the root;
//!         varint, length of the name in bytes; name in UTF-8
//! ```

use super::bits::{ByteReader, MAX_LZ4_RATIO, put_varint};
use crate::tree::{Quark, Tree};

/// Appends the names of the attributes from quark `first` on.
pub(crate) fn write(out: &mut Vec<u8>, tree: &Tree, first: usize) {
    let mut plain = Vec::new();
    for quark in tree.quarks().skip(first) {
        let parent = tree.parent(quark).filter(|parent| *parent != Quark::ROOT);
        put_varint(&mut plain, parent.map_or(0, |parent| (quark.index() - parent.index()) as u64));
        let name = tree.name(quark).unwrap_or_default();
        put_varint(&mut plain, name.len() as u64);
        plain.extend_from_slice(name.as_bytes());
    }
    if !plain.is_empty() {
        put_varint(out, plain.len() as u64);
        out.extend_from_slice(&lz4_flex::block::compress(&plain));
    }
}

/// Adds the names in `data` to a tree, which has `quarks` attributes afterwards. `None` if
/// the data is damaged.
pub(crate) fn read(data: &[u8], tree: &mut Tree, quarks: usize) -> Option<()> {
    if data.is_empty() {
        return (tree.len() == quarks).then_some(());
    }
    let mut bytes = ByteReader::new(data, 0);
    let len = bytes.varint();
    let packed = data.get(bytes.at..)?;
    if len > packed.len() as u64 * MAX_LZ4_RATIO {
        return None;
    }
    let plain = lz4_flex::block::decompress(packed, usize::try_from(len).ok()?).ok()?;
    if plain.len() as u64 != len {
        return None;
    }
    let mut bytes = ByteReader::new(&plain, 0);
    while bytes.at < plain.len() {
        let next = tree.len();
        let parent = match bytes.varint() {
            0 => Quark::ROOT,
            distance => {
                let parent = (next as u64).checked_sub(distance)?;
                Quark::from_index(u32::try_from(parent).ok()?)
            }
        };
        let len = usize::try_from(bytes.varint()).ok()?;
        let name = std::str::from_utf8(bytes.take(len)?).ok()?;
        // A name that exists already would not get a quark of its own.
        if tree.add_child(parent, name).ok()?.index() != next {
            return None;
        }
    }
    (tree.len() == quarks).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_another_length_than_declared_are_refused() {
        let mut tree = Tree::new();
        tree.add(Quark::ROOT, "house/door").unwrap();
        let mut data = Vec::new();
        write(&mut data, &tree, 0);
        let read = |data: &[u8]| {
            let mut read = Tree::new();
            super::read(data, &mut read, tree.len()).map(|()| read)
        };
        let door = read(&data).unwrap().find(Quark::ROOT, "house/door").unwrap();
        assert_eq!(door.map(Quark::index), Some(1));
        // The declared length is one byte.
        for declared in [data[0] - 1, data[0] + 1, data[0] + 20] {
            data[0] = declared;
            assert!(read(&data).is_none(), "{declared}");
        }
    }
}
