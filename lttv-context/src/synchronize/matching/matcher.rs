//! Sends and receives to messages, independently of traces.

use std::collections::VecDeque;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use ltt_read::Timestamp;

use super::entry::{Entry, Key, KeyHash, State};
use super::rule::Direction;
use crate::synchronize::message::{HostIndex, Message};

/// One end of a message.
#[derive(Debug, Clone, Copy)]
pub struct MessageEnd<'k> {
    /// The host that recorded the end.
    pub host: HostIndex,
    /// The end of the message.
    pub direction: Direction,
    /// The time by the clock of the host.
    pub time: Timestamp,
    /// The number of the protocol. Ends of different protocols are never one message.
    pub protocol: u32,
    /// The bytes that identify the message among those of the protocol.
    pub key: &'k [u8],
    /// The time for which the key identifies one message, in ns: see
    /// [`Rule::validity`](super::Rule::validity).
    pub validity: u64,
    /// `true` if several hosts may receive the message.
    pub is_to_many: bool,
}

/// The limits of a [`Matcher`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatchLimits {
    /// The greatest number of ends that wait for the other end of their message. The oldest one is
    /// dropped first. The default is 2²⁰, at about 120 bytes each.
    ///
    /// As clocks may differ, the other end can be read much later. The number has to suffice for
    /// the ends that are read during the difference of the clocks.
    pub pending: usize,
    /// The maximum number of recent messages that are stored to recognise repeated ends. The default
    /// is 2¹⁶.
    pub recent: usize,
    /// The time, in ns, within which a repeated send on the same host is the same packet that
    /// passes a further device, so that the last one counts. Later repetitions are retransmissions,
    /// of which the first one counts. The default is 20 µs.
    pub passing: u64,
}

impl Default for MatchLimits {
    fn default() -> Self {
        MatchLimits { pending: 1 << 20, recent: 1 << 16, passing: 20_000 }
    }
}

impl MatchLimits {
    /// Sets the number of pending ends.
    #[must_use]
    pub fn pending(self, pending: usize) -> Self {
        MatchLimits { pending, ..self }
    }

    /// Sets the number of recent messages.
    #[must_use]
    pub fn recent(self, recent: usize) -> Self {
        MatchLimits { recent, ..self }
    }

    /// Sets the time within which a repeated send is the same packet, in ns.
    #[must_use]
    pub fn passing(self, passing: u64) -> Self {
        MatchLimits { passing, ..self }
    }
}

/// The numbers of ends and messages of a [`Matcher`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MatchCounts {
    /// The number of sends.
    pub sends: u64,
    /// The number of receives.
    pub receives: u64,
    /// The number of messages between two hosts.
    pub messages: u64,
    /// The number of messages from a host to itself. They say nothing about clocks.
    pub local: u64,
    /// The number of ends that repeat an earlier one of the same host: retransmissions, and packets
    /// that pass several devices.
    pub repeated: u64,
    /// The number of waiting ends that another message with the same key replaced, after the
    /// [validity](super::Rule::validity) of the key.
    pub expired: u64,
    /// The number of waiting ends that were dropped since there were too many.
    pub dropped: u64,
    /// The number of ends that wait now and are of no message so far.
    pub pending: u64,
}

/// The entries that an end may belong to.
#[derive(Debug, Default)]
struct Found {
    /// An end of the same direction and host: its place, its time, and `true` if it waits.
    earlier: Option<(u32, Timestamp, bool)>,
    /// The waiting other end on the same host.
    local: Option<(u32, Message)>,
    /// The waiting other end on another host, with its time and host.
    other: Option<((Timestamp, HostIndex), u32, Message)>,
}

impl Found {
    /// Notes an end of a complete message, unless a waiting end or a later one is known.
    fn note_complete(&mut self, index: u32, time: Timestamp) {
        if self.earlier.is_none_or(|(_, known, is_waiting)| !is_waiting && known < time) {
            self.earlier = Some((index, time, false));
        }
    }
}

