//! A relay daemon on a port of this machine.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use super::relay::Relay;

/// A daemon in a thread, which holds one conversation.
pub(crate) struct Daemon {
    /// The host and the port.
    pub(crate) address: String,
    /// The replies that are left, to which others can be added.
    pub(crate) relay: Arc<Mutex<Relay>>,
}

impl Daemon {
    pub(crate) fn start(relay: Relay) -> Daemon {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let relay = Arc::new(Mutex::new(relay));
        let replies = relay.clone();
        thread::spawn(move || {
            let (mut connection, _) = listener.accept().expect("a viewer");
            loop {
                let mut request = vec![0; 16];
                if connection.read_exact(&mut request).is_err() {
                    return;
                }
                request.resize(16 + usize::from(request[7]), 0);
                connection.read_exact(&mut request[16..]).expect("a payload");
                let reply = replies.lock().expect("no panic").answer(&request);
                let Some(reply) = reply else { return };
                // The viewer may have been stopped.
                if connection.write_all(&reply).is_err() {
                    return;
                }
            }
        });
        Daemon { address, relay }
    }

    /// Returns the address of a session of the host `vm`.
    pub(crate) fn session(&self, name: &str) -> String {
        format!("net://{}/host/vm/{name}", self.address)
    }
}
