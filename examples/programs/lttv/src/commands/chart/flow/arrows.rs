//! Arrows for the messages between processes of several hosts.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use lttv_common::escape;
use lttv_context::synchronize::HostIndex;
use lttv_requests::views::{HostMessage, HostMessageEnd, ProcessKey};

use super::{ROW, WIDTH};
use crate::commands::chart::span::Span;

const COLOR: &str = "#ffd166";

/// The messages of a chart.
pub(super) struct Arrows<'p> {
    pub(super) messages: &'p [HostMessage],
    /// The names of the hosts, by index.
    pub(super) hosts: &'p [String],
    /// The number of steps of the chart's time. Among equal arrows of a step, the first one is
    /// drawn.
    pub(super) steps: u64,
}

impl Arrows<'_> {
    /// Draws an arrow for each message whose processes both have a row, and a dot for the end of
    /// other messages whose process has one.
    pub(super) fn draw(&self, svg: &mut String, rows: &HashMap<ProcessKey, usize>, span: &Span) {
        let row = |end: &HostMessageEnd| end.process.and_then(|process| rows.get(&process));
        let step = |end: &HostMessageEnd| (span.part(end.time) * self.steps as f64) as u64;
        let x = |end: &HostMessageEnd| span.part(end.time) * WIDTH;
        let y = |row: usize| ROW * (row as f64 + 0.5);
        let mut drawn = HashSet::new();
        for message in self.messages {
            let ends = [&message.sender, &message.receiver];
            let places = ends.map(row);
            let key = (places, ends.map(step));
            if places == [None, None] || !drawn.insert(key) {
                continue;
            }
            let path = match places {
                [Some(from), Some(to)] => {
                    let ([from_x, to_x], [from, to]) = (ends.map(x), [*from, *to].map(y));
                    format!("M{from_x:.4} {from:.1}L{to_x:.4} {to:.1}h0")
                }
                [Some(row), None] => format!("M{:.4} {:.1}h0", x(ends[0]), y(*row)),
                [None, Some(row)] => format!("M{:.4} {:.1}h0", x(ends[1]), y(*row)),
                [None, None] => continue,
            };
            self.arrow(svg, &path, message, span);
        }
    }

    /// Adds a path, which ends in a dot. Neither changes its thickness when the chart is zoomed.
    fn arrow(&self, svg: &mut String, path: &str, message: &HostMessage, span: &Span) {
        let dot = path.rfind(['M', 'L']).map_or(path, |at| &path[at + 1..]);
        let HostMessage { sender, receiver } = message;
        let name = |host: HostIndex| self.hosts.get(host.0).map_or("?", String::as_str);
        let us = receiver.time.signed_ns_since(sender.time) as f64 / 1e3;
        let hint = format!(
            "{} to {}\nsent at {:.9} s, received at {:.9} s\n{us:.3} µs",
            name(sender.host),
            name(receiver.host),
            span.seconds(sender.time),
            span.seconds(receiver.time),
        );
        let hint: Vec<_> = hint.split('\n').map(escape::xml).collect();
        _ = writeln!(
            svg,
            "<g class=\"message\" fill=\"none\" stroke=\"{COLOR}\" stroke-linecap=\"round\">\
             <path d=\"{path}\" vector-effect=\"non-scaling-stroke\"/>\
             <path d=\"M{dot}\" stroke-width=\"5\" vector-effect=\"non-scaling-stroke\"/>\
             <title>{}</title></g>",
            hint.join("\n")
        );
    }
}

/// Adds the sign and the text of the legend.
pub(super) fn legend(svg: &mut String, x: f64, y: f64) {
    _ = writeln!(
        svg,
        "<path d=\"M{x} {0}h14\" stroke=\"{COLOR}\"/><circle cx=\"{1}\" cy=\"{0}\" r=\"2.5\" \
         fill=\"{COLOR}\"/><text x=\"{2}\" y=\"{3}\">message to the dot</text>",
        y + 6.0,
        x + 14.0,
        x + 22.0,
        y + 10.0
    );
}