/// Matches sends with receives.
///
/// Ends may come in any order, as clocks differ: a message is found when its second end comes. The
/// rules are these:
///
/// * Both ends have the same protocol and key and are of different hosts. Among several candidates,
///   the earliest one by its own clock is taken, and of equal ones that of the first host.
/// * Of repeated receives on a host, the first one counts. Of repeated sends, the last one within
///   [`MatchLimits::passing`] counts if the receive has not been added before, and otherwise the
///   first one. The message arrived after that send in any case, so that its limit on the clocks
///   holds even if a later send is the one that arrived.
/// * A send and a later receive on one host are a *local* message, which is only counted. A receive
///   and a later send are a host that forwards the message: both remain ends of messages with other
///   hosts.
///
/// A key that is used for another message within its validity can be matched wrongly. Such a
/// message usually contradicts others: see
/// [`PairQuality::Contradiction`](crate::synchronize::pairs::PairQuality::Contradiction).
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_context::synchronize::HostIndex;
/// use lttv_context::synchronize::matching::{Direction, Matcher, MessageEnd};
///
/// let mut matcher = Matcher::new(Default::default());
/// let mut messages = Vec::new();
/// let mut end = |host, direction, ns, key: &[u8]| {
///     let (host, time) = (HostIndex(host), Timestamp::from_ns(ns));
///     let (protocol, validity, is_to_many) = (0, 1_000_000, false);
///     let end = MessageEnd { host, direction, time, protocol, key, validity, is_to_many };
///     matcher.add(&end, |message| messages.push(message));
/// };
/// end(0, Direction::Send, 100, b"hello");
/// end(0, Direction::Send, 150, b"other");
/// end(1, Direction::Receive, 90, b"hello");
/// assert_eq!(messages.len(), 1);
/// assert_eq!((messages[0].sender, messages[0].receiver), (HostIndex(0), HostIndex(1)));
/// assert_eq!(matcher.counts().pending, 1);
/// ```
#[derive(Debug)]
pub struct Matcher {
    limits: MatchLimits,
    hasher: DefaultHashBuilder,
    /// The indices of entries with their hashes, by protocol and key.
    table: HashTable<(KeyHash, u32)>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// The waiting entries with their use numbers, oldest first. Those with another use number no
    /// longer wait.
    waiting: VecDeque<(u32, u64)>,
    /// The entries of complete messages with their use numbers, oldest first. Those with another
    /// use number are gone.
    recent: VecDeque<(u32, u64)>,
    uses: u64,
    /// The number of ends that wait, also of those that are answered.
    kept: u64,
    counts: MatchCounts,
}

impl Matcher {
    /// Creates a matcher without ends.
    pub fn new(limits: MatchLimits) -> Self {
        // Places are numbered with 32 bits.
        let (pending, recent) = (limits.pending.clamp(1, 1 << 30), limits.recent.min(1 << 30));
        Matcher {
            limits: MatchLimits { pending, recent, ..limits },
            hasher: DefaultHashBuilder::default(),
            table: HashTable::new(),
            entries: Vec::new(),
            free: Vec::new(),
            waiting: VecDeque::new(),
            recent: VecDeque::new(),
            uses: 0,
            kept: 0,
            counts: MatchCounts::default(),
        }
    }

    /// Returns the numbers of ends and messages so far.
    pub fn counts(&self) -> MatchCounts {
        self.counts
    }

