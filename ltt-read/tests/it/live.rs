//! Live sessions: recorded and scripted conversations with relay daemons, sound and hostile.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::config::cases;
use crate::support::daemon::Daemon;
use crate::support::relay::{Relay, be};
use crate::support::scripted::{
    EVENTS, attached, greeting, metadata, metadata_reply, packet, session, stream, streams, whole,
    whole_of,
};
use crate::support::shared::shared;
use flate2::read::GzDecoder;
use ltt_read::live::{
    LiveAction, LiveClient, LiveError, LiveReader, LiveStart, LiveState, Refusal,
};
use ltt_read::schema::Scope;
use ltt_read::{Event, Merge};
use proptest::prelude::*;

/// Returns the time of day, the name and the CPU of an event, as babeltrace2 writes them.
fn line(event: &Event<'_>) -> String {
    let ns = event.timestamp().expect("a time").as_ns().rem_euclid(86_400_000_000_000);
    let (seconds, ns) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let cpu = event.scope(Scope::PacketContext).expect("a context");
    let mut cpu = cpu.members().filter(|(info, _)| info.name() == Some("cpu_id"));
    let cpu = cpu.next().and_then(|(_, cpu)| cpu.as_u64()).expect("a CPU");
    let mut text = format!(
        "[{hours:02}:{minutes:02}:{seconds:02}.{ns:09}] {}: {{ cpu_id = {cpu} }}",
        event.event_type().name()
    );
    for name in ["seq", "who"] {
        if let Some(value) = event.field(name).and_then(|value| value.as_u64()) {
            text += &format!(" {name} = {value}");
        }
    }
    text
}

/// Returns the same of a line of babeltrace2.
fn line_of(reference: &str) -> String {
    let (time, rest) = reference.split_once(' ').expect("a time");
    let (head, fields) = rest.split_once(": {").expect("fields");
    let name = head.rsplit(' ').next().expect("a name");
    let (cpu, fields) = fields.split_once('}').expect("a CPU");
    let mut text = format!("{time} {name}: {{{cpu}}}");
    for name in ["seq", "who"] {
        if let Some((_, value)) = fields.split_once(&format!(" {name} = ")) {
            let value = value.split([',', ' ']).next().expect("a value");
            text += &format!(" {name} = {value}");
        }
    }
    text
}

