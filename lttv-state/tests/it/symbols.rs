//! Names of functions from binaries that a compiler makes for the test, and from damaged ones.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support;
use crate::support::ust;
use crate::support::ust::{UstEvent, ust_trace};
use lttv_context::Traceset;
use lttv_state::call_stacks::{Binary, CallRules, CallStacks, CallTarget, Function, call_stacks};
use lttv_state::symbols::{SymbolError, SymbolOptions, Symbols};

/// A program that prints the calls of its functions: `e` or `x` and the address; first the address
/// of its first byte.
const PROGRAM: &str = r#"
#include <cstdio>
extern "C" char __executable_start;
#define QUIET __attribute__((no_instrument_function))
extern "C" {
QUIET void __cyg_profile_func_enter(void *f, void *) { std::printf("e %p\n", f); }
QUIET void __cyg_profile_func_exit(void *f, void *) { std::printf("x %p\n", f); }
}
namespace shop {
struct Cart {
    int add(int items) { return items + 1; }
};
int checkout(Cart &cart) { return cart.add(1) + cart.add(2); }
}
extern "C" int plain(void) { return 7; }
int main() {
    shop::Cart cart;
    return shop::checkout(cart) + plain() > 0 ? 0 : 1;
}
static struct First { QUIET First() { std::printf("b %p\n", (void *)&__executable_start); } } first;
"#;

/// Compiles the program; `None` if there is no compiler.
fn compile(folder: &Path, flags: &[&str]) -> Option<PathBuf> {
    let (source, program) = (folder.join("shop.cc"), folder.join("shop"));
    std::fs::write(&source, PROGRAM).expect("a file");
    let compiled = Command::new("g++")
        .args(["-g", "-O0", "-finstrument-functions"])
        .args(flags)
        .arg("-o")
        .args([&program, &source])
        .output();
    match compiled {
        Ok(output) if output.status.success() => Some(program),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            support::report(&format!("skipped: there is no g++: {error}"));
            None
        }
    }
}

/// Runs the program, and writes its calls as a trace with a state dump.
fn trace(program: &Path, is_pic: bool) -> Traceset {
    let output = Command::new(program).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut events = Vec::new();
    let (mut base, thread) = (0, (0, 1, 1));
    for (at, line) in text.lines().enumerate() {
        let (kind, address) = line.split_once(' ').expect("an address");
        let (time, address) = (1_000 * at as u64, ust::number(address));
        let (entry, exit) = ("lttng_ust_cyg_profile:func_entry", "lttng_ust_cyg_profile:func_exit");
        match kind {
            "b" => base = address,
            "e" => events.push(UstEvent::new(time, thread, entry, &[("addr", address)])),
            _ => events.push(UstEvent::new(time, thread, exit, &[("addr", address)])),
        }
    }
    let fields = [("baddr", base), ("memsz", 0x10_0000), ("is_pic", is_pic.into())];
    // The dump of a program that runs comes after its first calls.
    let mut dump = UstEvent::new(1 << 20, thread, "lttng_ust_statedump:bin_info", &fields);
    dump.path = program.display().to_string();
    events.push(dump);
    ust_trace(&events, 4096)
}

/// Returns the names and sources of all functions, in order of their first calls.
fn names(calls: &CallStacks, symbols: &mut Symbols) -> Vec<(String, Option<u32>)> {
    let [trace] = calls.traces() else { panic!("one trace") };
    let name = |function| {
        let symbol = symbols.symbol(calls, trace, function);
        let line = symbol.source.as_ref().map(|(file, line)| {
            assert!(file.ends_with("shop.cc"), "{file}");
            *line
        });
        (symbol.to_string(), line)
    };
    trace.functions().iter().map(name).collect()
}

#[test]
fn functions_of_a_compiled_program_have_names_and_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    for (flags, is_pic) in [(&["-pie", "-fPIE"][..], true), (&["-no-pie"], false)] {
        let Some(program) = compile(folder.path(), flags) else { return };
        let calls = call_stacks(&trace(&program, is_pic), &CallRules::default(), 1).calls;
        let mut symbols = Symbols::new(SymbolOptions::default());
        let found = names(&calls, &mut symbols);
        let expected = [
            ("main", 16),
            ("shop::checkout(shop::Cart&)", 13),
            ("shop::Cart::add(int)", 11),
            ("plain", 15),
        ];
        // The initialisation of static variables is instrumented, too.
        for (name, line) in expected {
            let is_there = found.iter().any(|(of, at)| {
                of.split('(').next() == name.split('(').next() && *at == Some(line)
            });
            assert!(is_there, "{name} at line {line}: {found:?}");
        }
        assert!(symbols.problems().is_empty(), "{:?}", symbols.problems());

        // Without files there are the binary and the address in it.
        let nowhere =
            SymbolOptions { root: Some(folder.path().join("nowhere")), ..Default::default() };
        for (name, line) in names(&calls, &mut Symbols::new(nowhere)) {
            assert!(name.starts_with("shop+0x") && line.is_none(), "{name}");
        }
    }
}

