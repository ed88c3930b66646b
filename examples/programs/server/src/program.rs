//! The command line of the server.

use std::error::Error;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use lttv_common::archives;
use lttv_common::bundled::bundled_trace;
use lttv_common::cache::CacheArgs;
use lttv_common::clocks::Corrections;
use lttv_common::definitions::DefineArgs;
use lttv_common::report::{Report, Usage};

use crate::allocator;
use crate::dataset::DatasetOptions;
use crate::http::guard::Guard;
use crate::http::serve::{self, Patience};
use crate::http::{Server, router};
use crate::protocol::models::Trace;
use crate::workspace::{FileMemory, Roots, Workspace, WorkspaceError, overlapping};

/// The arguments of the server.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ServerArgs {
    /// Directories of traces, or of several, of which the page offers the choice [default: the bundled kernel trace]
    pub traces: Vec<PathBuf>,

    /// Let clients open traces below this directory, besides those given
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,

    /// Port; 0 for any free one
    #[arg(long, default_value_t = 8080)]
    pub port: u16,

    /// Address to listen on: others than those of this machine need --token
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub bind: IpAddr,

    /// Require this secret of clients, in the header `Authorization: Bearer TOKEN` or in
    /// `?token=TOKEN`
    #[arg(long)]
    pub token: Option<String>,

    /// Accept requests for this host name, too
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<String>,

    /// Accept requests of pages of this origin, such as `http://localhost:3000` or, of VS Code,
    /// `vscode-webview://*`, besides those of the server's own page
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub origins: Vec<String>,

    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,

    /// The directory of computed data.
    #[command(flatten)]
    pub cache: CacheArgs,

    /// Size of the directory in MiB, beyond which the data of other traces are removed
    #[arg(long, value_name = "MIB", default_value_t = CacheArgs::LIMIT)]
    pub cache_limit: u64,

    /// Memory in MiB for the files of traces. Larger traces are mapped: they must not be truncated
    #[arg(long, value_name = "MIB", default_value_t = FileMemory::USUAL)]
    pub memory: u64,

    /// Look up the names of functions in the binaries that traces name, wherever they are
    #[arg(long)]
    pub symbols: bool,

    /// The periods to show.
    #[command(flatten)]
    pub define: DefineArgs,

    /// The corrections of clocks.
    #[command(flatten)]
    pub clocks: Corrections,
}

const EXAMPLES: &str = "\
Examples:
  lttv-server TRACE
  lttv-server ~/lttng-traces
  lttv-server --root ~/lttng-traces --sync MACHINE1 MACHINE2";

/// Serves traces until the user interrupts the program. Prints the address first.
///
/// # Errors
///
/// If a trace cannot be opened, or the address is in use.
pub fn run(args: &ServerArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    if !args.bind.is_loopback() && args.token.is_none() {
        return Err(Usage::new("--bind: another machine can reach it; choose a --token").into());
    }
    if args.token.as_ref().is_some_and(|token| token.is_empty()) {
        return Err(Usage::new("--token: an empty one protects nothing").into());
    }
    if let Some(origin) = args.origins.iter().find(|origin| !is_origin(origin)) {
        return Err(Usage::new(format_args!(
            "--origin {origin}: expected a scheme and a host, such as http://localhost:3000, or vscode-webview://*"
        ))
        .into());
    }
    allocator::apply();
    let mut traces = args.traces.clone();
    if traces.is_empty() && args.root.is_empty() {
        traces.push(bundled_trace()?);
    }
    let traces = archives::all_unpacked(traces)?;
    let roots = Roots::new(traces.iter().chain(&args.root).cloned());
    let roots = roots.map_err(|(path, error)| format!("{}: {error}", path.display()))?;
    let cache = args.cache.cache(args.cache_limit);
    let definitions = args.define.read()?;
    let options = DatasetOptions { cache, symbols: args.symbols, definitions };
    let memory = FileMemory::new(args.memory.saturating_mul(1 << 20));
    let workspace = Workspace::new(roots, args.clocks.clone(), options).file_memory(memory);
    let workspace = Arc::new(workspace);
    open_all(&workspace, &traces, args.clocks != Corrections::default())?;
    let mut hosts = args.hosts.clone();
    if !args.bind.is_loopback() {
        hosts.push(match args.bind {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        });
    }
    let guard = Guard {
        hosts,
        accepts_addresses: args.bind.is_unspecified(),
        origins: args.origins.clone(),
        token: args.token.clone(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served: std::io::Result<()> = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind((args.bind, args.port)).await?;
        let address = listener.local_addr()?;
        print_address(address)?;
        if args.open {
            open_page(address, args.token.as_deref(), report);
        }
        let end = async { _ = tokio::signal::ctrl_c().await };
        let router = router(Server::new(workspace), guard);
        serve::serve(listener, router, Patience::default(), end).await;
        Ok(())
    });
    // Answers that are being computed are not waited for.
    runtime.shutdown_background();
    served.map_err(|error| format!("{}: {error}", SocketAddr::new(args.bind, args.port)).into())
}

