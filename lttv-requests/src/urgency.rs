//! Which requests are served first.

/// How urgent a request is: the greatest is served first, wherever others stand.
///
/// This is not [`lttv_hooks::Priority`], which says in which order hooks are called
/// for one event.
///
/// ```
/// use lttv_requests::Urgency;
///
/// assert!(Urgency::HIGH > Urgency::NORMAL && Urgency::NORMAL > Urgency::LOW);
/// assert!(Urgency::new(255) > Urgency::HIGH);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Urgency(u8);

impl Urgency {
    /// What can wait: 64.
    pub const LOW: Urgency = Urgency(64);
    /// What does not care: 128.
    pub const NORMAL: Urgency = Urgency(128);
    /// What somebody is waiting for: 192.
    pub const HIGH: Urgency = Urgency(192);

    /// Any of 256 levels; 255 is the most urgent.
    pub const fn new(level: u8) -> Self {
        Urgency(level)
    }

    /// As a number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl Default for Urgency {
    fn default() -> Self {
        Urgency::NORMAL
    }
}