#[test]
fn debug_information_is_found_by_name_and_stripped_binaries_have_symbols() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compile(folder.path(), &["-no-pie"]) else { return };
    let calls = call_stacks(&trace(&program, false), &CallRules::default(), 1).calls;
    // The symbol table is enough for names.
    let stripped = Command::new("strip").arg("-g").arg(&program).status();
    if !stripped.is_ok_and(|status| status.success()) {
        return support::report("skipped: there is no strip");
    }
    let found = names(&calls, &mut Symbols::new(SymbolOptions::default()));
    assert!(found.contains(&("plain".to_owned(), None)), "{found:?}");
    assert!(found.contains(&("shop::checkout(shop::Cart&)".to_owned(), None)), "{found:?}");
}

/// Runs a program of the binutils; `false` if there is none.
fn run(program: &str, args: &[&OsStr]) -> bool {
    let status = Command::new(program).args(args).status();
    if status.is_err() {
        support::report(&format!("skipped: there is no {program}"));
    }
    status.is_ok_and(|status| status.success())
}

/// Returns the contents of a section of a binary.
fn section(program: &Path, name: &str) -> Vec<u8> {
    let to = program.with_extension("section");
    let dump = format!("--dump-section={name}={}", to.display());
    assert!(run("objcopy", &[dump.as_ref(), program.as_os_str(), "/dev/null".as_ref()]));
    std::fs::read(to).expect("a section")
}

#[test]
fn debug_information_is_found_by_build_id_and_debug_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compile(folder.path(), &["-no-pie", "-Wl,--build-id=sha1"]) else { return };
    let calls = call_stacks(&trace(&program, false), &CallRules::default(), 1).calls;
    let [of] = calls.traces() else { panic!("one trace") };
    let address = |function: &Function| match function.code {
        CallTarget::Address(address) => address,
        other => panic!("functions have addresses: {other:?}"),
    };
    let sound = names(&calls, &mut Symbols::new(SymbolOptions::default()));
    let plain = sound.iter().position(|(name, _)| name == "plain").expect("the function");
    let plain = &of.functions()[plain];
    let mut binary = of.binary(plain.process, address(plain)).expect("a binary").clone();

    // The information is a file of its own, and the binary has no symbols any more.
    let apart = folder.path().join("shop.debug");
    let link = format!("--add-gnu-debuglink={}", apart.display());
    let keep: [&OsStr; 3] = ["--only-keep-debug".as_ref(), program.as_ref(), apart.as_ref()];
    if !run("objcopy", &keep) || !run("strip", &[program.as_ref()]) {
        return;
    }
    assert!(run("objcopy", &[link.as_ref(), program.as_ref()]));
    // A note starts with three sizes and the name `GNU`; a link ends with the checksum.
    let build_id = section(&program, ".note.gnu.build-id")[16..].to_vec();
    let checksum = section(&program, ".gnu_debuglink");
    let checksum = checksum.last_chunk().map(|bytes| u32::from_le_bytes(*bytes)).expect("4 bytes");

    let debug = folder.path().join("debug");
    let hex: String = build_id.iter().map(|byte| format!("{byte:02x}")).collect();
    let by_id = debug.join(".build-id").join(&hex[..2]).join(format!("{}.debug", &hex[2..]));
    let beside = folder.path().join(".debug").join("shop.debug");
    let options = SymbolOptions { debug_folders: vec![debug], ..Default::default() };
    let found = |binary: &Binary| {
        let symbol = Symbols::new(options.clone()).in_binary(binary, address(plain));
        (symbol.to_string(), symbol.source.map(|(_, line)| line))
    };
    let named = ("plain".to_owned(), Some(15));

    std::fs::create_dir_all(by_id.parent().expect("a folder")).expect("folders");
    std::fs::rename(&apart, &by_id).expect("a file");
    assert_ne!(found(&binary), named, "without a build id there is no name");
    binary.build_id = build_id.into();
    assert_eq!(found(&binary), named);

    std::fs::create_dir_all(beside.parent().expect("a folder")).expect("a folder");
    std::fs::rename(&by_id, &beside).expect("a file");
    binary.build_id = Vec::new().into();
    binary.debug_link = Some(("shop.debug".into(), checksum));
    assert_eq!(found(&binary), named);
    binary.debug_link = Some(("shop.debug".into(), checksum ^ 1));
    assert_ne!(found(&binary), named, "a file with another checksum is not the right one");
}