/// Returns `true` if a text has the form of the origins that browsers send, or is `SCHEME://*`. Of the schemes of the web,
/// that would be any page.
fn is_origin(text: &str) -> bool {
    match text.split_once("://") {
        Some((scheme, "*")) => !matches!(scheme, "" | "http" | "https" | "file"),
        Some((_, host)) => !host.is_empty() && !host.contains(['/', '*']),
        None => false,
    }
}

/// Opens the traces of the command line. Those that were recorded at the same time, or all of them if their clocks
/// are corrected, become one experiment; of others, clients choose.
fn open_all(
    workspace: &Workspace,
    traces: &[PathBuf],
    are_together: bool,
) -> Result<(), Box<dyn Error>> {
    let mut opened = Vec::new();
    for path in traces {
        let open = |path: &Path, name: Option<&str>| -> Result<Trace, Box<dyn Error>> {
            let named = path.canonicalize()?;
            let named = named.to_str().ok_or("a path is not UTF-8")?;
            workspace.open_trace(named, name).map_err(|error| {
                let reason = match &error {
                    WorkspaceError::NotATrace => "there is no trace here".to_owned(),
                    WorkspaceError::NoSuchPath => "a link in it leads elsewhere".to_owned(),
                    _ => error.to_string(),
                };
                let detail = error.detail().map_or_else(String::new, |of| format!(": {of}"));
                format!("{}: {reason}{detail}", path.display()).into()
            })
        };
        let whole = open(path, None)?;
        let parts = workspace.parts_of(&whole.uuid)?;
        if are_together || parts.len() < 2 {
            opened.push(whole);
            continue;
        }
        // The traces below a directory that have nothing to do with each other.
        workspace.close_trace(&whole.uuid)?;
        let above = path.canonicalize()?;
        for part in parts.iter().flatten() {
            let name = part.strip_prefix(&above).unwrap_or(part).to_string_lossy().into_owned();
            opened.push(open(part, Some(&name))?);
        }
    }
    let spans: Vec<_> = opened.iter().map(|of| Some((of.start, of.end))).collect();
    if !are_together && overlapping(&spans).len() > 1 {
        return Ok(());
    }
    let name = match &opened[..] {
        [] => return Ok(()),
        [trace] => trace.name.clone(),
        [first, rest @ ..] => format!("{} and {} more", first.name, rest.len()),
    };
    let uuids: Vec<&str> = opened.iter().map(|trace| trace.uuid.as_str()).collect();
    workspace.create_experiment(&name, &uuids)?;
    Ok(())
}

/// Opens the page in the browser of the desktop.
fn open_page(address: SocketAddr, token: Option<&str>, report: &Report) {
    let mut url = serve::url(address);
    if let Some(token) = token {
        let token: String = token.bytes().map(|byte| format!("%{byte:02x}")).collect();
        url += &format!("?token={token}");
    }
    let mut browser = Command::new("xdg-open");
    browser.arg(&url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = browser.spawn() {
        report.warning(format_args!("--open: cannot run xdg-open: {error}"));
    }
}

fn print_address(address: SocketAddr) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serve::url(address))?;
    out.flush()
}
