//! Texts that kernels record beside the pointers in arguments of system calls.

use lttv_context::Traceset;
use lttv_state::analysis::read;
use lttv_state::spans::{
    EventReader, Family, Span, SpanAnalysis, SpanNames, SpanSettings, SpanVisitor, write_arguments,
};

use crate::support::scheduling::{Content, KernelEvent, Machine, trace};

#[derive(Default)]
struct Files(Vec<(Span, String)>);

impl SpanVisitor for Files {
    fn span(&mut self, span: &Span, names: &SpanNames<'_>) {
        self.0.push((*span, names.file(span).to_owned()));
    }
}

fn found(traceset: &Traceset) -> Vec<(Span, String)> {
    let settings = SpanSettings::new().families([Family::Syscall]);
    read(traceset).run(SpanAnalysis::new(settings, Files::default())).output.visitor.0
}

#[test]
fn files_have_the_name_beside_their_pointer() {
    let call = |name: &str, time, fields: &[(&str, i64)]| {
        KernelEvent::new(time, 0, &format!("syscalls:{name}"), fields)
    };
    let enter = [("__syscall_nr", 257), ("dfd", -100), ("filename", 0x7ffc_1234), ("flags", 0)];
    let mut with_text = call("sys_enter_openat", 10, &enter);
    with_text.fields.push(("__filename_val".to_owned(), Content::Text("/etc/passwd".to_owned())));
    let events = [
        KernelEvent::switch(1, 0, 0, 0, 7),
        with_text,
        call("sys_exit_openat", 20, &[("__syscall_nr", 257), ("ret", 3)]),
        call(
            "sys_enter_read",
            30,
            &[("__syscall_nr", 0), ("fd", 3), ("buf", 0x1000), ("count", 9)],
        ),
        call("sys_exit_read", 40, &[("__syscall_nr", 0), ("ret", 9)]),
        // Older kernels have only the pointer.
        call("sys_enter_open", 50, &[("__syscall_nr", 2), ("filename", 0x7ffc_1234), ("flags", 0)]),
        call("sys_exit_open", 60, &[("__syscall_nr", 2), ("ret", 4)]),
    ];
    let traceset = Traceset::from(vec![trace(Machine::default(), &events)]);
    let spans = found(&traceset);
    let files: Vec<&str> = spans.iter().map(|(_, file)| file.as_str()).collect();
    assert_eq!(files, ["/etc/passwd", "/etc/passwd", ""]);
    let mut reader = EventReader::new(&traceset);
    let mut arguments = |span: &Span, call: &str| {
        let mut text = String::new();
        let first = span.first.expect("an entry");
        reader.read(span.trace, first, |event| write_arguments(event, call, "", &mut text));
        text
    };
    let openat = arguments(&spans[0].0, "openat");
    assert_eq!(openat, "dfd: AT_FDCWD, filename: \"/etc/passwd\", flags: O_RDONLY");
    assert_eq!(arguments(&spans[2].0, "open"), "filename: 2147226164, flags: O_RDONLY");
}
