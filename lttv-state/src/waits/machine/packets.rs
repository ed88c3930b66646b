//! Packets in transit: sends without a receive.

use std::collections::VecDeque;

use hashbrown::HashMap;

use super::cpu::Sender;

/// The maximum number of packets in transit. The oldest ones are forgotten first.
const MAX_PENDING: usize = 1 << 16;

/// The packets that were sent and not received yet, by their key.
#[derive(Debug, Clone, Default)]
pub(super) struct Packets {
    pending: HashMap<Key, Pending>,
    /// The keys in the order of their sends, some of which may have been received.
    order: VecDeque<(u64, Key)>,
    sends: u64,
}

/// A protocol, and the bytes that identify a packet in it.
type Key = (u32, std::sync::Arc<[u8]>);

#[derive(Debug, Clone, Copy)]
struct Pending {
    number: u64,
    sender: Option<Sender>,
}

impl Packets {
    /// Notes a send. The first one of a packet counts. The sender is `None` if it is no thread.
    pub(super) fn sent(&mut self, protocol: u32, key: &[u8], sender: Option<Sender>) {
        let key: Key = (protocol, key.into());
        if self.pending.contains_key(&key) {
            return;
        }
        if self.pending.len() >= MAX_PENDING || self.order.len() >= 2 * MAX_PENDING {
            self.forget_oldest();
        }
        let number = self.sends;
        self.sends += 1;
        self.order.push_back((number, key.clone()));
        self.pending.insert(key, Pending { number, sender });
    }

    /// Returns the packets in the order of their sends.
    #[cfg(feature = "checkpoint-files")]
    pub(super) fn in_order(&self) -> Vec<(u32, Vec<u8>, Option<Sender>)> {
        let pending = self.order.iter().filter_map(|(number, key)| {
            let of = self.pending.get(key).filter(|of| of.number == *number)?;
            Some((key.0, key.1.to_vec(), of.sender))
        });
        pending.collect()
    }

    /// Forgets the oldest packet, and all that were received in the meantime.
    fn forget_oldest(&mut self) {
        let is_pending = |pending: &HashMap<Key, Pending>, (number, key): &(u64, Key)| {
            pending.get(key).is_some_and(|of| of.number == *number)
        };
        if self.order.len() >= 2 * MAX_PENDING {
            self.order.retain(|sent| is_pending(&self.pending, sent));
        }
        while self.pending.len() >= MAX_PENDING {
            let Some(oldest) = self.order.pop_front() else { return };
            if is_pending(&self.pending, &oldest) {
                self.pending.remove(&oldest.1);
            }
        }
    }

    /// Returns the sender of a packet that is received, unless it is unknown. A packet is received
    /// once.
    pub(super) fn received(&mut self, protocol: u32, key: &[u8]) -> Option<Sender> {
        self.pending.remove(&(protocol, key.into()))?.sender
    }

    /// Returns the number of packets in transit.
    pub(super) fn len(&self) -> usize {
        self.pending.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::graph::TimelineId;
    use super::*;

    fn sender(time: i64) -> Option<Sender> {
        Some(Sender { thread: TimelineId(0), time })
    }

    #[test]
    fn the_first_send_counts_and_a_packet_is_received_once() {
        let mut packets = Packets::default();
        packets.sent(0, b"a", sender(1));
        packets.sent(0, b"a", sender(2));
        packets.sent(1, b"a", None);
        assert_eq!(packets.received(0, b"a"), sender(1));
        assert_eq!(packets.received(0, b"a"), None);
        assert_eq!(packets.len(), 1);
    }

    #[test]
    fn the_oldest_packets_are_forgotten() {
        let mut packets = Packets::default();
        for number in 0..3 * MAX_PENDING as i64 {
            packets.sent(0, &number.to_le_bytes(), sender(number));
            if number % 2 == 0 {
                assert_eq!(packets.received(0, &number.to_le_bytes()), sender(number));
            }
            assert!(packets.len() <= MAX_PENDING && packets.order.len() <= 2 * MAX_PENDING);
        }
        assert_eq!(packets.received(0, &1_i64.to_le_bytes()), None);
        let last = 3 * MAX_PENDING as i64 - 1;
        assert_eq!(packets.received(0, &last.to_le_bytes()), sender(last));
    }
}