#[cfg(test)]
mod tests {
    use ltt_read::{Timestamp, TraceIndex};
    use lttv_state::kernel::Serial;

    use super::*;
    use lttv_common::time::Window;

    const STEPS: u64 = 100;

    /// Returns the process of a row.
    fn process(number: u32) -> ProcessKey {
        ProcessKey { trace: TraceIndex(0), serial: Serial(number) }
    }

    /// Creates a message from host 0 to host 1, between processes and times in ns.
    fn message(from: (Option<u32>, i64), to: (Option<u32>, i64)) -> HostMessage {
        let end = |host, (number, ns): (Option<u32>, i64)| HostMessageEnd {
            host: HostIndex(host),
            trace: TraceIndex(host),
            time: Timestamp::from_ns(ns),
            cpu: None,
            process: number.map(process),
        };
        HostMessage { sender: end(0, from), receiver: end(1, to) }
    }

    /// Draws messages between 1,000 and 2,000 ns over three rows. Returns the path, the place of the
    /// dot, and the hint of each arrow.
    fn drawn(messages: &[HostMessage]) -> Vec<[String; 3]> {
        let [from, to] = [1_000, 2_000].map(Timestamp::from_ns);
        let span = Span { window: Window::default(), from, to, first: Timestamp::from_ns(500) };
        let names = ["a<b".to_owned(), "server".to_owned()];
        let rows = (0..3).map(|number| (process(number), number as usize)).collect();
        let mut svg = String::new();
        Arrows { messages, hosts: &names, steps: STEPS }.draw(&mut svg, &rows, &span);
        let part = |line: &str, before: &str, after: &str| {
            let rest = line.split_once(before).expect(before).1;
            rest.split_once(after).expect(after).0.to_owned()
        };
        let arrows = svg.split("</g>\n").filter(|arrow| !arrow.is_empty());
        arrows
            .map(|arrow| {
                let dot = arrow.split_once("/>").expect("a path").1;
                let hint = part(arrow, "<title>", "</title>");
                [part(arrow, " d=\"", "\""), part(dot, " d=\"", "\""), hint]
            })
            .collect()
    }

    #[test]
    fn an_arrow_ends_in_a_dot_at_its_receiver() {
        let [path, dot, hint] = &drawn(&[message((Some(2), 1_250), (Some(0), 1_500))])[0];
        assert_eq!((&**path, &**dot), ("M275.0000 45.0L550.0000 9.0h0", "M550.0000 9.0h0"));
        let expected =
            "a&lt;b to server\nsent at 0.000000750 s, received at 0.000001000 s\n0.250 µs";
        assert_eq!(hint, expected);
    }

    #[test]
    fn a_message_with_one_process_is_a_dot() {
        let messages = [
            message((Some(1), 1_100), (None, 1_200)),
            message((None, 1_300), (Some(2), 1_400)),
            // A process without a row.
            message((Some(7), 1_500), (Some(0), 1_600)),
            message((None, 1_700), (Some(7), 1_800)),
        ];
        let drawn: Vec<_> = drawn(&messages).into_iter().map(|[path, ..]| path).collect();
        assert_eq!(drawn, ["M110.0000 27.0h0", "M440.0000 45.0h0", "M660.0000 9.0h0"]);
    }

    #[test]
    fn messages_that_look_alike_are_one() {
        let step = 1_000 / STEPS as i64;
        let near: Vec<_> =
            (0..step).map(|ns| message((Some(0), 1_200 + ns), (Some(1), 1_300 + ns))).collect();
        assert_eq!(drawn(&near).len(), 1);
        let next = message((Some(0), 1_200), (Some(1), 1_300 + step));
        assert_eq!(drawn(&[near, vec![next]].concat()).len(), 2);
    }

    #[test]
    fn a_message_that_arrives_before_it_is_sent_goes_back() {
        let [path, _, hint] = &drawn(&[message((Some(0), 1_500), (Some(1), 1_400))])[0];
        assert_eq!(&**path, "M550.0000 9.0L440.0000 27.0h0");
        assert!(hint.ends_with("\n-0.100 µs"), "{hint}");
    }
}
