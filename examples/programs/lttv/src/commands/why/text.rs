//! The answer as lines for people.

use std::io::{self, Write};

use ltt_read::Timestamp;
use lttv_common::escape;
use lttv_common::table::percent;
use lttv_common::text::Text;
use lttv_common::text::clock_text::{ClockRange, ClockText};
use lttv_common::text::output::Output;
use lttv_common::units::length;
use lttv_state::waits::Segment;

use super::answer::{Answer, Wait};
use super::fit::{fitting, wrapped};

/// Lines, with the form of their times.
struct Lines {
    out: Output,
    clock: ClockText,
}

impl Lines {
    /// Writes a line, without its middle if it is too long.
    fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", fitting(text))
    }

    /// Writes a title, with the numbers of rows if not all are shown.
    fn title(&mut self, title: &str, shown: usize, all: usize) -> io::Result<()> {
        match shown < all {
            true => self.line(&format!("{title}: {shown} of {all}")),
            false => self.line(title),
        }
    }

    fn time(&mut self, time: Timestamp) -> String {
        let mut text = Text::with_room(32);
        self.clock.time(&mut text, time, ClockRange::Signed);
        String::from_utf8_lossy(text.as_bytes()).into_owned()
    }
}

/// Writes an answer, with at most a number of rows of each list.
pub(super) fn write(
    answer: &Answer,
    limit: usize,
    clock: ClockText,
    out: Output,
) -> io::Result<()> {
    let mut lines = Lines { out, clock };
    for line in wrapped(&answer.span.line) {
        lines.line(&line)?;
    }
    lines.line("")?;
    parts(answer, &mut lines)?;
    instead(answer, limit, &mut lines)?;
    waits(answer, &mut lines)?;
    handlers(answer, limit, &mut lines)?;
    chain(answer, limit, &mut lines)?;
    if !answer.nested.is_empty() {
        let (shown, all) = (answer.nested.len(), answer.nested_count as usize);
        lines.title("Within it, the longest", shown, all)?;
        for nested in &answer.nested {
            lines.line(&format!("  {}", nested.line))?;
        }
    }
    lines.out.finish()
}

fn parts(answer: &Answer, lines: &mut Lines) -> io::Result<()> {
    lines.line(&format!("Its time, {}", length(answer.duration())))?;
    for part in &answer.parts {
        let share = percent(part.time, answer.duration());
        let share = share.map_or(String::new(), |share| format!("{share:6.1} %"));
        let (state, time) = (part.state.label(), length(part.time));
        lines.line(&format!("  {state:<18} {time:>10} {share:>8} {:>7} ×", part.count))?;
    }
    Ok(())
}

fn instead(answer: &Answer, limit: usize, lines: &mut Lines) -> io::Result<()> {
    if answer.instead.is_empty() {
        return Ok(());
    }
    let shown = answer.instead.len().min(limit);
    lines.title("Ran in its place", shown, answer.instead.len())?;
    for of in &answer.instead[..shown] {
        let (state, time) = (of.state.label(), length(of.time));
        let cpu = of.cpu.map_or("? ".to_owned(), |cpu| format!("CPU {cpu}"));
        let thread = escape::name(&answer.occupant(of.thread)).into_owned();
        lines.line(&format!("  {state:<18} {time:>10} {:>16} ×  {cpu}: {thread}", of.count))?;
    }
    Ok(())
}

fn waits(answer: &Answer, lines: &mut Lines) -> io::Result<()> {
    if answer.waits.is_empty() {
        return Ok(());
    }
    lines.title("Its longest waits", answer.waits.len(), answer.wait_count)?;
    for Wait { interval, waker_call } in &answer.waits {
        let (begin, time) = (lines.time(interval.start), length(interval.time()));
        let mut text = format!("  {begin} {time:>10}  {}", interval.state);
        if let Some(call) = answer.call(interval.call) {
            text += &format!(" in {}", escape::name(call));
        }
        let waker = interval.link.map(|link| answer.label(Some(link.from)));
        match (waker, answer.source(interval.source)) {
            (Some(waker), _) => text += &format!(", ended by {}", escape::name(&waker)),
            (None, Some(source)) => text += &format!(", ended by {}", escape::name(&source)),
            (None, None) => {}
        }
        if let Some(call) = waker_call {
            text += &format!(" in {}", call.what);
        }
        lines.line(&text)?;
    }
    Ok(())
}

fn handlers(answer: &Answer, limit: usize, lines: &mut Lines) -> io::Result<()> {
    if answer.handlers.is_empty() {
        return Ok(());
    }
    let shown = answer.handlers.len().min(limit);
    lines.title("Interrupted by", shown, answer.handlers.len())?;
    for of in &answer.handlers[..shown] {
        let (family, time) = (of.family.key(), length(of.time));
        let name = escape::name(&of.name);
        lines.line(&format!(
            "  {family:<18} {time:>10} {:>16} ×  CPU {}: {name}",
            of.count, of.cpu
        ))?;
    }
    Ok(())
}

/// Writes the longest segments of the critical path, in the order of time.
fn chain(answer: &Answer, limit: usize, lines: &mut Lines) -> io::Result<()> {
    if answer.chain.is_empty() {
        return Ok(());
    }
    let mut longest: Vec<&Segment> = answer.chain.iter().collect();
    longest.sort_by_key(|of| std::cmp::Reverse(of.time()));
    longest.truncate(limit);
    longest.sort_by_key(|of| of.start);
    let (shown, all) = (longest.len(), answer.chain.len());
    lines.title("Meanwhile, on the critical path of the longest wait", shown, all)?;
    for segment in longest {
        let (begin, time) = (lines.time(segment.start), length(segment.time()));
        let words = escape::name(&answer.words(segment)).into_owned();
        lines.line(&format!("  {begin} {time:>10}  {words}"))?;
    }
    Ok(())
}
