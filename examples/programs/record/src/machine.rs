//! The tracers of a machine, and the rights to use them.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Access, access};

use crate::program;
use crate::tracefs::{Instances, KernelInstances};
use crate::tracer::{Tracer, Unusable};

/// The places of a machine's tracers.
#[derive(Clone)]
pub struct Machine {
    /// The folder of tracefs.
    pub tracefs: PathBuf,
    /// The folder of procfs.
    pub proc: PathBuf,
    /// The folders with programs, as in `PATH`.
    pub search: OsString,
    /// The way in which ring buffers are created.
    pub instances: Arc<dyn Instances>,
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("tracefs", &self.tracefs)
            .field("proc", &self.proc)
            .finish_non_exhaustive()
    }
}

/// The folders where tracefs is mounted, the usual one first.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

impl Machine {
    /// Returns the machine on which the program runs.
    pub fn of_system() -> Machine {
        let is_mounted =
            |path: &&str| access(Path::new(path).join("events"), Access::EXISTS).is_ok();
        let found = TRACEFS.iter().copied().find(is_mounted).unwrap_or(TRACEFS[0]);
        Machine {
            tracefs: found.into(),
            proc: "/proc".into(),
            search: std::env::var_os("PATH").unwrap_or_default(),
            instances: Arc::new(KernelInstances),
        }
    }

    /// Returns the reason for which a tracer cannot be used; `None` if nothing speaks against it.
    pub fn unusable(&self, tracer: Tracer) -> Option<Unusable> {
        let checked = match tracer {
            Tracer::Ftrace => self.check_tracefs(),
            Tracer::TraceCmd => self.check_tracefs().and_then(|()| self.program(tracer).map(drop)),
            Tracer::Perf => self.program(tracer).and_then(|_| self.check_perf()),
            Tracer::Lttng => self.program(tracer).and_then(|path| check_lttng(&path)),
        };
        let (reason, remedies) = checked.err()?;
        Some(Unusable { tracer, reason, remedies })
    }

    /// Returns the path of the program of a tracer.
    pub(crate) fn program(&self, tracer: Tracer) -> Result<PathBuf, Reason> {
        program::find(tracer.name(), &self.search).ok_or_else(|| {
            let package = match tracer {
                Tracer::Perf => {
                    "linux-perf (Debian), linux-tools-generic (Ubuntu) or perf (Fedora)"
                }
                Tracer::Lttng => "lttng-tools and lttng-modules-dkms (Debian, Ubuntu)",
                _ => "trace-cmd",
            };
            (
                format!("there is no program `{tracer}`"),
                vec![format!("install the package {package}")],
            )
        })
    }

    fn check_tracefs(&self) -> Result<(), Reason> {
        let root = &self.tracefs;
        let as_root = "run it as root: `sudo lttv record …`".to_owned();
        match fs::metadata(root.join("events")) {
            Ok(_) => {}
            // Only its owner can look into the folder.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err((
                    format!("{} cannot be read", root.display()),
                    vec![as_root, share(root)],
                ));
            }
            Err(_) => {
                let mount = format!("`sudo mount -t tracefs tracefs {}` mounts it", root.display());
                let reason = format!("tracefs is not mounted at {}", root.display());
                return Err((reason, vec![mount]));
            }
        }
        let instances = root.join("instances");
        match access(&instances, Access::WRITE_OK | Access::EXEC_OK) {
            Ok(()) => Ok(()),
            Err(error) => {
                let reason = format!("{} cannot be written: {error}", instances.display());
                Err((reason, vec![as_root, share(root)]))
            }
        }
    }

    fn check_perf(&self) -> Result<(), Reason> {
        let path = self.proc.join("sys/kernel/perf_event_paranoid");
        let level = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse::<i32>().ok());
        let events = self.tracefs.join("available_events");
        let is_root = rustix::process::geteuid().is_root();
        let remedies =
            |more: &str| vec!["run it as root: `sudo lttv record …`".to_owned(), more.to_owned()];
        match level {
            Some(level) if level > -1 && !is_root => Err((
                format!("{} is {level}: only root can record all CPUs", path.display()),
                remedies(
                    "`sudo sysctl kernel.perf_event_paranoid=-1` lets everybody, until the next start",
                ),
            )),
            None if !path.exists() => {
                Err((format!("{} does not exist", path.display()), Vec::new()))
            }
            _ => match access(&events, Access::READ_OK) {
                Ok(()) => Ok(()),
                Err(error) => {
                    let reason = format!("{} cannot be read: {error}", events.display());
                    Err((reason, remedies(&share(&self.tracefs))))
                }
            },
        }
    }
}

/// The reason for which a tracer cannot be used, and ways to get what is missing.
type Reason = (String, Vec<String>);

/// Returns the way to give a group the rights for tracefs.
fn share(root: &Path) -> String {
    let root = root.display();
    format!("or let a group use it: `sudo mount -o remount,gid=GROUP,mode=0770 {root}`")
}

fn check_lttng(program: &Path) -> Result<(), Reason> {
    let listed = program::output(program, &["--no-sessiond", "list", "--kernel"], None);
    listed.map(drop).map_err(|error| {
        let remedies = [
            "start its daemon: `sudo systemctl start lttng-sessiond`, or `sudo lttng-sessiond --daemonize`",
            "install its kernel modules (lttng-modules-dkms), which tracing of the kernel needs",
            "run it as root, or join the group that may trace: `sudo usermod -aG tracing $USER`, then log in again",
        ];
        (error.to_string(), remedies.map(str::to_owned).to_vec())
    })
}