    /// Adds one end, and calls `found` for each message between two hosts that is complete with it:
    /// at most one, unless several hosts may receive it.
    pub fn add(&mut self, end: &MessageEnd<'_>, mut found: impl FnMut(Message)) {
        match end.direction {
            Direction::Send => self.counts.sends += 1,
            Direction::Receive => self.counts.receives += 1,
        }
        let hash = KeyHash(self.hasher.hash_one((end.protocol, end.key)) as u32);
        let known = self.counts.messages + self.counts.local;
        let found_entries = self.look_up(end, hash);
        if let Some(earlier) = found_entries.earlier
            && self.repeats(end, earlier)
        {
            return;
        }
        if let Some((index, message)) = found_entries.local
            && self.is_local(end, index, message)
        {
            return;
        }
        let mut other = found_entries.other;
        while let Some((_, index, message)) = other {
            self.counts.messages += 1;
            found(message);
            if !end.is_to_many {
                return self.complete(index, message);
            }
            if end.direction == Direction::Receive {
                return self.answer(index);
            }
            self.stop_waiting(index);
            self.remove(index);
            other = self.look_up(end, hash).other;
        }
        let index = self.wait(end, hash);
        if self.counts.messages + self.counts.local > known {
            self.answer(index);
        }
    }

    /// Returns the entries with the protocol and key of an end.
    fn same_key<'m>(
        &'m self,
        end: &'m MessageEnd<'_>,
        hash: KeyHash,
    ) -> impl Iterator<Item = (u32, State)> + 'm {
        let indices = self.table.iter_hash(hash.for_table()).filter(move |(of, _)| *of == hash);
        indices
            .map(|(_, index)| (*index, &self.entries[*index as usize]))
            .filter(|(_, entry)| entry.protocol == end.protocol && entry.key.bytes() == end.key)
            .map(|(index, entry)| (index, entry.state))
    }

    /// Finds the entries that an end may belong to.
    fn look_up(&self, end: &MessageEnd<'_>, hash: KeyHash) -> Found {
        let mut found = Found::default();
        for (index, state) in self.same_key(end, hash) {
            match (state, end.direction) {
                (State::Waiting { direction, host, time, .. }, _) => {
                    match (direction == end.direction, host == end.host) {
                        (true, true) => found.earlier = Some((index, time, true)),
                        (false, true) => found.local = Some((index, message(end, host, time))),
                        (false, false) => {
                            let other = ((time, host), index, message(end, host, time));
                            if found.other.is_none_or(|(best, ..)| other.0 < best) {
                                found.other = Some(other);
                            }
                        }
                        (true, false) => {}
                    }
                }
                // A receive on the way of a local message comes before its further sends.
                (State::Complete(of), Direction::Send)
                    if of.sender == end.host
                        && !(of.receiver == end.host && of.received <= end.time) =>
                {
                    found.note_complete(index, of.sent);
                }
                (State::Complete(of), Direction::Receive) if of.receiver == end.host => {
                    found.note_complete(index, of.received);
                }
                _ => {}
            }
        }
        found
    }

    /// Returns `true` if the end repeats an earlier one of the same host, or replaces it.
    fn repeats(&mut self, end: &MessageEnd<'_>, earlier: (u32, Timestamp, bool)) -> bool {
        let (index, time, is_waiting) = earlier;
        let distance = end.time.as_ns().abs_diff(time.as_ns());
        let is_other = distance > end.validity;
        if is_other && !is_waiting {
            // Entries of one key must not accumulate, since each end looks at all of them.
            self.remove(index);
            return false;
        }
        let passes =
            end.direction == Direction::Send && end.time > time && distance <= self.limits.passing;
        if is_waiting
            && (is_other || passes)
            && let State::Waiting { time, .. } = &mut self.entries[index as usize].state
        {
            *time = end.time;
        }
        match is_other {
            true => self.counts.expired += 1,
            false => self.counts.repeated += 1,
        }
        true
    }

    /// Returns `true` if the end completes a message from a host to itself, and nothing else.
    fn is_local(&mut self, end: &MessageEnd<'_>, index: u32, message: Message) -> bool {
        let delay = message.received.since(message.sent);
        if message.sent > message.received || delay > end.validity {
            return false;
        }
        self.counts.local += 1;
        // A send to many hosts still waits for others.
        match (end.is_to_many, end.direction) {
            (false, _) => self.complete(index, message),
            (true, Direction::Receive) => self.answer(index),
            (true, Direction::Send) => {
                self.stop_waiting(index);
                self.remove(index);
                return false;
            }
        }
        true
    }

    /// Notes that a waiting end is of a message. It waits for further ones.
    fn answer(&mut self, index: u32) {
        if let State::Waiting { is_answered: is_answered @ false, .. } =
            &mut self.entries[index as usize].state
        {
            *is_answered = true;
            self.counts.pending -= 1;
        }
    }

    /// Ends the waiting of an end. Returns `true` if it is of no message.
    fn stop_waiting(&mut self, index: u32) -> bool {
        let state = self.entries[index as usize].state;
        let is_unmatched = matches!(state, State::Waiting { is_answered: false, .. });
        self.kept -= 1;
        self.counts.pending -= u64::from(is_unmatched);
        is_unmatched
    }

    /// Keeps an end until its other end comes. Returns its place.
    fn wait(&mut self, end: &MessageEnd<'_>, hash: KeyHash) -> u32 {
        while self.kept >= self.limits.pending as u64 {
            let Some((index, use_number)) = self.waiting.pop_front() else { break };
            if self.is_waiting(index, use_number) {
                self.counts.dropped += u64::from(self.stop_waiting(index));
                self.remove(index);
            }
        }
        self.uses += 1;
        let (direction, host, time) = (end.direction, end.host, end.time);
        let state = State::Waiting { direction, host, time, is_answered: false };
        let index = self.free.pop().unwrap_or(self.entries.len() as u32);
        let (use_number, protocol, key) = (self.uses, end.protocol, Key::new(end.key));
        let entry = Entry { state, use_number, hash, protocol, key };
        match self.entries.get_mut(index as usize) {
            Some(place) => *place = entry,
            None => self.entries.push(entry),
        }
        self.table.insert_unique(hash.for_table(), (hash, index), |(hash, _)| hash.for_table());
        self.kept += 1;
        self.counts.pending += 1;
        self.waiting.push_back((index, self.uses));
        if self.waiting.len() as u64 > 2 * self.kept + 64 {
            let mut waiting = std::mem::take(&mut self.waiting);
            waiting.retain(|(index, use_number)| self.is_waiting(*index, *use_number));
            self.waiting = waiting;
        }
        index
    }

    fn is_waiting(&self, index: u32, use_number: u64) -> bool {
        let entry = &self.entries[index as usize];
        entry.use_number == use_number && matches!(entry.state, State::Waiting { .. })
    }

    /// Turns a waiting end into a complete message, which is kept for a while to recognise
    /// repetitions.
    fn complete(&mut self, index: u32, message: Message) {
        self.stop_waiting(index);
        if self.limits.recent == 0 {
            return self.remove(index);
        }
        self.entries[index as usize].state = State::Complete(message);
        if self.recent.len() >= self.limits.recent
            && let Some((oldest, use_number)) = self.recent.pop_front()
            && self.entries[oldest as usize].use_number == use_number
            && matches!(self.entries[oldest as usize].state, State::Complete(_))
        {
            self.remove(oldest);
        }
        self.recent.push_back((index, self.entries[index as usize].use_number));
    }

    /// Frees a place.
    fn remove(&mut self, index: u32) {
        let entry = &mut self.entries[index as usize];
        entry.state = State::Free;
        if let Ok(found) = self.table.find_entry(entry.hash.for_table(), |(_, at)| *at == index) {
            found.remove();
        }
        self.free.push(index);
    }
}

/// Returns the message of two ends.
fn message(end: &MessageEnd<'_>, host: HostIndex, time: Timestamp) -> Message {
    let (own, other) = ((end.host, end.time), (host, time));
    let (from, to) = match end.direction {
        Direction::Send => (own, other),
        Direction::Receive => (other, own),
    };
    Message { sender: from.0, sent: from.1, receiver: to.0, received: to.1 }
}
