//! The critical path of a process: whatever it waited for, followed to who worked
//! on it meanwhile.

use lttv_state::kernel::Serial;

use super::episodes::{Doing, Episode, Lives};

/// A stretch of the path: a process, and what it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) process: Serial,
    pub(super) episode: Episode,
    /// How many waits lie between this process and the one whose path it is.
    pub(super) depth: u32,
}

/// Chains of who waited for whom are followed so far.
const MAX_DEPTH: u32 = 32;

/// The critical path of a process between two times, in order. Where the process
/// was blocked until another one woke it up, it is the path of that one.
pub(super) fn critical_path(lives: &Lives, process: Serial, begin: i64, end: i64) -> Vec<Step> {
    let mut steps = Vec::new();
    follow(lives, process, (begin, end), 0, &mut steps);
    steps
}

fn follow(
    lives: &Lives,
    process: Serial,
    (begin, end): (i64, i64),
    depth: u32,
    steps: &mut Vec<Step>,
) {
    let Some(life) = lives.of.get(process.index()) else { return };
    let before = steps.len();
    for episode in life.between(begin, end) {
        match waited_for(lives, process, &episode).filter(|_| depth < MAX_DEPTH) {
            Some(waker) => {
                let known = steps.len();
                follow(lives, waker, (episode.begin, episode.end), depth + 1, steps);
                // Nothing is known of what the other did then.
                if steps.len() == known {
                    steps.push(Step { process, episode, depth });
                }
            }
            None => steps.push(Step { process, episode, depth }),
        }
    }
    debug_assert!(steps[before..].iter().all(|step| step.episode.begin >= begin));
}

/// The process that another waited for. What interrupts bring comes from outside,
/// whomever they interrupt; and the idle process does nothing for others.
fn waited_for(lives: &Lives, process: Serial, episode: &Episode) -> Option<Serial> {
    let waker = episode.waker.filter(|_| matches!(episode.doing, Doing::Blocked(_)))?;
    let other = lives.of.get(waker.process.index())?;
    let is_process = !waker.mode.is_interrupt() && !other.is_idle() && other.tid.is_some();
    (is_process && waker.process != process).then_some(waker.process)
}
