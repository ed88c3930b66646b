//! Numbers as text, beside the crates `itoa` and `ryu` and the standard library, and ways to write text.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::{self, IoSlice, Read, Write};
use std::thread;

use criterion::measurement::WallTime;
use criterion::{
    BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main,
};
use lttv_common::text::Text;
use lttv_common::text::number::{self, HexCase};

/// The number of numbers that are formatted at a time: their text stays near the processor.
const NUMBERS: usize = 1000;

/// The size of the text that is written, in bytes.
const WRITTEN: usize = 16 << 20;

/// Returns numbers below 2 to the power of `bits`, with all lengths.
fn numbers(bits: u32) -> Vec<u64> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state.rotate_right(32)
    };
    (0..NUMBERS).map(|at| next() >> (64 - 1 - at as u32 % bits)).collect()
}

/// Measures a way to append numbers to a text.
fn append<T: Copy>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    numbers: &[T],
    append: impl Fn(&mut Text, T),
) {
    let mut text = Text::with_room(64 * NUMBERS);
    group.throughput(Throughput::Elements(numbers.len() as u64));
    group.bench_function(name, |b| {
        b.iter(|| {
            text.clear();
            for number in black_box(numbers) {
                append(&mut text, *number);
                text.push(b' ');
            }
            black_box(text.as_bytes().len())
        });
    });
}

fn integers(c: &mut Criterion) {
    // The ids of threads and CPUs and most arguments are small; addresses and sizes are not.
    for (name, bits) in [("small integers", 20), ("integers of 64 bits", 64)] {
        let numbers = numbers(bits);
        let mut group = c.benchmark_group(name);
        append(&mut group, "decimal", &numbers, number::decimal);
        append(&mut group, "decimal by itoa", &numbers, |text, number| {
            text.append(itoa::Buffer::new().format(number).as_bytes());
        });
        append(&mut group, "decimal by the standard library", &numbers, |text, number| {
            _ = write!(text, "{number}");
        });
        append(&mut group, "hexadecimal", &numbers, |text, number| {
            number::hexadecimal(text, number, HexCase::Upper);
        });
        append(&mut group, "hexadecimal by the standard library", &numbers, |text, number| {
            _ = write!(text, "{number:X}");
        });
    }
}

/// The shortest text from which the same number is read, as in JSON.
fn floats(c: &mut Criterion) {
    let numbers: Vec<f64> =
        numbers(64).into_iter().map(|number| number as f64 / 1_000_000.0).collect();
    let mut group = c.benchmark_group("floating-point numbers");
    append(&mut group, "by ryu", &numbers, |text, number| {
        text.append(ryu::Buffer::new().format(number).as_bytes());
    });
    append(&mut group, "by the standard library", &numbers, |text, number| {
        _ = write!(text, "{number:?}");
    });
}

/// Writes text to a pipe that another thread empties, as `lttv dump | wc` does.
fn pipes(c: &mut Criterion) {
    let piece = vec![b'x'; 128 << 10];
    let mut group = c.benchmark_group("16 MiB to a pipe");
    group.throughput(Throughput::Bytes(WRITTEN as u64)).sample_size(20);
    let mut measure = |name: &str, write: &dyn Fn(&mut io::PipeWriter) -> io::Result<()>| {
        group.bench_function(name, |b| {
            b.iter_batched(
                || {
                    let (mut reader, writer) = io::pipe().expect("a pipe");
                    let empty = thread::spawn(move || {
                        let mut bytes = vec![0; 128 << 10];
                        while reader.read(&mut bytes).is_ok_and(|read| read > 0) {}
                    });
                    (writer, empty)
                },
                |(mut writer, empty)| {
                    write(&mut writer).expect("the pipe is open");
                    drop(writer);
                    empty.join().expect("a reader");
                },
                BatchSize::PerIteration,
            );
        });
    };
    for size in [8 << 10, 64 << 10, 128 << 10] {
        measure(&format!("pieces of {} KiB", size >> 10), &|writer| {
            (0..WRITTEN / size).try_for_each(|_| writer.write_all(&piece[..size]))
        });
    }
    measure("vectors of 16 pieces of 8 KiB", &|writer| {
        let mut left = WRITTEN;
        while left > 0 {
            let slices = [IoSlice::new(&piece[..8 << 10]); 16];
            left -= writer.write_vectored(&slices)?.min(left);
        }
        Ok(())
    });
}

criterion_group!(benches, integers, floats, pipes);
criterion_main!(benches);