/// A function whose name is looked up.
#[inline(never)]
fn a_function_of_rust(number: u64) -> u64 {
    std::hint::black_box(number)
}

#[test]
fn names_of_rust_are_demangled() {
    let exe = std::env::current_exe().expect("this test");
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        return support::report("skipped: there is no /proc/self/maps");
    };
    let first = maps.lines().find(|line| line.ends_with(exe.to_str().expect("text")));
    let base = first.and_then(|line| line.split('-').next()).expect("an address");
    let base = i64::from_str_radix(base, 16).expect("an address");
    let address = a_function_of_rust as fn(u64) -> u64 as usize as i64;
    assert_eq!(a_function_of_rust(7), 7);

    let thread = (0, 1, 1);
    let fields = [("baddr", base), ("memsz", 1 << 30), ("is_pic", 1)];
    let mut dump = UstEvent::new(1, thread, "lttng_ust_statedump:bin_info", &fields);
    dump.path = exe.display().to_string();
    let entry = "lttng_ust_cyg_profile:func_entry";
    let events = [dump, UstEvent::new(2, thread, entry, &[("addr", address)])];
    let calls = call_stacks(&ust_trace(&events, 4096), &CallRules::default(), 1).calls;
    let found = names_of_any(&calls, &mut Symbols::new(SymbolOptions::default()));
    assert_eq!(found, ["it::symbols::a_function_of_rust"]);
}

#[test]
fn addresses_without_a_dump_are_shown_as_they_are() {
    let entry = "lttng_ust_cyg_profile:func_entry";
    let events = [UstEvent::new(1, (0, 1, 1), entry, &[("addr", 0x1234)])];
    let calls = call_stacks(&ust_trace(&events, 4096), &CallRules::default(), 1).calls;
    let found = names(&calls, &mut Symbols::new(SymbolOptions::default()));
    assert_eq!(found, [("0x1234".to_owned(), None)]);
}

/// Returns the calls of one function in a binary.
fn in_binary(path: &Path) -> CallStacks {
    let thread = (0, 1, 1);
    let fields = [("baddr", 0x40_0000), ("memsz", 0x10_0000), ("is_pic", 0)];
    let mut dump = UstEvent::new(1, thread, "lttng_ust_statedump:bin_info", &fields);
    dump.path = path.display().to_string();
    let entry = "lttng_ust_cyg_profile:func_entry";
    let events = [dump, UstEvent::new(2, thread, entry, &[("addr", 0x40_1130)])];
    call_stacks(&ust_trace(&events, 4096), &CallRules::default(), 1).calls
}

#[test]
fn damaged_binaries_are_problems() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop");
    let calls = in_binary(&path);
    let try_bytes = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("a file");
        let mut symbols = Symbols::new(SymbolOptions::default());
        let found = names_of_any(&calls, &mut symbols);
        assert_eq!(found.len(), 1);
        symbols.problems().iter().map(|problem| problem.to_string()).collect::<Vec<_>>()
    };
    for bytes in [&b"#!/bin/sh\n"[..], b"\x7fELF", b"\x7fELF\x02\x01\x01", b"x"] {
        let problems = try_bytes(bytes);
        assert!(problems.iter().any(|of| of.contains("is not a sound binary")), "{problems:?}");
    }
    // A real binary, cut and with changed bytes: anything but a panic.
    let Some(program) = compile(folder.path(), &["-no-pie"]) else { return };
    let sound = std::fs::read(&program).expect("a file");
    for step in 1..40 {
        try_bytes(&sound[..sound.len() * step / 40]);
    }
    let mut random = 1_u64;
    for _ in 0..300 {
        let mut bytes = sound.clone();
        for _ in 0..20 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Headers and section tables are where sizes and offsets are.
            let place = match random >> 63 {
                0 => (random >> 33) as usize % 4_096,
                _ => (random >> 33) as usize % bytes.len(),
            };
            bytes[place.min(sound.len() - 1)] = (random >> 20) as u8;
        }
        try_bytes(&bytes);
    }
}

/// Returns the names of all functions, whatever their sources.
fn names_of_any(calls: &CallStacks, symbols: &mut Symbols) -> Vec<String> {
    let [trace] = calls.traces() else { panic!("one trace") };
    trace.functions().iter().map(|of| symbols.symbol(calls, trace, of).to_string()).collect()
}

#[test]
fn problems_name_the_file() {
    let problem = SymbolError::OtherVersion { path: "/bin/app".into() };
    let text = "/bin/app is not the version that was traced: its build id or checksum differs";
    assert_eq!(problem.to_string(), text);
}
