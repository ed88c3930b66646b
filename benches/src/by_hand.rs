//! Decoders written by hand for one schema: the limit for a general decoder.

use crate::Sums;

/// Computes the [`Sums`] of all fields of a data stream file that
/// [`ust_like`](lttv_traces::ust_like) wrote, with its layout known at compile time. Returns the
/// number of events and the sums; `None` for other files.
///
/// Checks bounds, follows the clock, and checks that time does not go back, which every
/// sound reader has to do.
pub fn sum_ust_like(file: &[u8]) -> Option<(u64, Sums)> {
    sum(file, ust_body)
}

/// Computes the sums of a file that [`plain`](lttv_traces::plain) wrote, as [`sum_ust_like`] does.
pub fn sum_plain(file: &[u8]) -> Option<(u64, Sums)> {
    sum(file, plain_body)
}

#[inline(always)]
fn sum(
    file: &[u8],
    body: impl Fn(u64, &mut Bytes<'_>, &mut Sums) -> Option<()>,
) -> Option<(u64, Sums)> {
    const PACKET_HEADER: usize = 4 + 16 + 4 + 8;
    const PACKET_CONTEXT: usize = 6 * 8 + 4;
    let (mut events, mut sums, mut last) = (0, Sums::default(), 0);
    let mut rest = file;
    while !rest.is_empty() {
        let mut context = Bytes(rest.get(PACKET_HEADER..)?);
        let mut clock = context.u64()?;
        context.u64()?; // the end time
        let (content, size) = (context.u64()? / 8, context.u64()? / 8);
        let mut bytes = Bytes(rest.get(PACKET_HEADER + PACKET_CONTEXT..content as usize)?);
        while !bytes.0.is_empty() {
            let (id, now) = header(&mut bytes, clock)?;
            if now < last {
                return None;
            }
            (clock, last) = (now, now);
            body(id, &mut bytes, &mut sums)?;
            events += 1;
        }
        rest = rest.get(size as usize..)?;
    }
    Some((events, sums))
}

/// Reads the id and time of an event.
#[inline(always)]
fn header(bytes: &mut Bytes<'_>, clock: u64) -> Option<(u64, u64)> {
    let id = bytes.u16()?;
    if id == u16::MAX {
        return Some((bytes.u32()?.into(), bytes.u64()?));
    }
    let low = bytes.u32()?;
    Some((id.into(), clock + u64::from(low.wrapping_sub(clock as u32))))
}

#[inline(always)]
fn plain_body(_: u64, bytes: &mut Bytes<'_>, sums: &mut Sums) -> Option<()> {
    sums.integer(bytes.i32()?);
    sums.integer(bytes.i32()?);
    sums.integer(bytes.u64()?);
    sums.integer(bytes.u64()?);
    sums.integer(bytes.u32()?.into());
    sums.integer(bytes.i32()?);
    sums.integer(bytes.u16()?.into());
    Some(())
}

#[inline(always)]
fn ust_body(id: u64, bytes: &mut Bytes<'_>, sums: &mut Sums) -> Option<()> {
    sums.integer(bytes.i32()?);
    sums.integer(bytes.i32()?);
    match id {
        // app:tick
        0 => sums.integer(bytes.u64()?),
        // func_entry, func_exit
        1 | 2 => {
            sums.integer(bytes.u64()?);
            sums.integer(bytes.u64()?);
        }
        // app:log
        3 => {
            sums.integer(bytes.u8()?.into());
            sums.integer(bytes.i32()?);
            sums.bytes += bytes.terminated()?;
        }
        // app:metric
        4 => {
            sums.bytes += bytes.terminated()?;
            sums.floats ^= bytes.u64()? ^ bytes.u64()?;
            sums.integer(bytes.u32()?.into());
        }
        // app:packet
        5 => {
            sums.integer(bytes.u16()?.into());
            let length = bytes.u8()?;
            sums.integer(length.into());
            let data = bytes.take(length.into())?;
            data.iter().for_each(|byte| sums.integer((*byte).into()));
        }
        // app:samples
        6 => {
            let length = bytes.u16()?;
            sums.integer(length.into());
            let mut values = Bytes(bytes.take(usize::from(length) * 4)?);
            while let Some(value) = values.i32() {
                sums.integer(value);
            }
            let length = bytes.u8()?;
            sums.integer(length.into());
            sums.bytes += text(bytes.take(length.into())?);
        }
        // app:task_switch
        7 => {
            for _ in 0..2 {
                sums.bytes += text(bytes.take(16)?);
                sums.integer(bytes.i32()?);
            }
        }
        _ => return None,
    }
    Some(())
}

/// Returns the length of a text, which a null byte may end early.
#[inline(always)]
fn text(bytes: &[u8]) -> u64 {
    memchr::memchr(0, bytes).unwrap_or(bytes.len()) as u64
}

/// The unread bytes.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    #[inline(always)]
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    #[inline(always)]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    #[inline(always)]
    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    #[inline(always)]
    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    #[inline(always)]
    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    #[inline(always)]
    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads an integer, sign-extended to 64 bits.
    #[inline(always)]
    fn i32(&mut self) -> Option<u64> {
        self.array().map(|bytes| i64::from(i32::from_le_bytes(bytes)) as u64)
    }

    /// Reads a null-terminated string, and returns its length.
    #[inline(always)]
    fn terminated(&mut self) -> Option<u64> {
        let length = memchr::memchr(0, self.0)?;
        self.take(length + 1)?;
        Some(length as u64)
    }
}

#[cfg(test)]
mod tests {
    use ltt_read::Trace;

    use super::*;
    use lttv_traces::{Input, Kind};

    #[test]
    fn agree_with_the_general_reader() {
        agrees(Kind::Ust, sum_ust_like);
        agrees(Kind::Plain, sum_plain);
    }

    fn agrees(kind: Kind, by_hand: fn(&[u8]) -> Option<(u64, Sums)>) {
        let dir = tempfile::tempdir().unwrap();
        Input::new(kind, 10_000).cpus(1).packet_bytes(4096).write(dir.path()).unwrap();
        let trace = Trace::open(dir.path()).unwrap();
        let (mut events, mut sums, mut cursor) =
            (0, Sums::default(), trace.cursor(ltt_read::TracefileIndex(0)));
        while let Some(event) = cursor.next().unwrap() {
            sums.add(&event);
            events += 1;
        }
        let file = std::fs::read(dir.path().join("channel0_0")).unwrap();
        assert_eq!(by_hand(&file), Some((events, sums)));
        assert_ne!((events, sums.integers), (0, 0));
        assert_eq!(by_hand(&file[..file.len() - 1]), None);
    }
}