/// Carries a conversation to its end, with replies in pieces of some bytes. Returns the events.
fn converse(
    client: &mut LiveClient,
    relay: &mut Relay,
    piece: usize,
) -> (Vec<String>, Result<(), LiveError>) {
    let (mut merge, mut seen, mut waits) = (Merge::new(&[]), Vec::new(), 0);
    let mut request = Vec::new();
    let mut read = |client: &mut LiveClient| {
        merge.continue_with(client.traces());
        while let Some(event) = merge.next() {
            seen.push(line(&event));
        }
        client.release(&merge);
    };
    let end = loop {
        match client.next() {
            Ok(LiveAction::Send(bytes)) => request = bytes,
            Ok(LiveAction::Receive) => {
                let Some(reply) = relay.answer(&request) else { break Err(client.closed()) };
                let mut pieces = reply.chunks(piece);
                if let Some(error) = pieces.find_map(|piece| client.receive(piece).err()) {
                    break Err(error);
                }
            }
            Ok(LiveAction::Wait) => {
                read(client);
                waits += 1;
                assert!(waits < 1000, "the conversation does not end");
            }
            Ok(LiveAction::End) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    read(client);
    assert!(end.is_err() || !merge.is_pending());
    assert!(merge.errors().is_empty(), "{:?}", merge.errors());
    (seen, end)
}

fn text(path: &Path) -> String {
    let mut text = String::new();
    GzDecoder::new(File::open(path).expect("a file")).read_to_string(&mut text).expect("text");
    text
}

#[test]
fn recorded_conversations_give_the_events_of_their_references() {
    let Some(folder) = shared("live/recordings") else { return };
    for (name, session, start) in [
        ("normal", "r1", LiveStart::Beginning),
        ("perpid", "r3", LiveStart::Beginning),
        ("metadata", "r5", LiveStart::Beginning),
        ("idle-last", "r4", LiveStart::Now),
        ("killed", "r6", LiveStart::Beginning),
        ("proto-2.15-ctf2", "ctf2", LiveStart::Beginning),
    ] {
        let relay = Relay::recorded(&folder.join(format!("{name}.rec.gz")));
        let reference = text(&folder.join(format!("{name}.txt.gz")));
        let expected: Vec<_> = reference.lines().map(line_of).collect();
        for piece in [1, 7, usize::MAX] {
            let mut client = LiveClient::attach("fake:5344", "vm", session, start);
            let (mut seen, end) = converse(&mut client, &mut relay.clone(), piece);
            if name == "killed" {
                let error = end.unwrap_err().to_string();
                let expected = "fake:5344: the relay daemon closed the connection while it was \
                                asked for the next packet of stream ";
                assert!(error.starts_with(expected), "{error}");
                assert!(
                    error.ends_with("(ust/uid/0/64-bit/ch_0)")
                        || error.ends_with("(ust/uid/0/64-bit/ch_1)"),
                    "{error}"
                );
                // What is not final any more is not delivered.
                assert!(expected.len() >= seen.len());
                seen.truncate(60);
            } else {
                end.unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            // Events of equal times may be in any order.
            assert_eq!(seen.len(), expected.len(), "{name}, pieces of {piece}");
            assert_eq!(seen, expected, "{name}, pieces of {piece}");
        }
    }
}

#[test]
fn recorded_refusals_are_errors_in_words() {
    let Some(folder) = shared("live/recordings") else { return };
    let relay = Relay::recorded(&folder.join("errors.rec.gz"));
    let mut client = LiveClient::list("fake:5344");
    let (_, end) = converse(&mut client, &mut relay.clone(), usize::MAX);
    end.unwrap();
    let sessions: Vec<_> = client.sessions().iter().map(ToString::to_string).collect();
    assert_eq!(
        sessions,
        [
            "vm/r7 (timer = 500000, 3 stream(s), 0 client(s) connected)",
            "vm/notlive (timer = 0, 3 stream(s), 0 client(s) connected)",
        ]
    );
    let mut client = LiveClient::attach("fake:5344", "vm", "notlive", LiveStart::Now);
    let (_, end) = converse(&mut client, &mut relay.clone(), usize::MAX);
    assert_eq!(
        end.unwrap_err().to_string(),
        "fake:5344: attachment to session 10: the session is not live"
    );
    let mut client = LiveClient::attach("fake:5344", "vm", "nobody", LiveStart::Now);
    let (_, end) = converse(&mut client, &mut relay.clone(), usize::MAX);
    assert_eq!(end.unwrap_err().to_string(), "fake:5344: no session `nobody` of host `vm`");
}

fn seqs(seen: &[String]) -> Vec<u64> {
    seen.iter().map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn a_whole_session_is_read_in_order() {
    for piece in [1, 7, 100, usize::MAX] {
        let mut client = LiveClient::attach("fake", "vm", "s", LiveStart::Beginning);
        let (seen, end) = converse(&mut client, &mut whole(), piece);
        end.unwrap();
        assert_eq!(seqs(&seen), EVENTS);
    }
}

#[test]
fn all_versions_of_the_protocol_are_spoken() {
    for minor in (4..=16).chain([99]) {
        let (mut relay, mut asked) = (whole_of(minor, false), Vec::new());
        let mut client = LiveClient::attach("fake", "vm", "s", LiveStart::Beginning);
        let (seen, end) = converse(&mut client, &mut relay.clone(), 7);
        end.unwrap_or_else(|error| panic!("2.{minor}: {error}"));
        assert_eq!(seqs(&seen), EVENTS, "2.{minor}");
        // A viewer that leaves tells daemons that know how.
        let mut client = LiveClient::attach("fake", "vm", "s", LiveStart::Beginning);
        while asked.last() != Some(&4) {
            if let LiveAction::Send(request) = client.next().unwrap() {
                asked.push(request[11]);
                client.receive(&relay.answer(&request).unwrap()).unwrap();
            }
        }
        client.detach();
        match client.next().unwrap() {
            LiveAction::Send(request) => assert_eq!((request[11], minor >= 8), (9, true)),
            other => assert_eq!((other, minor < 8), (LiveAction::End, true)),
        }
    }
    let mut relay = Relay::default();
    relay.reply(1, None, be(&[(1, 8), (3, 4), (0, 4), (0, 4)]));
    let mut client = LiveClient::list("fake");
    let (_, end) = converse(&mut client, &mut relay, 7);
    let error = end.unwrap_err().to_string();
    assert_eq!(error, "fake: its version: not a valid answer: the daemon speaks version 3.0");
}

#[test]
fn the_kernel_and_the_user_space_of_a_host_are_read_together() {
    let mut relay = Relay::default();
    relay.reply(1, None, be(&[(1, 8), (2, 4), (13, 4), (0, 4)]));
    let sessions = [(5, "s"), (6, "other"), (8, "s")].map(|(id, name)| session(id, name, 13));
    relay.reply(2, None, [be(&[(3, 4)]), sessions.concat()].concat());
    relay.reply(8, None, be(&[(1, 4)]));
    for (session, id, times) in [(5, 10, [10, 40]), (8, 20, [20, 30])] {
        let both = [stream(id, false, "ch_0"), stream(id + 1, true, "metadata")];
        relay.reply(3, Some(session), streams(&both));
        relay.reply(6, Some(id + 1), metadata_reply(&metadata()));
        relay.packet(id, 0, 50, packet(0, &times));
        relay.index(id, 3, 0, 0);
        relay.reply(7, Some(session), be(&[(4, 4), (0, 4)]));
    }
    let mut client = LiveClient::attach("fake", "vm", "s", LiveStart::Beginning);
    let (seen, end) = converse(&mut client, &mut relay, usize::MAX);
    end.unwrap();
    assert_eq!(seqs(&seen), [10, 20, 30, 40]);
    assert_eq!(client.traces().len(), 2);
}

#[test]
fn every_refusal_is_an_error_in_words() {
    for (status, refusal) in [
        (2, Refusal::AlreadyAttached),
        (3, Refusal::UnknownSession),
        (4, Refusal::NotLive),
        (5, Refusal::UnknownStart),
        (6, Refusal::NoViewerSession),
    ] {
        let mut relay = greeting(13);
        relay.reply(3, Some(5), be(&[(status, 4), (0, 4)]));
        let mut client = LiveClient::attach("fake", "vm", "s", LiveStart::Now);
        let (_, end) = converse(&mut client, &mut relay, usize::MAX);
        match end {
            Err(LiveError::Refused { refusal: found, .. }) => assert_eq!(found, refusal),
            other => panic!("{other:?}"),
        }
    }
    let mut relay = attached(13);
    relay.index(1, 4, 0, 0);
    let mut client = LiveClient::attach("fake", "vm", "s", LiveStart::Now);
    let (_, end) = converse(&mut client, &mut relay, usize::MAX);
    assert_eq!(
        end.unwrap_err().to_string(),
        "fake: the next packet of stream 1 (kernel/ch_0): the relay daemon reports an error"
    );
}

#[test]
fn packets_that_were_removed_are_skipped_if_the_daemon_says_so_cleanly() {
    for (minor, is_error) in [(13, false), (12, true)] {
        let mut relay = attached(minor);
        relay.reply(6, Some(3), metadata_reply(&metadata()));
        relay.index(2, 3, 0, 0);
        let removed =
            be(&[(0, 8), (800, 8), (800, 8), (0, 8), (5, 8), (0, 8), (0, 8), (1, 4), (0, 4)]);
        relay.reply(4, Some(1), removed);
        // The answer to any request for a packet that is not there.
        let key = be(&[(1, 8), (0, 8), (100, 4)]);
        relay.answer_packet(key, be(&[(3, 4), (0, 4), (0, 4)]));
        relay.packet(1, 100, 30, packet(0, &[10, 20, 30]));
        relay.index(1, 3, 0, 0);
        relay.reply(7, Some(5), be(&[(4, 4), (0, 4)]));
        let mut client = LiveClient::attach("fake", "vm", "s", LiveStart::Now);
        let (seen, end) = converse(&mut client, &mut relay, usize::MAX);
        assert_eq!(end.is_err(), is_error);
        assert_eq!(seen.len(), if is_error { 0 } else { 3 });
    }
}

#[test]
fn hostile_counts_and_lengths_are_errors() {
    let all = u64::from(u32::MAX);
    let list = |count| {
        let mut relay = Relay::default();
        relay.reply(1, None, be(&[(1, 8), (2, 4), (15, 4), (0, 4)]));
        relay.reply(2, None, count);
        relay
    };
    let mut relays = vec![
        list(be(&[(all, 4)])),
        list(be(&[(1, 4), (1, 8), (0, 4), (0, 4), (0, 4), (all, 4), (all, 4), (0, 4)])),
    ];
    let add = |relays: &mut Vec<Relay>, command, about, reply| {
        let mut relay = attached(13);
        relay.reply(command, Some(about), reply);
        relays.push(relay);
    };
    add(&mut relays, 6, 3, be(&[(u64::MAX, 8), (1, 4)]));
    add(&mut relays, 6, 3, be(&[(0, 8), (77, 4)]));
    let index = |offset, packet, content, status| {
        be(&[
            (offset, 8),
            (packet, 8),
            (content, 8),
            (0, 8),
            (9, 8),
            (0, 8),
            (0, 8),
            (status, 4),
            (0, 4),
        ])
    };
    add(&mut relays, 4, 1, index(0, u64::MAX, 8, 1));
    add(&mut relays, 4, 1, index(0, 800, u64::MAX, 1));
    add(&mut relays, 4, 1, index(0, 801, 8, 1));
    add(&mut relays, 4, 1, index(0, 0, 0, 99));
    for mut relay in relays {
        let mut client = LiveClient::attach("fake", "vm", "s", LiveStart::Now);
        let (_, end) = converse(&mut client, &mut relay, usize::MAX);
        assert!(matches!(end, Err(LiveError::Protocol { .. })), "{end:?}");
    }
}

#[test]
fn endless_data_does_not_fill_the_memory() {
    let endless = || {
        let mut relay = attached(13);
        relay.reply(6, Some(3), metadata_reply(&metadata()));
        relay.index(2, 3, 0, 0);
        (0..100).for_each(|_| relay.packet(1, 0, 0, packet(0, &[10; 1000])));
        relay.index(1, 3, 0, 0);
        relay.reply(7, Some(5), be(&[(4, 4), (0, 4)]));
        relay
    };
    let client =
        || LiveClient::attach("fake", "vm", "s", LiveStart::Beginning).with_memory(1 << 16);
    // A caller that releases what it has read gets everything.
    let (seen, end) = converse(&mut client(), &mut endless(), usize::MAX);
    end.unwrap();
    assert_eq!(seen.len(), 100_000);
    // Another one does not.
    let (mut client, mut relay, mut request) = (client(), endless(), Vec::new());
    let end = loop {
        match client.next() {
            Ok(LiveAction::Send(bytes)) => request = bytes,
            Ok(LiveAction::Receive) => {
                if let Err(error) = client.receive(&relay.answer(&request).unwrap()) {
                    break error;
                }
            }
            Ok(LiveAction::Wait) => {}
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(end, LiveError::Memory { .. }), "{end:?}");
    assert!(relay.requests < 100, "{}", relay.requests);
    // Metadata that never declares a trace.
    let mut relay = attached(13);
    (0..2).for_each(|_| relay.reply(6, Some(3), metadata_reply(&vec![b' '; 130 << 20])));
    let mut client = LiveClient::attach("fake", "vm", "s", LiveStart::Beginning);
    let (_, end) = converse(&mut client, &mut relay, usize::MAX);
    assert!(matches!(end, Err(LiveError::Data { .. })), "{end:?}");
}

#[test]
fn a_daemon_that_retries_for_ever_leaves_the_caller_in_control() {
    let mut relay = attached(13);
    let mut client = LiveClient::attach("fake", "vm", "s", LiveStart::Now);
    let (mut request, mut rounds) = (Vec::new(), 0);
    for stream in [1, 2] {
        (0..10_000).for_each(|_| relay.index(stream, 2, 0, 1));
    }
    relay.reply(6, Some(3), be(&[(0, 8), (2, 4)]));
    while rounds < 1000 {
        match client.next().unwrap() {
            LiveAction::Send(bytes) => request = bytes,
            LiveAction::Receive => client.receive(&relay.answer(&request).unwrap()).unwrap(),
            LiveAction::Wait => rounds += 1,
            LiveAction::End => panic!("the session is not over"),
        }
    }
    // In each round, each stream is polled once, and metadata after each announcement.
    assert!(relay.requests < 4100, "{}", relay.requests);
    client.detach();
    assert!(matches!(client.next().unwrap(), LiveAction::Send(_)));
}

proptest! {
    #![proptest_config(cases(300))]

    /// Whatever a daemon sends, the client answers with an error or goes on, and never panics.
    #[test]
    fn damaged_conversations_never_panic(
        at in 0..40u64, byte in any::<prop::sample::Index>(), xor in 1..=255u8, cut in any::<bool>(),
    ) {
        let (mut relay, mut client) = (whole(), LiveClient::attach("f", "vm", "s", LiveStart::Now));
        let (mut request, mut merge, mut waits) = (Vec::new(), Merge::new(&[]), 0);
        loop {
            match client.next() {
                Ok(LiveAction::Send(bytes)) => request = bytes,
                Ok(LiveAction::Receive) => {
                    let Some(mut reply) = relay.answer(&request) else { break };
                    if relay.requests == at {
                        let byte = byte.index(reply.len());
                        reply[byte] ^= xor;
                        if cut { reply.truncate(byte) }
                    }
                    if cut && relay.requests == at || client.receive(&reply).is_err() { break }
                }
                Ok(LiveAction::Wait) => {
                    merge.continue_with(client.traces());
                    while merge.next().is_some() {}
                    client.release(&merge);
                    waits += 1;
                    if waits > 50 { break }
                }
                Ok(LiveAction::End) | Err(_) => break,
            }
        }
        merge.continue_with(client.traces());
        while merge.next().is_some() {}
    }
}

#[test]
fn sessions_are_read_over_tcp() {
    let daemon = Daemon::start(whole());
    let mut reader = LiveReader::attach(&daemon.address, "vm", "s", LiveStart::Beginning).unwrap();
    let (mut merge, mut seen) = (Merge::new(&[]), Vec::new());
    let start = Instant::now();
    loop {
        let state = reader.poll(Duration::from_millis(50)).unwrap();
        merge.continue_with(reader.traces());
        while let Some(event) = merge.next() {
            seen.push(line(&event));
        }
        reader.release(&merge);
        if state == LiveState::Ended {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(60));
    }
    assert_eq!(seqs(&seen), EVENTS);
}

#[test]
fn a_daemon_that_does_not_answer_or_not_wholly_is_left_in_time() {
    for answer in [&[][..], &[0; 19]] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let mut reader = LiveReader::attach(&address, "vm", "s", LiveStart::Beginning).unwrap();
        let (mut connection, _) = listener.accept().unwrap();
        connection.write_all(answer).unwrap();
        // The machine may be busy with something else at one of the attempts.
        let attempt = |_| {
            let start = Instant::now();
            assert_eq!(reader.poll(Duration::from_millis(10)).unwrap(), LiveState::Busy);
            start.elapsed()
        };
        let least = (0..10).map(attempt).min().expect("ten attempts");
        assert!(least < Duration::from_millis(100), "{least:?}");
    }
}
