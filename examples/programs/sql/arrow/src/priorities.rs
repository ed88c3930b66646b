//! The priorities of running threads, which the kernel state does not contain.

use ltt_read::TraceIndex;
use lttv_context::{EventCall, Extension, Handle, Setup, Subscription};
use lttv_hooks::Priority;

/// The largest number of a CPU whose priority is followed.
const MAX_CPU: u32 = 1 << 16;

/// The thread that runs on each CPU, and its priority as the kernel recorded it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Priorities {
    /// For each trace, the threads by CPU.
    running: Vec<Vec<Option<Thread>>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Thread {
    tid: i32,
    priority: Option<i32>,
}

impl Priorities {
    /// Returns the priority of the thread that runs after an event.
    pub(crate) fn at(&self, call: &EventCall<'_, '_>) -> Option<i32> {
        let cpu = call.event.tracefile().cpu()?;
        let running = self.running.get(call.trace.index().0)?.get(cpu as usize)?;
        running.as_ref()?.priority
    }

    fn switch(&mut self, trace: TraceIndex, cpu: u32, thread: Thread) {
        let Some(running) = self.running.get_mut(trace.0) else { return };
        let cpu = cpu as usize;
        if running.len() <= cpu {
            running.resize(cpu + 1, None);
        }
        running[cpu] = Some(thread);
    }

    fn change(&mut self, trace: TraceIndex, thread: Thread) {
        let running = self.running.get_mut(trace.0).into_iter().flatten().flatten();
        for of in running.filter(|of| of.tid == thread.tid) {
            of.priority = thread.priority;
        }
    }
}

impl Extension for Priorities {
    type Checkpoint = Vec<Vec<Option<Thread>>>;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        setup.extensions[handle].running = vec![Vec::new(); setup.contexts.traces().len()];
        let switches = Subscription::to("sched_switch").fields(["next_tid", "next_prio"]);
        setup.hooks.on_event(switches.priority(Priority::STATE), move |call| {
            let cpu = call.event.tracefile().cpu().filter(|cpu| *cpu < MAX_CPU);
            if let Some((cpu, thread)) = cpu.zip(thread(call)) {
                call.extensions[handle].switch(call.trace.index(), cpu, thread);
            }
        });
        let changes = Subscription::to("sched_pi_setprio").fields(["tid", "newprio"]);
        setup.hooks.on_event(changes.priority(Priority::STATE), move |call| {
            if let Some(thread) = thread(call) {
                call.extensions[handle].change(call.trace.index(), thread);
            }
        });
    }

    fn reset(&mut self) {
        self.running.iter_mut().for_each(Vec::clear);
    }

    fn save(&self) -> Self::Checkpoint {
        self.running.clone()
    }

    fn restore(&mut self, saved: &Self::Checkpoint) {
        self.running.clone_from(saved);
    }

    fn checkpoint_bytes(saved: &Self::Checkpoint, _: Option<&Self::Checkpoint>) -> usize {
        size_of::<Self::Checkpoint>()
            + saved.iter().map(|of| size_of_val(of) + size_of_val(of.as_slice())).sum::<usize>()
    }
}

/// Returns the thread of the two fields of a hook.
fn thread(call: &EventCall<'_, '_>) -> Option<Thread> {
    let priority = call.signed(1).map(|priority| priority as i32);
    Some(Thread { tid: call.signed(0)? as i32, priority })
}
