//! Screens of traces that are damaged or contain control characters.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Screen;
use lttv_common::escape::is_control;
use lttv_tui::look::Look;
use lttv_tui::session::Session;

const METADATA: &str = "/* CTF 1.8 */
typealias integer { size = 8; } := uint8_t;
typealias integer { size = 32; } := uint32_t;
clock { name = monotonic; freq = 1000000000; };
typealias integer { size = 8; map = clock.monotonic.value; } := time_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; }; };
stream {
    packet.context := struct { uint32_t content_size; uint32_t packet_size; };
    event.header := struct { uint8_t id; time_t timestamp; };
};
event { name = \"EVENT\"; id = 0; fields := struct { uint8_t value; }; };
";

/// Writes a trace with two events of a name, followed by damaged packets.
fn trace(name: &str, event: &str, damaged: usize) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&path).expect("a folder for tests");
    fs::write(path.join("metadata"), METADATA.replace("EVENT", event)).expect("room");
    let mut stream = Vec::new();
    for packet in 0..=damaged {
        stream.extend(0xc1fc_1fc1u32.to_le_bytes());
        stream.extend(144u32.to_le_bytes());
        stream.extend(144u32.to_le_bytes());
        let id = if packet == 0 { 0 } else { 9 };
        stream.extend([id, 1, 7, id, 200, 7]);
    }
    fs::write(path.join("stream_0"), stream).expect("room");
    path
}

#[test]
fn control_characters_in_names_are_visible_and_harmless() {
    let path = trace("control-characters", "switch\u{1b}[2J\u{9b}\u{202e}x", 0);
    let mut screen = Screen::of(Session::open(&[path]).expect("a trace"), 140, 44, Look::Mono);
    screen.settle();
    let text = screen.text();
    assert!(text.contains("switch\\x1b[2J\\u{9b}\\u{202e}x"), "{text}");
    assert!(!text.contains(|c| c != '\n' && is_control(c)), "{text}");
}

#[test]
fn damage_is_reported_in_the_last_line() {
    for (damaged, expected) in
        [(1, "cannot be read: "), (5000, "more than 4096 errors, the first: ")]
    {
        let path = trace(&format!("damaged-{damaged}"), "event", damaged);
        let mut screen = Screen::of(Session::open(&[path]).expect("a trace"), 140, 44, Look::Mono);
        screen.settle();
        let text = screen.text();
        let last = text.trim_end().lines().last().unwrap_or_default();
        assert!(last.contains(expected), "{text}");
    }
    let text = Screen::open(140, 44, Look::Mono).text();
    assert!(!text.contains("cannot be read") && !text.contains("the first:"), "{text}");
}
