//! The axis of time.

use std::fmt::Write;

use super::span::Span;

/// Draws lines at round times after the first event, in an area from a left edge with a width, between two heights.
pub(super) fn draw(
    svg: &mut String,
    span: &Span,
    (left, width): (u32, u64),
    (top, bottom): (u32, u32),
) {
    let time = span.length();
    let mut step = 1u64;
    // About ten lines, 1, 2 or 5 times a power of ten ns apart.
    while time / step > 12 {
        step = match step.to_string().as_bytes()[0] {
            b'2' => step / 2 * 5,
            _ => step * 2,
        };
    }
    let (unit, name) = match step {
        1_000_000_000.. => (1e9, "s"),
        1_000_000.. => (1e6, "ms"),
        1_000.. => (1e3, "µs"),
        _ => (1.0, "ns"),
    };
    let start = span.from.since(span.first);
    for line in start.div_ceil(step)..=(start + time) / step {
        let x = f64::from(left) + (line * step - start) as f64 / time as f64 * width as f64;
        let text = (line * step) as f64 / unit;
        _ = writeln!(
            svg,
            r##"<path d="M{x:.1} {top}V{bottom}" stroke="#4a4a4a"/><text x="{x:.1}" y="{}" text-anchor="middle" fill="#9a9a9a">{text} {name}</text>"##,
            bottom + 12
        );
    }
}
