//! The tracer of the imaginary machine: one stream for each CPU.

use std::path::Path;
use std::sync::Arc;

use ltt_read::schema::ByteOrder::Little;
use ltt_read::schema::{EnvValue, EventTypeId, FieldClass, Format, StreamClassId};
use ltt_read::uuid::Uuid;
use ltt_read::writer::presets::{lttng_kernel, text_array};
use ltt_read::writer::{FieldValue, Record, StreamFile, StreamWriter, TraceWriter, WriteError};

/// The clock at the start of the recording.
const START: u64 = 1_000_000_000;

/// The thread that runs when an event occurs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    pub(super) tid: u32,
    pub(super) name: &'static str,
    pub(super) namespace: u32,
}

pub(super) struct Recorder {
    pub(super) types: Types,
    streams: Vec<StreamWriter<StreamFile>>,
}

/// Defines a struct of event types: its name, and fields as a kind with each name.
macro_rules! types {
    ($($field:ident: $name:literal { $($member:ident: $class:ident),* },)*) => {
        /// The event types.
        #[derive(Debug, Clone, Copy)]
        pub(super) struct Types { $(pub(super) $field: EventTypeId,)* }

        impl Types {
            fn add_to(schema: &mut ltt_read::schema::Schema) -> Self {
                Types { $($field: {
                    let fields: Vec<(&str, FieldClass)> = vec![$((stringify!($member), $class())),*];
                    schema.add_event_type(StreamClassId(0), $name, FieldClass::structure(fields))
                },)* }
            }
        }
    };
}

types! {
    switch: "sched_switch" {
        prev_comm: name, prev_tid: int, prev_prio: int, prev_state: long,
        next_comm: name, next_tid: int, next_prio: int
    },
    waking: "sched_waking" { comm: name, tid: int, prio: int, target_cpu: int },
    wakeup: "sched_wakeup" { comm: name, tid: int, prio: int, target_cpu: int },
    wakeup_new: "sched_wakeup_new" { comm: name, tid: int, prio: int, target_cpu: int },
    migrate: "sched_migrate_task" { comm: name, tid: int, prio: int, orig_cpu: int, dest_cpu: int },
    fork: "sched_process_fork" {
        parent_comm: name, parent_tid: int, parent_pid: int, child_comm: name, child_tid: int, child_pid: int
    },
    exec: "sched_process_exec" { filename: string, tid: int, old_tid: int },
    exit: "sched_process_exit" { comm: name, tid: int, prio: int },
    free: "sched_process_free" { comm: name, tid: int, prio: int },
    state: "lttng_statedump_process_state" {
        tid: int, pid: int, ppid: int, name: name, type: int, mode: int, submode: int, status: int, cpu: word
    },
    irq_entry: "irq_handler_entry" { irq: int, name: string },
    irq_exit: "irq_handler_exit" { irq: int, ret: int },
    softirq_raise: "irq_softirq_raise" { vec: word },
    softirq_entry: "irq_softirq_entry" { vec: word },
    softirq_exit: "irq_softirq_exit" { vec: word },
    clone_entry: "syscall_entry_clone" { flags: address },
    clone_exit: "syscall_exit_clone" { ret: long },
    execve_entry: "syscall_entry_execve" { filename: string },
    execve_exit: "syscall_exit_execve" { ret: long },
    wait4_entry: "syscall_entry_wait4" { upid: int, options: int },
    wait4_exit: "syscall_exit_wait4" { ret: long },
    openat_entry: "syscall_entry_openat" { dfd: int, filename: string, flags: int },
    openat_exit: "syscall_exit_openat" { ret: long },
    epoll_wait_entry: "syscall_entry_epoll_wait" { epfd: int, maxevents: int, timeout: int },
    epoll_wait_exit: "syscall_exit_epoll_wait" { ret: long },
    sendto_entry: "syscall_entry_sendto" { fd: int, len: address },
    sendto_exit: "syscall_exit_sendto" { ret: long },
    exit_group_entry: "syscall_entry_exit_group" { error_code: int },
}

fn int() -> FieldClass {
    FieldClass::sint(32, Little)
}

fn long() -> FieldClass {
    FieldClass::sint(64, Little)
}

fn word() -> FieldClass {
    FieldClass::uint(32, Little)
}

fn address() -> FieldClass {
    FieldClass::uint(64, Little)
}

fn name() -> FieldClass {
    text_array(16)
}

fn string() -> FieldClass {
    FieldClass::string()
}

impl Recorder {
    /// Creates a trace with the contexts of containers.
    pub(super) fn create(directory: &Path, cpus: usize, host: &str) -> Result<Self, WriteError> {
        let mut schema = lttng_kernel(Format::Ctf1);
        let context = [("tid", int()), ("procname", name()), ("pid_ns", word())];
        schema.stream_classes[0].common_context = Some(Arc::new(FieldClass::structure(context)));
        let mut uuid = *b"story of a host.";
        uuid.iter_mut().zip(host.bytes()).for_each(|(of, byte)| *of = byte);
        schema.uuid = Some(Uuid(uuid));
        for (key, value) in &mut schema.env {
            if &**key == "hostname" {
                *value = EnvValue::Str(host.to_owned());
            }
        }
        let types = Types::add_to(&mut schema);
        let trace = TraceWriter::create_packetized(directory, schema)?;
        let stream = |cpu: usize| {
            let stream = trace.stream(StreamClassId(0), &format!("channel0_{cpu}"))?;
            let number = cpu as u32;
            Ok(stream
                .with_packet_limit(1 << 14)
                .with_stream_id(number.into())
                .with_packet_context(FieldValue::fields([("cpu_id", number)])))
        };
        let streams = (0..cpus).map(stream).collect::<Result<_, WriteError>>()?;
        Ok(Recorder { types, streams })
    }

    /// Records an event at a time since the start.
    pub(super) fn event(
        &mut self,
        cpu: usize,
        time: u64,
        of: impl FnOnce(&Types) -> EventTypeId,
        context: Context,
        values: impl IntoIterator<Item = FieldValue>,
    ) -> Result<(), WriteError> {
        let mut record = Record::new(of(&self.types), START + time);
        let Context { tid, name, namespace } = context;
        record.common_context =
            FieldValue::structure([(tid as i32).into(), name.into(), namespace.into()]);
        record.payload = FieldValue::structure(values);
        self.streams[cpu].record(record)
    }

    /// Ends all files.
    pub(super) fn finish(self) -> Result<(), WriteError> {
        self.streams.into_iter().try_for_each(|stream| stream.finish().map(drop))
    }
}
