//! Limits stalled responses: beyond the limit, the oldest is aborted.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// The stalled responses, the oldest first.
#[derive(Debug, Clone)]
pub(super) struct SlowClients {
    most: usize,
    queue: Arc<Mutex<Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    last: u64,
    waiting: VecDeque<(u64, oneshot::Sender<()>)>,
}

/// A place among the answers that wait.
#[derive(Debug)]
pub(super) struct Wait {
    clients: SlowClients,
    number: u64,
    ended: oneshot::Receiver<()>,
}

impl SlowClients {
    /// Creates an empty queue for a number of answers.
    pub(super) fn new(most: usize) -> Self {
        SlowClients { most, queue: Arc::default() }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts to wait for a client. It may end the wait for another one.
    pub(super) fn wait(&self) -> Wait {
        let (end, ended) = oneshot::channel();
        let mut queue = self.queue();
        queue.last += 1;
        let number = queue.last;
        queue.waiting.push_back((number, end));
        if queue.waiting.len() > self.most {
            // Dropping the sender ends the wait.
            queue.waiting.pop_front();
        }
        Wait { clients: self.clone(), number, ended }
    }
}

impl Wait {
    /// Is ready when the wait must end.
    pub(super) async fn ended(&mut self) {
        _ = (&mut self.ended).await;
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let mut queue = self.clients.queue();
        if let Ok(at) = queue.waiting.binary_search_by_key(&self.number, |(number, _)| *number) {
            queue.waiting.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_ends_first() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let clients = SlowClients::new(2);
            let has_ended = |wait: &mut Wait| {
                wait.ended
                    .try_recv()
                    .is_err_and(|error| error == oneshot::error::TryRecvError::Closed)
            };
            let (mut first, second, mut third) = (clients.wait(), clients.wait(), clients.wait());
            first.ended().await;
            assert!(!has_ended(&mut third));
            // One that has accepted more waits no longer.
            drop(second);
            let mut fourth = clients.wait();
            assert!(!has_ended(&mut third) && !has_ended(&mut fourth));
            let _fifth = clients.wait();
            assert!(has_ended(&mut third) && !has_ended(&mut fourth));
        });
    }
}
