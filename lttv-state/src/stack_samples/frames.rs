//! The frames of stacks.

use std::collections::HashMap;

/// The maximum number of different frames of a trace.
pub(super) const MAX_FRAMES: usize = 1 << 20;

/// The mode of the processor at a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CodeMode {
    /// The code of a program.
    User,
    /// The code of the kernel.
    Kernel,
    /// The code of a guest or of a hypervisor.
    Other,
}

/// A frame of a stack: the place of a function that runs or has called another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Frame {
    /// The mode of the processor.
    pub mode: CodeMode,
    /// The index of its file or module among [`TraceSamples::modules`](super::TraceSamples::modules); `None` if it is
    /// unknown.
    pub module: Option<usize>,
    /// The address: of a program whose module is known the offset in the file in bytes, otherwise an address in
    /// memory. 0 if it is unknown: the stack is empty, or the process has mapped no file there.
    pub address: u64,
}

impl Frame {
    /// The frame of a stack without addresses.
    pub(super) const UNKNOWN: Frame = Frame { mode: CodeMode::Other, module: None, address: 0 };
}

/// The number of a frame among those of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub(super) u32);

impl FrameId {
    /// Returns the number, to index an array.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The frames of a trace, by their ids. The first one is [`Frame::UNKNOWN`], which also stands for those beyond the
/// maximum.
#[derive(Debug, Clone)]
pub(super) struct Frames {
    all: Vec<Frame>,
    ids: HashMap<Frame, FrameId>,
    /// The number of frames beyond the maximum.
    pub(super) omitted: u64,
}

impl Default for Frames {
    fn default() -> Self {
        let mut frames = Frames { all: Vec::new(), ids: HashMap::new(), omitted: 0 };
        frames.find_or_add(Frame::UNKNOWN);
        frames
    }
}

impl Frames {
    pub(super) const UNKNOWN: FrameId = FrameId(0);

    pub(super) fn find_or_add(&mut self, frame: Frame) -> FrameId {
        if let Some(id) = self.ids.get(&frame) {
            return *id;
        }
        if self.all.len() >= MAX_FRAMES {
            self.omitted += 1;
            return Frames::UNKNOWN;
        }
        let id = FrameId(self.all.len() as u32);
        self.all.push(frame);
        self.ids.insert(frame, id);
        id
    }

    pub(super) fn into_all(self) -> Vec<Frame> {
        self.all
    }
}
