//! The state of all extensions at one time, in bytes without a position.

use ltt_read::Timestamp;
use serde::{Deserialize, Serialize};

use super::StoredExtension;
use crate::context::{ContextState, TracesetContext};
use crate::state::{Checkpoint, Saved};

/// A state in bytes.
#[derive(Debug, Serialize, Deserialize)]
struct StoredState<'b> {
    extensions: Vec<StoredExtension>,
    /// The states of the extensions, in the order of `extensions`.
    #[serde(borrow)]
    states: Vec<&'b [u8]>,
}

impl ContextState<'_, '_> {
    /// Converts the state of extensions at the current position to bytes, for
    /// [`restore_bytes`](Self::restore_bytes). Returns `None` if the state is [not
    /// current](crate::TracesetContext::is_state_current), or if an extension has no [`Codec`](crate::Codec).
    ///
    /// Unlike a checkpoint, the bytes contain no position, so the caller has to remember the time.
    /// In return they remain valid when the traces have grown and positions have changed.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        if !self.context.is_state_current() {
            return None;
        }
        let saved = self.context.extensions().save();
        let (mut extensions, mut states) = (Vec::new(), Vec::new());
        for (place, _, codec) in self.context.extensions().codecs() {
            let codec = codec?;
            let mut state = Vec::new();
            (codec.write)(saved.get(place)?, None, &mut state);
            extensions.push(StoredExtension::of(&codec));
            states.push(state);
        }
        let states = states.iter().map(Vec::as_slice).collect();
        postcard::to_stdvec(&StoredState { extensions, states }).ok()
    }

    /// Seeks the first event at `time` or later, and restores a state of extensions that
    /// [`to_bytes`](Self::to_bytes) has converted at this place, before all such
    /// events. Returns `false` and changes nothing if the bytes are not a state of the attached
    /// extensions.
    ///
    /// The bytes may be hostile: memory use is proportional to their number. The caller has to
    /// ensure that `time` is the time of the state.
    ///
    /// ```
    /// use lttv_context::{Bounds, Codec, Extension, Handle, Setup, Traceset, TracesetContext};
    ///
    /// /// Counts events.
    /// struct Count(u64);
    ///
    /// impl Extension for Count {
    ///     type Checkpoint = u64;
    ///
    ///     fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
    ///         setup.hooks.on_event("*", move |call| call.extensions[handle].0 += 1);
    ///     }
    /// #   fn reset(&mut self) {
    /// #       self.0 = 0;
    /// #   }
    /// #   fn save(&self) -> u64 {
    /// #       self.0
    /// #   }
    /// #   fn restore(&mut self, saved: &u64) {
    /// #       self.0 = *saved;
    /// #   }
    /// #   fn checkpoint_bytes(_: &u64, _: Option<&u64>) -> usize {
    /// #       size_of::<u64>()
    /// #   }
    /// #   fn codec(&self) -> Option<Codec<Self>> {
    /// #       Some(Codec {
    /// #           name: "count",
    /// #           version: 1,
    /// #           options: 0,
    /// #           write: |count, _, out| out.extend_from_slice(&count.to_le_bytes()),
    /// #           read: |_, bytes, _| Some(u64::from_le_bytes(bytes.try_into().ok()?)),
    /// #       })
    /// #   }
    ///     // ...
    /// }
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let count = context.attach(Count(0));
    /// let span = context.contexts().time_span().expect("events");
    /// let half = span.start.saturating_add(span.end.since(span.start) / 2);
    /// assert_eq!(context.state().replay(&Bounds::all().until(half))?.errors, 0);
    /// let bytes = context.state().to_bytes().expect("a codec");
    /// let before = context.extensions()[count].0;
    /// let rest = context.state().replay(&Bounds::all())?.events;
    ///
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let count = context.attach(Count(0));
    /// assert!(context.state().restore_bytes(&bytes, half));
    /// assert_eq!(context.extensions()[count].0, before);
    /// assert_eq!(context.state().replay(&Bounds::all())?.events, rest);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore_bytes(&mut self, bytes: &[u8], time: Timestamp) -> bool {
        let Some(states) = self.context.decode_state_bytes(bytes) else { return false };
        self.context.seek_time(time);
        let position = self.context.position();
        self.restore(&Checkpoint::new(position, states)).is_ok()
    }
}

impl TracesetContext<'_> {
    fn decode_state_bytes(&self, bytes: &[u8]) -> Option<Vec<Saved>> {
        let (stored, rest) = postcard::take_from_bytes::<StoredState<'_>>(bytes).ok()?;
        if !rest.is_empty() || stored.states.len() != stored.extensions.len() {
            return None;
        }
        let matched = self.match_extensions(&stored.extensions).ok()?;
        self.decode_states(&stored.states, &matched, None)
    }
}
