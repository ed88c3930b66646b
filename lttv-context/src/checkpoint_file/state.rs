//! The state of all extensions at one time, in bytes without a position.

use ltt_read::Timestamp;
use serde::{Deserialize, Serialize};

use super::StoredExtension;
use crate::context::TracesetContext;
use crate::state::{Checkpoint, Saved};

/// A state in bytes.
#[derive(Debug, Serialize, Deserialize)]
struct StoredState<'b> {
    extensions: Vec<StoredExtension>,
    /// The states of the extensions, in the order of `extensions`.
    #[serde(borrow)]
    states: Vec<&'b [u8]>,
}

impl TracesetContext<'_> {
    /// Converts the current state of extensions to bytes.
    pub(crate) fn state_to_bytes(&self) -> Option<Vec<u8>> {
        if !self.is_state_current() {
            return None;
        }
        let saved = self.extensions().save();
        let (mut extensions, mut states) = (Vec::new(), Vec::new());
        for (place, _, codec) in self.extensions().codecs() {
            let codec = codec?;
            let mut state = Vec::new();
            (codec.write)(saved.get(place)?, None, &mut state);
            extensions.push(StoredExtension::of(&codec));
            states.push(state);
        }
        let states = states.iter().map(Vec::as_slice).collect();
        postcard::to_stdvec(&StoredState { extensions, states }).ok()
    }

    /// Seeks a time, and restores a state there.
    pub(crate) fn restore_state(&mut self, bytes: &[u8], time: Timestamp) -> bool {
        let Some(states) = self.decode_state_bytes(bytes) else { return false };
        self.seek_time(time);
        let position = self.position();
        self.state().restore(&Checkpoint::new(position, states)).is_ok()
    }

    fn decode_state_bytes(&self, bytes: &[u8]) -> Option<Vec<Saved>> {
        let (stored, rest) = postcard::take_from_bytes::<StoredState<'_>>(bytes).ok()?;
        if !rest.is_empty() || stored.states.len() != stored.extensions.len() {
            return None;
        }
        let matched = self.match_extensions(&stored.extensions).ok()?;
        self.decode_states(&stored.states, &matched, None)
    }
}
