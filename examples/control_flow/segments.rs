//! The states of a process, one after the other.

use lttv_examples::control_flow::Track;
use lttv_examples::palette::Paint;
use lttv_state::kernel::NameId;

/// What time is shown, in ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) begin: i64,
    pub(crate) end: i64,
    /// What is shorter is drawn together with others.
    pub(crate) least: u64,
}

/// A state from a time to another, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) paint: Paint,
    pub(crate) name: NameId,
    /// How many states it stands for.
    pub(crate) states: u32,
}

/// The states of a process, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Segments {
    all: Vec<Segment>,
    now: Option<Segment>,
}

impl Segments {
    pub(crate) fn all(&self) -> &[Segment] {
        &self.all
    }

    /// Whether the process did anything but wait.
    pub(crate) fn is_active(&self) -> bool {
        self.all.iter().any(|segment| segment.paint.is_active())
    }

    /// Lets what has begun last to the end.
    pub(crate) fn finish(&mut self, scale: &Scale) {
        self.close(scale, scale.end);
    }

    fn close(&mut self, scale: &Scale, time: i64) {
        let Some(mut now) = self.now.take() else { return };
        (now.begin, now.end) = (now.begin.max(scale.begin), time.min(scale.end));
        if now.begin >= now.end {
            return;
        }
        let length = |of: &Segment| of.end.abs_diff(of.begin);
        match self.all.last_mut() {
            // Short ones make one that can be seen: it looks like the longest of the
            // active ones. What is long stays as it is.
            Some(last)
                if last.end == now.begin
                    && length(last) < scale.least
                    && length(&now) < scale.least =>
            {
                let is_more = now.paint.is_active() && !last.paint.is_active()
                    || now.paint.is_active() == last.paint.is_active()
                        && length(&now) > length(last);
                if is_more {
                    (last.paint, last.name) = (now.paint, now.name);
                }
                last.end = now.end;
                last.states += now.states;
            }
            _ => self.all.push(now),
        }
    }
}

impl Track for Segments {
    type Scale = Scale;

    fn set(&mut self, scale: &Scale, time: i64, paint: Paint, name: NameId) {
        if self.now.is_some_and(|now| (now.paint, now.name) == (paint, name)) {
            return;
        }
        self.close(scale, time);
        self.now = Some(Segment { begin: time, end: time, paint, name, states: 1 });
    }

    fn end(&mut self, scale: &Scale, time: i64) {
        self.close(scale, time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_states_are_drawn_together() {
        let scale = Scale { begin: 0, end: 100, least: 10 };
        let mut segments = Segments::default();
        for (time, paint) in [
            (-20, Paint::Wait),
            (50, Paint::User),
            (52, Paint::Syscall),
            (59, Paint::Wait),
            (70, Paint::WaitCpu),
        ] {
            segments.set(&scale, time, paint, NameId::NONE);
        }
        segments.finish(&scale);
        let drawn: Vec<_> =
            segments.all().iter().map(|s| (s.begin, s.end, s.paint, s.states)).collect();
        let expected = [
            (0, 50, Paint::Wait, 1),
            (50, 59, Paint::Syscall, 2),
            (59, 70, Paint::Wait, 1),
            (70, 100, Paint::WaitCpu, 1),
        ];
        assert_eq!(drawn, expected);
    }
}
