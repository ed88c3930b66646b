//! Small traces, written byte by byte, with damage and clocks that go back.

use std::fs;
use std::path::Path;

/// The metadata: one stream, events with a time and a number.
const METADATA: &str = "/* CTF 1.8 */
trace {
    major = 1; minor = 8; byte_order = le;
    packet.header := struct { integer { size = 32; } magic; integer { size = 32; } stream_id; };
};
clock { name = c; freq = 1000000000; };
typealias integer { size = 64; map = clock.c.value; } := ts_t;
typealias integer { size = 64; } := u64;
typealias integer { size = 8; } := u8;
stream {
    id = 0;
    packet.context := struct {
        u64 packet_size; u64 content_size; ts_t timestamp_begin; ts_t timestamp_end;
    };
    event.header := struct { integer { size = 8; } id; ts_t timestamp; };
};
event { name = e; id = 0; stream_id = 0; fields := struct { u8 x; }; };
";

/// Returns a packet with events at some times in ns.
fn packet(times: &[i64]) -> Vec<u8> {
    let (first, last) = (times.iter().min().unwrap(), times.iter().max().unwrap());
    let size = 8 * (40 + 10 * times.len() as u64);
    let mut bytes = [0xc1fc_1fc1_u32.to_le_bytes(), 0_u32.to_le_bytes()].concat();
    for number in [size, size, *first as u64, *last as u64] {
        bytes.extend(number.to_le_bytes());
    }
    for (number, time) in times.iter().enumerate() {
        bytes.push(0);
        bytes.extend(time.to_le_bytes());
        bytes.push(number as u8);
    }
    bytes
}

/// Writes a trace of one tracefile, with packets of events at some times in ns.
pub(crate) fn write(path: &Path, packets: &[&[i64]]) {
    fs::create_dir_all(path).unwrap();
    fs::write(path.join("metadata"), METADATA).unwrap();
    let bytes: Vec<u8> = packets.iter().flat_map(|times| packet(times)).collect();
    fs::write(path.join("stream_0"), bytes).unwrap();
}

/// Writes a trace with three packets, of which the second one has a size that ends within an event.
pub(crate) fn write_damaged(path: &Path) {
    write(path, &[&[1000, 1010], &[2000, 2010, 2020], &[3000, 3010]]);
    let stream = path.join("stream_0");
    let mut bytes = fs::read(&stream).unwrap();
    let second = 40 + 10 * 2;
    // The content ends within the second event.
    bytes[second + 16..][..8].copy_from_slice(&(8 * 55_u64).to_le_bytes());
    fs::write(stream, bytes).unwrap();
}

/// Writes a trace that cannot be opened.
pub(crate) fn write_unreadable(path: &Path) {
    fs::create_dir_all(path).unwrap();
    fs::write(path.join("metadata"), "/* CTF 1.8 */ trace { major = ").unwrap();
    fs::write(path.join("stream_0"), packet(&[1])).unwrap();
}
