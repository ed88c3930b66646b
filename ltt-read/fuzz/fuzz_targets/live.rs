//! Passes arbitrary bytes to a viewer as the replies of a relay daemon: the input is divided
//! into pieces by its own bytes. What arrives is read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ltt_read::Merge;
use ltt_read::live::{LiveAction, LiveClient, LiveStart};

fuzz_target!(|data: &[u8]| {
    let mut client =
        LiveClient::attach("fuzz", "h", "s", LiveStart::Beginning).with_memory(1 << 16);
    let mut merge = Merge::new(&[]);
    let mut rest = data;
    // Each step consumes a byte at least, or is a question that the next step answers.
    loop {
        match client.next() {
            Ok(LiveAction::Send(_)) => {}
            Ok(LiveAction::Receive) => {
                let Some((size, after)) = rest.split_first() else { break };
                let (piece, after) = after.split_at((usize::from(*size) + 1).min(after.len()));
                rest = after;
                if client.receive(piece).is_err() {
                    break;
                }
            }
            Ok(LiveAction::Wait) => {
                let Some((_, after)) = rest.split_first() else { break };
                rest = after;
                merge.continue_with(client.traces());
                while merge.next().is_some() {}
                client.release(&merge);
            }
            Ok(LiveAction::End) | Err(_) => break,
        }
    }
    merge.continue_with(client.traces());
    while merge.next().is_some() {}
});
