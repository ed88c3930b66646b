//! Names of folders, of files and of what metadata declares.

use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_read::schema::Identity;
use ltt_read::uuid::Uuid;

use super::{Anonymiser, Kind};

/// The folders that say what kind of trace they contain, in sessions of LTTng.
const FOLDERS: [&str; 6] = ["kernel", "ust", "uid", "pid", "64-bit", "32-bit"];

impl Anonymiser {
    /// Returns the folder in place of a folder of a trace.
    pub(in super::super) fn folder(&self, folder: &Path) -> PathBuf {
        let part = |part: &std::ffi::OsStr| match part.to_str() {
            Some(known) if FOLDERS.contains(&known) => known.to_owned(),
            _ => self.name(Kind::Folder, part.as_encoded_bytes()),
        };
        folder.iter().map(part).collect()
    }

    /// Returns the name of the file of a stream of a channel. It ends with the number of the CPU,
    /// as those of LTTng do.
    pub(in super::super) fn stream(&self, channel: &str, cpu: Option<u32>) -> String {
        let name = self.name(Kind::Stream, channel.as_bytes());
        match cpu {
            Some(cpu) => format!("{name}_{cpu}"),
            None => name,
        }
    }

    /// Returns the UUID in place of another one: the same one for each use of it.
    pub(super) fn uuid(&self, uuid: Uuid) -> Uuid {
        let [first, second] = self.uuids.each_ref().map(|key| key.hash_one(uuid).to_be_bytes());
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&first);
        bytes[8..].copy_from_slice(&second);
        // Version 4: random.
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Uuid(bytes)
    }

    /// Returns the identity in place of another one; one without a name stays so.
    pub(super) fn identity(&self, kind: Kind, identity: &Identity) -> Identity {
        if *identity == Identity::default() {
            return Identity::default();
        }
        let name: Arc<str> = self.name(kind, format!("{identity:?}").as_bytes()).into();
        // Origins of clocks need both.
        Identity { namespace: None, name: Some(name.clone()), uid: Some(name) }
    }
}
