//! Ends of messages are matched by their keys, with bounded memory, in any order.

use std::collections::BTreeMap;
use std::sync::Arc;

use ltt_read::Timestamp;
use lttv_context::synchronize::matching::{
    Direction, MatchCounts, MatchLimits, Matcher, MessageEnd,
};
use lttv_context::synchronize::{HostIndex, Message};
use proptest::prelude::*;

use Direction::{Receive, Send};

const VALIDITY: u64 = 1_000_000;

fn end(host: usize, direction: Direction, time: i64, key: &[u8]) -> MessageEnd<'_> {
    let (host, time) = (HostIndex(host), Timestamp::from_ns(time));
    MessageEnd { host, direction, time, protocol: 0, key, validity: VALIDITY, is_to_many: false }
}

fn message(sender: usize, sent: i64, receiver: usize, received: i64) -> Message {
    let at = Timestamp::from_ns;
    let (sender, receiver) = (HostIndex(sender), HostIndex(receiver));
    Message { sender, sent: at(sent), receiver, received: at(received) }
}

fn run(limits: MatchLimits, ends: &[MessageEnd<'_>]) -> (Vec<Message>, MatchCounts) {
    let (mut matcher, mut messages) = (Matcher::new(limits), Vec::new());
    for end in ends {
        matcher.add(end, |message| messages.push(message));
    }
    (messages, matcher.counts())
}

/// Matches ends with one key, with the default limits.
fn one_key(ends: &[(usize, Direction, i64)]) -> (Vec<Message>, MatchCounts) {
    let ends: Vec<_> =
        ends.iter().map(|(host, direction, time)| end(*host, *direction, *time, b"key")).collect();
    run(MatchLimits::default(), &ends)
}

#[test]
fn either_end_may_come_first() {
    assert_eq!(one_key(&[(0, Send, 10), (1, Receive, 500)]).0, [message(0, 10, 1, 500)]);
    assert_eq!(one_key(&[(1, Receive, 5), (0, Send, 10)]).0, [message(0, 10, 1, 5)]);
}

#[test]
fn keys_and_protocols_are_compared_in_full() {
    let other = MessageEnd { protocol: 1, ..end(1, Receive, 20, b"a") };
    let ends =
        [end(0, Send, 10, b"a"), end(1, Receive, 20, b"aa"), end(1, Receive, 20, b""), other];
    let (messages, counts) = run(MatchLimits::default(), &ends);
    assert_eq!((messages.len(), counts.pending), (0, 4));
}

#[test]
fn messages_within_a_host_are_counted_only() {
    let (messages, counts) = one_key(&[(0, Send, 10), (0, Receive, 20), (0, Receive, 30)]);
    assert_eq!((messages.len(), counts.local, counts.repeated, counts.pending), (0, 1, 1, 0));
    // The receive may come first where a clock goes back between tracefiles.
    assert_eq!(one_key(&[(0, Receive, 20), (0, Send, 10)]).1.local, 1);
}

#[test]
fn first_of_several_transmissions_counts() {
    let (first, again) = (100, 100 + VALIDITY as i64 / 2);
    let (messages, counts) = one_key(&[(0, Send, first), (0, Send, again), (1, Receive, 7)]);
    assert_eq!((messages, counts.repeated), (vec![message(0, first, 1, 7)], 1));
    // The repetition of a message that has arrived is no new message.
    let (messages, counts) =
        one_key(&[(0, Send, first), (1, Receive, 7), (0, Send, again), (1, Receive, 9)]);
    assert_eq!((messages.len(), counts.repeated, counts.pending), (1, 2, 0));
}

#[test]
fn keys_are_used_again_after_their_validity() {
    let later = 100 + 2 * VALIDITY as i64;
    let (messages, counts) = one_key(&[(0, Send, 100), (0, Send, later), (1, Receive, 7)]);
    assert_eq!((messages, counts.expired), (vec![message(0, later, 1, 7)], 1));
    let ends = [(0, Send, 100), (1, Receive, 7), (0, Send, later), (1, Receive, later)];
    assert_eq!(one_key(&ends).0, [message(0, 100, 1, 7), message(0, later, 1, later)]);
}

/// A host that forwards records a receive and a later send: its last send and its first receive
/// count.
#[test]
fn forwarded_messages_reach_the_next_host() {
    let ends = [
        (0, Send, 0),
        (0, Send, 3_000),
        (0, Send, 6_000), // devices that the packet passes
        (1, Receive, 20_000),
        (1, Receive, 22_000), // the card and the bridge
        (1, Send, 23_000),
        (1, Send, 25_000),
        (2, Receive, 40_000),
        (2, Receive, 41_000),
    ];
    let expected = [message(0, 6_000, 1, 20_000), message(1, 25_000, 2, 40_000)];
    let (messages, counts) = one_key(&ends);
    assert_eq!(
        (&messages[..], counts.repeated, counts.pending, counts.local),
        (&expected[..], 5, 0, 0)
    );
    // If the clock of the host that forwards is far behind, its receive is known before any send.
    // The first send then makes the message, which is a weaker limit.
    let behind: Vec<_> = ends[3..7].iter().chain(&ends[..3]).chain(&ends[7..]).copied().collect();
    assert_eq!(one_key(&behind).0, [message(0, 0, 1, 20_000), expected[1]]);
}

/// A container sends to its host, which passes the packet on to the network.
#[test]
fn messages_leave_a_host_after_a_local_one() {
    let ends = [(0, Send, 0), (0, Receive, 2_000), (0, Send, 5_000), (1, Receive, 90_000)];
    let (messages, counts) = one_key(&ends);
    assert_eq!((messages, counts.local), (vec![message(0, 5_000, 1, 90_000)], 1));
}

#[test]
fn messages_to_many_reach_all_hosts() {
    let to_many =
        |host, direction, time| MessageEnd { is_to_many: true, ..end(host, direction, time, b"k") };
    let ends = [
        to_many(1, Receive, 5),
        to_many(2, Receive, 6),
        to_many(0, Receive, 20),
        to_many(0, Send, 10),
        to_many(3, Receive, 7),
    ];
    let (mut messages, counts) = run(MatchLimits::default(), &ends);
    messages.sort_unstable();
    assert_eq!(messages, [message(0, 10, 1, 5), message(0, 10, 2, 6), message(0, 10, 3, 7)]);
    assert_eq!((counts.messages, counts.local, counts.pending), (3, 1, 0));
    // A send that waits for others is not without a message.
    let ends = [to_many(0, Send, 10), to_many(1, Receive, 5), to_many(2, Receive, 6)];
    let (_, counts) = run(MatchLimits::default().pending(1), &ends);
    assert_eq!((counts.messages, counts.pending, counts.dropped), (2, 0, 0));
    // It is one of the ends that are kept, and the first one to go.
    let other = MessageEnd { is_to_many: true, ..end(0, Send, 20, b"other") };
    let ends = [&ends[..2], &[other], &ends[2..]].concat();
    let (_, counts) = run(MatchLimits::default().pending(1), &ends);
    assert_eq!((counts.messages, counts.pending, counts.dropped), (1, 1, 1));
}

#[test]
fn the_oldest_pending_ends_are_dropped_and_counted() {
    let keys: Vec<_> = (0..1000_u32).map(u32::to_le_bytes).collect();
    let sends = keys.iter().zip(0..).map(|(key, time)| end(0, Send, time, key));
    let receives = keys.iter().zip(0..).map(|(key, time)| end(1, Receive, time, key));
    let ends: Vec<_> = sends.chain(receives).collect();
    let (messages, counts) = run(MatchLimits::default().pending(100), &ends);
    // The first receives wait in vain, and drop sends that would have been received.
    assert_eq!((counts.sends, counts.receives, counts.pending), (1000, 1000, 100));
    assert_eq!(counts.dropped + counts.pending + 2 * counts.messages, 2000);
    assert_eq!(messages.len() as u64, counts.messages);
    let (messages, counts) = run(MatchLimits::default().recent(0), &ends);
    assert_eq!((messages.len(), counts.dropped, counts.pending), (1000, 0, 0));
}

/// Half of the sends are never received: the number of kept entries stays at the limits, which
/// shows in the length of the `Debug` text.
#[test]
fn endless_traffic_needs_bounded_memory() {
    let mut matcher = Matcher::new(MatchLimits::default().pending(1000).recent(500));
    for number in 0..200_000_u64 {
        let key = number.to_le_bytes();
        matcher.add(&end(0, Send, number as i64, &key), |_| {});
        if number % 2 == 0 {
            matcher.add(&end(1, Receive, number as i64, &key), |_| {});
        }
    }
    let counts = matcher.counts();
    assert_eq!((counts.messages, counts.pending), (100_000, 1000));
    assert_eq!(counts.dropped, 99_000);
    assert!(format!("{matcher:?}").len() < 1_000_000);
}

/// A slow model of messages with unique keys from one host to another: each key at most once per
/// host and direction.
fn model(ends: &[(usize, Direction, i64, u8)]) -> Vec<Message> {
    let mut sides: BTreeMap<u8, Vec<(usize, Direction, i64)>> = BTreeMap::new();
    let mut messages = Vec::new();
    for (host, direction, time, key) in ends {
        let side = sides.entry(*key).or_default();
        let other = side.iter().find(|(other, way, _)| other != host && way != direction).copied();
        if let Some((other, _, at)) = other {
            messages.push(match direction {
                Send => message(*host, *time, other, at),
                Receive => message(other, at, *host, *time),
            });
        }
        side.push((*host, *direction, *time));
    }
    messages
}

proptest! {
    /// Two hosts, each key sent once and received at most once, in any order.
    #[test]
    fn unique_messages_are_all_found(
        sent in prop::collection::vec((0..2_usize, any::<bool>(), -500..500_i64, -500..500_i64), 0..60),
        order in any::<prop::sample::Index>(),
    ) {
        let mut ends = Vec::new();
        for (key, (from, arrives, sent, received)) in sent.into_iter().enumerate() {
            ends.push((from, Send, sent, key as u8));
            if arrives {
                ends.push((1 - from, Receive, received, key as u8));
            }
        }
        let by = 1 + order.index(97);
        ends.sort_by_key(|(host, _, time, key)| (time * by as i64 % 101, *host, *key));
        let keys: Arc<[[u8; 1]]> = (0..=255).map(|key| [key]).collect();
        let all: Vec<_> = ends.iter().map(|(host, way, time, key)| end(*host, *way, *time, &keys[*key as usize])).collect();
        let (messages, counts) = run(MatchLimits::default(), &all);
        prop_assert_eq!(&messages, &model(&ends));
        prop_assert_eq!(counts.pending as usize + 2 * messages.len(), all.len());
    }

    /// Any ends with few keys: counts add up, and no message is within a host or made twice of
    /// one end.
    #[test]
    fn counts_add_up(
        ends in prop::collection::vec((0..4_usize, any::<bool>(), -100_000..4_000_000_i64, 0..4_u8, any::<bool>()), 0..120),
        pending in 0..20_usize, recent in 0..5_usize,
    ) {
        let keys: Vec<_> = (0..4).map(|key| [key]).collect();
        let ends: Vec<_> = ends.into_iter().map(|(host, sends, time, key, _)| {
            end(host, if sends { Send } else { Receive }, time, &keys[key as usize])
        }).collect();
        let limits = MatchLimits::default().pending(pending).recent(recent);
        let (messages, of) = run(limits, &ends);
        prop_assert_eq!(messages.len() as u64, of.messages);
        prop_assert_eq!(of.sends + of.receives, ends.len() as u64);
        let accounted = 2 * (of.messages + of.local) + of.repeated + of.expired + of.dropped + of.pending;
        prop_assert_eq!(accounted, ends.len() as u64);
        prop_assert!(of.pending <= pending.max(1) as u64);
        prop_assert!(messages.iter().all(|of| of.sender != of.receiver));
    }
}
