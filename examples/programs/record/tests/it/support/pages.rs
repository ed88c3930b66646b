//! Pages of ring buffers with events of two kinds.

/// The size of a page in bytes.
pub(crate) const PAGE: usize = 4096;

/// The id of `sched:sched_switch`.
const SWITCH: u16 = 310;
/// The id of `irq:softirq_entry`.
const SOFTIRQ: u16 = 150;

const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;
";

/// The contents of `events/header_page`.
pub(crate) const HEADER_PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;
";

/// The contents of `events/header_event`.
pub(crate) const HEADER_EVENT: &str = "# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
";

/// Returns the systems, names and formats of all events.
pub(crate) fn formats() -> Vec<(&'static str, &'static str, String)> {
    let format = |name: &str, id: u16, fields: &str, print: &str| {
        format!("name: {name}\nID: {id}\nformat:\n{COMMON}\n{fields}\nprint fmt: {print}\n")
    };
    let switch = "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;
";
    let print_switch =
        "\"%s:%d ==> %s:%d\", REC->prev_comm, REC->prev_pid, REC->next_comm, REC->next_pid";
    let softirq = "\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n";
    let print = "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;
\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;
";
    vec![
        ("ftrace", "print", format("print", 5, print, "\"%ps: %s\", (void *)REC->ip, REC->buf")),
        ("irq", "softirq_entry", format("softirq_entry", SOFTIRQ, softirq, "\"vec=%u\", REC->vec")),
        ("sched", "sched_switch", format("sched_switch", SWITCH, switch, print_switch)),
    ]
}

/// Returns a page of `count` events from a time on, one each µs: switches between the threads 0 and 100, and softirqs.
/// `lost` events were lost before.
pub(crate) fn page(begin: u64, count: u64, lost: u64) -> Vec<u8> {
    let mut data = Vec::new();
    for number in 0..count {
        let delta: u32 = if number == 0 { 0 } else { 1000 };
        let payload = match number % 3 {
            0 => softirq(7),
            1 => switch((0, "swapper/0"), (100, "worker")),
            _ => switch((100, "worker"), (0, "swapper/0")),
        };
        data.extend_from_slice(&((payload.len() as u32 / 4) | (delta << 5)).to_ne_bytes());
        data.extend_from_slice(&payload);
    }
    let missed = if lost > 0 { 3_u64 << 30 } else { 0 };
    let mut page = begin.to_ne_bytes().to_vec();
    page.extend_from_slice(&(data.len() as u64 | missed).to_ne_bytes());
    page.extend_from_slice(&data);
    if lost > 0 {
        page.extend_from_slice(&lost.to_ne_bytes());
    }
    assert!(page.len() <= PAGE, "{}", page.len());
    page.resize(PAGE, 0);
    page
}

fn common(id: u16, pid: u32) -> Vec<u8> {
    [&id.to_ne_bytes()[..], &[0, 0], &pid.to_ne_bytes()].concat()
}

fn softirq(vector: u32) -> Vec<u8> {
    [&common(SOFTIRQ, 0)[..], &vector.to_ne_bytes()].concat()
}

fn switch(previous: (u32, &str), next: (u32, &str)) -> Vec<u8> {
    let name = |name: &str| {
        let mut bytes = name.as_bytes().to_vec();
        bytes.resize(16, 0);
        bytes
    };
    let mut payload = common(SWITCH, previous.0);
    payload.extend(name(previous.1));
    payload.extend_from_slice(&previous.0.to_ne_bytes());
    payload.extend_from_slice(&120_u32.to_ne_bytes());
    payload.extend_from_slice(&1_u64.to_ne_bytes());
    payload.extend(name(next.1));
    payload.extend_from_slice(&next.0.to_ne_bytes());
    payload.extend_from_slice(&120_u32.to_ne_bytes());
    payload
}
