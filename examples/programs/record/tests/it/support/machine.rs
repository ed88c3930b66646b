//! A machine whose tracers are imitated.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use lttv_record::{EventName, Instances, Journals, Machine, Wish};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::pages::{HEADER_EVENT, HEADER_PAGE, formats, page};

/// The number of CPUs of the machine.
pub(crate) const CPUS: u64 = 3;

/// The number of pages of a CPU, and of events in a page.
pub(crate) const PAGES: u64 = 4;
pub(crate) const EVENTS: u64 = 50;

/// The form in which pages come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// All are there from the start, in files.
    Files,
    /// One after the other, through pipes.
    Pipes,
}

/// The instances of an imitated tracefs.
struct Imitation(Form);

impl Instances for Imitation {
    fn create(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)?;
        fs::write(path.join("tracing_on"), "1\n")?;
        fs::write(path.join("buffer_size_kb"), "7 (expanded: 1408)\n")?;
        fs::write(path.join("trace_clock"), "local global counter [mono] mono_raw boot\n")?;
        for (system, name, _) in formats().iter().filter(|(system, ..)| *system != "ftrace") {
            let folder = path.join("events").join(system).join(name);
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("enable"), "0\n")?;
        }
        for cpu in 0..CPUS {
            let folder = path.join(format!("per_cpu/cpu{cpu}"));
            fs::create_dir_all(&folder)?;
            let lost = if cpu == 1 { 17 } else { 0 };
            fs::write(
                folder.join("stats"),
                format!("entries: 0\noverrun: {lost}\ndropped events: 0\n"),
            )?;
            // CPU 2 has no events.
            let pages = (0..PAGES).filter(move |_| cpu != 2).map(move |number| {
                let begin = 1_000_000 + number * 1_000_000 + cpu * 300;
                page(begin, EVENTS, if cpu == 1 && number == 2 { lost } else { 0 })
            });
            let raw = folder.join("trace_pipe_raw");
            match self.0 {
                Form::Files => fs::write(&raw, pages.flatten().collect::<Vec<u8>>())?,
                Form::Pipes => {
                    mknodat(CWD, &raw, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
                    thread::spawn(move || {
                        // Opening waits for the recorder, which may be gone before the last page.
                        let Ok(mut pipe) = fs::OpenOptions::new().write(true).open(&raw) else {
                            return;
                        };
                        for page in pages {
                            thread::sleep(Duration::from_millis(10));
                            if pipe.write_all(&page).is_err() {
                                return;
                            }
                        }
                    });
                }
            }
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }
}

/// A folder with the parts of a machine.
pub(crate) struct Imitated {
    root: PathBuf,
    form: Form,
}

impl Imitated {
    /// Creates the machine in an empty folder.
    pub(crate) fn create(root: &Path, form: Form) -> Imitated {
        let imitated = Imitated { root: root.to_owned(), form };
        let (tracing, proc) = (imitated.tracing(), root.join("proc"));
        fs::create_dir_all(tracing.join("instances")).expect("a folder");
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        let mut available = String::new();
        for (system, name, format) in formats() {
            write(tracing.join("events").join(system).join(name).join("format"), &format);
            if system != "ftrace" {
                available.push_str(&format!("{system}:{name}\n"));
            }
        }
        write(tracing.join("available_events"), &available);
        write(tracing.join("events/header_page"), HEADER_PAGE);
        write(tracing.join("events/header_event"), HEADER_EVENT);
        write(tracing.join("saved_cmdlines"), "100 worker\n");
        write(tracing.join("printk_formats"), "0xffffffff81000000 : \"hello\"\n");
        write(proc.join("kallsyms"), "ffffffff81000000 T _stext\n");
        write(proc.join("sys/kernel/perf_event_paranoid"), "-1\n");
        write(proc.join("200/task/200/comm"), "a daemon\n");
        write(proc.join("200/task/201/comm"), "its thread\n");
        fs::create_dir_all(root.join("bin")).expect("a folder");
        fs::create_dir_all(root.join("state/sessions")).expect("a folder");
        imitated
    }

    /// Returns a machine that was created before.
    pub(crate) fn at(root: &Path, form: Form) -> Imitated {
        Imitated { root: root.to_owned(), form }
    }

    pub(crate) fn tracing(&self) -> PathBuf {
        self.root.join("tracing")
    }

    pub(crate) fn output(&self) -> PathBuf {
        self.root.join("recordings/of/today")
    }

    pub(crate) fn journals(&self) -> Journals {
        Journals::at(self.root.join("journals"))
    }

