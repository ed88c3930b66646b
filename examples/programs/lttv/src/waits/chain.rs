//! The chain of wake-ups of a thread, its critical path: each wait is replaced by the activities
//! of the thread that ended it.

use lttv_common::activity::Doing;
use lttv_state::kernel::Serial;

use super::episodes::Episode;
use super::lives::Lives;

/// A step of the chain: a thread and one of its episodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The thread.
    pub thread: Serial,
    /// Its episode, or a part of it.
    pub episode: Episode,
    /// The number of waits between this thread and the thread of the chain.
    pub depth: u32,
}

/// The greatest number of nested waits that are followed.
const MAX_DEPTH: u32 = 32;

/// Returns the chain of wake-ups of a thread, in order. While the thread was blocked until
/// another one woke it up, it is the chain of the other one.
pub fn chain(lives: &Lives, thread: Serial) -> Vec<Step> {
    let mut steps = Vec::new();
    follow(lives, thread, (i64::MIN, i64::MAX), 0, &mut steps);
    steps
}

fn follow(
    lives: &Lives,
    thread: Serial,
    (begin, end): (i64, i64),
    depth: u32,
    steps: &mut Vec<Step>,
) {
    let Some(life) = lives.of.get(thread.index()) else { return };
    for episode in life.between(begin, end) {
        let own = |episode| Step { thread, episode, depth };
        let Some(waker) = waited_for(lives, thread, &episode).filter(|_| depth < MAX_DEPTH) else {
            steps.push(own(episode));
            continue;
        };
        let known = steps.len();
        follow(lives, waker, (episode.begin, episode.end), depth + 1, steps);
        // Where the activity of the other thread is unknown, this thread just waits.
        let mut at = episode.begin;
        for step in steps.split_off(known) {
            steps.extend(episode.within(at, step.episode.begin).map(own));
            at = step.episode.end;
            steps.push(step);
        }
        steps.extend(episode.within(at, episode.end).map(own));
    }
}

/// Returns the thread whose wake-up ended an episode. `None` for a wake-up by an interrupt,
/// which comes from outside of the thread it interrupts, or by the idle process.
fn waited_for(lives: &Lives, thread: Serial, episode: &Episode) -> Option<Serial> {
    let waker = episode.waker.filter(|_| matches!(episode.doing, Doing::Blocked(_)))?;
    let other = lives.of.get(waker.thread.index())?;
    let is_thread = !waker.is_interrupt() && !other.is_idle() && other.tid.is_some();
    (is_thread && waker.thread != thread).then_some(waker.thread)
}

#[cfg(test)]
mod tests {
    use lttv_state::kernel::{ExecutionMode, NameId};

    use super::super::cause::{Cause, Waker};
    use super::super::episodes::ThreadLife;
    use super::*;

    const RUNS: Doing = Doing::Runs(ExecutionMode::User, NameId::NONE);
    const BLOCKED: Doing = Doing::Blocked(NameId::NONE);

    fn woken_by(process: u32, mode: ExecutionMode) -> Option<Waker> {
        let (thread, submode, cause) = (Serial(process), NameId::NONE, Cause::Thread);
        Some(Waker { thread, mode, submode, cause })
    }

    fn life(tid: i32, episodes: &[(i64, i64, Doing, Option<Waker>)]) -> ThreadLife {
        let episode = |&(begin, end, doing, waker)| {
            let is_open = false;
            Episode { begin, end, doing, waker, is_open }
        };
        let episodes = episodes.iter().map(episode).collect();
        let mut life = ThreadLife::default();
        (life.tid, life.episodes) = (Some(tid), episodes);
        life
    }

    fn path(lives: Vec<ThreadLife>, begin: i64, end: i64) -> Vec<(u32, i64, i64, Doing, u32)> {
        let mut all = Lives::default();
        all.of = lives;
        all.of.iter_mut().for_each(|life| life.clip(begin, end));
        let steps = chain(&all, Serial(0));
        let brief = |step: &Step| {
            let Step { thread, episode, depth } = *step;
            (thread.0, episode.begin, episode.end, episode.doing, depth)
        };
        steps.iter().map(brief).collect()
    }

    #[test]
    fn waits_are_followed() {
        let user = ExecutionMode::User;
        let lives = vec![
            life(
                1,
                &[(0, 10, RUNS, None), (10, 50, BLOCKED, woken_by(1, user)), (50, 60, RUNS, None)],
            ),
            life(
                2,
                &[(0, 20, RUNS, None), (20, 40, BLOCKED, woken_by(2, user)), (40, 90, RUNS, None)],
            ),
            // Woken up by an interrupt of another process.
            life(
                3,
                &[
                    (15, 25, RUNS, None),
                    (25, 30, BLOCKED, woken_by(0, ExecutionMode::Irq)),
                    (30, 45, RUNS, None),
                ],
            ),
        ];
        let expected = vec![
            (0, 0, 10, RUNS, 0),
            (1, 10, 20, RUNS, 1),
            (2, 20, 25, RUNS, 2),
            (2, 25, 30, BLOCKED, 2),
            (2, 30, 40, RUNS, 2),
            (1, 40, 50, RUNS, 1),
            (0, 50, 60, RUNS, 0),
        ];
        assert_eq!(path(lives.clone(), i64::MIN, i64::MAX), expected);
        // Before the end of a wait its waker is not known.
        let cut = path(lives, 5, 45);
        assert_eq!(cut, [(0, 5, 10, RUNS, 0), (0, 10, 45, BLOCKED, 0)]);
    }

    #[test]
    fn circular_waits_end() {
        let user = ExecutionMode::User;
        let lives = vec![
            life(1, &[(0, 10, BLOCKED, woken_by(1, user))]),
            life(2, &[(0, 10, BLOCKED, woken_by(0, user))]),
        ];
        assert_eq!(path(lives, 0, 10).len(), 1);
        let late = vec![
            life(1, &[(0, 10, BLOCKED, woken_by(1, user))]),
            life(2, &[(3, 6, RUNS, None), (8, 12, RUNS, None)]),
        ];
        let expected =
            [(0, 0, 3, BLOCKED, 0), (1, 3, 6, RUNS, 1), (0, 6, 8, BLOCKED, 0), (1, 8, 10, RUNS, 1)];
        assert_eq!(path(late, 0, 10), expected);
        let unknown = vec![life(1, &[(0, 10, BLOCKED, woken_by(7, user))])];
        assert_eq!(path(unknown, 0, 10), [(0, 0, 10, BLOCKED, 0)]);
    }
}