    /// Returns the machine. Processes are those of this one.
    pub(crate) fn machine(&self) -> Machine {
        let system = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.root.join("bin")).chain(std::env::split_paths(&system));
        Machine {
            tracefs: self.tracing(),
            proc: self.root.join("proc"),
            search: std::env::join_paths(folders).expect("a search path"),
            instances: Arc::new(Imitation(self.form)),
        }
    }

    /// Adds the program of a tracer, which notes its arguments in `NAME.log`.
    pub(crate) fn add_program(&self, name: &str, script: &str) {
        let path = self.root.join("bin").join(name);
        let root = self.root.display();
        let text =
            format!("#!/bin/sh\nroot='{root}'\necho \"$*\" >> \"$root/{name}.log\"\n{script}");
        fs::write(&path, text).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a script");
    }

    /// Adds programs that do what those of tracers do.
    pub(crate) fn add_programs(&self) {
        let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces");
        self.add_program("perf", &record_like(&format!("{traces}/perf/perf.data"), ""));
        let instance = "mkdir \"$root/tracing/instances/$name\"";
        let data = format!("{traces}/ftrace/trace.dat");
        self.add_program("trace-cmd", &record_like(&data, instance));
        self.add_program("lttng", &LTTNG.replace("@trace@", &format!("{traces}/kernel")));
    }

    /// Returns the arguments with which a program was called.
    pub(crate) fn log(&self, program: &str) -> Vec<String> {
        let log = fs::read_to_string(self.root.join(format!("{program}.log"))).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Returns the paths of all files of the machine's tracers, with their contents.
    pub(crate) fn state(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.tracing(), self.root.join("state")];
        while let Some(folder) = folders.pop() {
            files.insert(folder.clone(), Vec::new());
            // Folders of instances disappear.
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                match entry.file_type() {
                    Ok(found) if found.is_dir() => folders.push(path),
                    Ok(found) if found.is_file() => {
                        let bytes = fs::read(&path).unwrap_or_default();
                        files.insert(path, bytes);
                    }
                    _ => _ = files.insert(path, Vec::new()),
                }
            }
        }
        files
    }
}

/// Returns the script of a program that records as long as a command runs, and tells before its file is complete.
fn record_like(data: &str, before: &str) -> String {
    format!(
        "shift
name= out=
while :; do
    case \"$1\" in
        -o) out=$2; shift 2 ;;
        -B) name=$2; shift 2 ;;
        -e | -k | -m | -F | -C | -b) shift 2 ;;
        -a | -g) shift ;;
        *) break ;;
    esac
done
touch \"$root/state/$$\"
{before}
\"$@\"
echo 'CPU0 data recorded'
echo 'Woken up 1 times to write data' >&2
cp '{data}' \"$out\"
if [ -n \"$name\" ]; then rmdir \"$root/tracing/instances/$name\"; fi
rm \"$root/state/$$\"
"
    )
}

/// A program that keeps sessions as folders.
const LTTNG: &str = r#"
[ "$1" = --no-sessiond ] || exit 9
shift
sessions="$root/state/sessions"
case "$1 $2" in
    "list --kernel") printf 'Kernel events:\n-------------\n'
        for name in sched_switch sched_waking irq_softirq_entry; do
            echo "      $name (loglevel: TRACE_EMERG (0)) (type: tracepoint)"
        done
        exit 0 ;;
esac
case "$1" in
    create) mkdir "$sessions/$2" && echo "${3#--output=}" > "$sessions/$2/output" ;;
    destroy | list | start) [ -d "$sessions/$2" ] || { echo "Error: Session $2 not found" >&2; exit 1; }
        # Metadata is written at the start.
        if [ "$1" = start ]; then mkdir -p "$(cat "$sessions/$2/output")/kernel"; fi
        if [ "$1" = destroy ]; then rm -r "$sessions/$2"; fi ;;
    stop) cp -r '@trace@/.' "$(cat "$sessions/$2/output")/kernel" ;;
esac
"#;

/// Returns a wish for events with these names in LTTng and in the kernel.
pub(crate) fn wish(lttng: &str, kernel: &str) -> Wish {
    Wish {
        names: vec![EventName { lttng: lttng.to_owned(), kernel: vec![kernel.to_owned()] }],
        is_any: false,
        is_required: false,
        consequence: "less is known".to_owned(),
    }
}

/// Returns the wishes of the tests: two kinds of events that all tracers have, system calls, and one that none has.
pub(crate) fn wishes() -> Vec<Wish> {
    vec![
        Wish { is_required: true, ..wish("sched_switch", "sched:sched_switch") },
        wish("irq_softirq_entry", "irq:softirq_entry"),
        wish("kmem_mm_page_alloc", "kmem:mm_page_alloc"),
    ]
}
