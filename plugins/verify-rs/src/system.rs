//! The calls to the system that std lacks, each behind a function that cannot be misused.

use std::ffi::{CString, c_char, c_int, c_short, c_uint};
use std::fs;
use std::io::{self, PipeReader};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::refusal::Refusal;

#[cfg(target_os = "linux")]
type Count = std::ffi::c_ulong;
#[cfg(not(target_os = "linux"))]
type Count = c_uint;

const SIGHUP: c_int = 1;
const SIGINT: c_int = 2;
const SIGKILL: c_int = 9;
const SIGTERM: c_int = 15;
const EXECUTABLE: c_int = 1; // X_OK
const POLLIN: c_short = 1;
const F_SETFD: c_int = 2;
const FD_CLOEXEC: c_int = 1;
const P_PID: c_uint = 1;
const WNOHANG: c_int = 1;
const WEXITED: c_int = 4;
#[cfg(target_os = "linux")]
const WNOWAIT: c_int = 0x0100_0000;
#[cfg(not(target_os = "linux"))]
const WNOWAIT: c_int = 0x20;

/// `struct pollfd`.
#[repr(C)]
struct Polled {
    file: c_int,
    wanted: c_short,
    seen: c_short,
}

/// `siginfo_t`: its first member is the signal, 0 where nothing was reported; the rest is room.
#[repr(C, align(8))]
struct Report {
    signal: c_int,
    room: [c_int; 31],
}

// SAFETY: declared as POSIX and, for prctl, the Linux manual have them.
unsafe extern "C" {
    fn access(path: *const c_char, mode: c_int) -> c_int;
    fn execve(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char)
    -> c_int;
    fn fcntl(file: c_int, command: c_int, ...) -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn poll(files: *mut Polled, count: Count, millis: c_int) -> c_int;
    #[cfg(target_os = "linux")]
    fn prctl(option: c_int, ...) -> c_int;
    fn setsid() -> c_int;
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
    fn waitid(kind: c_uint, id: c_uint, report: *mut Report, options: c_int) -> c_int;
}

/// Keeps the test, which is the same user, from writing an answer to /proc/PID/fd/1 of this.
///
/// Where there is no /proc there is nothing to keep it from.
pub fn conceal() -> Result<(), Refusal> {
    #[cfg(target_os = "linux")]
    {
        use std::ffi::c_ulong;
        const PR_SET_DUMPABLE: c_int = 4;
        const NO: c_ulong = 0;
        // SAFETY: this option reads its numbers and no memory.
        if unsafe { prctl(PR_SET_DUMPABLE, NO, NO, NO, NO) } != 0 {
            let what = "leaves the output of this process open to the test";
            return Err(Refusal::system(what));
        }
    }
    Ok(())
}

static TOLD_TO_STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn note_stop(_number: c_int) {
    TOLD_TO_STOP.store(true, Ordering::Relaxed);
}

/// From now on a signal to stop is noted, and no longer ends this process.
pub(crate) fn note_stops() {
    for number in [SIGTERM, SIGINT, SIGHUP] {
        // SAFETY: the handler stores into an atomic, which a handler may do.
        unsafe { signal(number, note_stop) };
    }
}

/// Returns whether a signal to stop has come since [`note_stops`].
pub(crate) fn told_to_stop() -> bool {
    TOLD_TO_STOP.load(Ordering::Relaxed)
}

/// Returns whether this user may execute what `path` leads to.
pub(crate) fn executable(path: &Path) -> bool {
    CString::new(path.as_os_str().as_bytes()).is_ok_and(|path| {
        // SAFETY: `path` is a string with its end mark, and lives until the call returns.
        unsafe { access(path.as_ptr(), EXECUTABLE) == 0 }
    })
}

/// Waits until `pipe` has output or has ended, `patience` at most; returns whether it has.
pub(crate) fn ready(pipe: &PipeReader, patience: Duration) -> bool {
    let mut polled = Polled {
        file: pipe.as_raw_fd(),
        wanted: POLLIN,
        seen: 0,
    };
    let millis = patience.as_millis().try_into().unwrap_or(c_int::MAX);
    // SAFETY: one entry is passed and counted. A signal makes it -1, which is "not yet".
    unsafe { poll(&raw mut polled, 1, millis) == 1 }
}

/// Returns whether the child `pid` has ended, and leaves it unreaped: it keeps its number, so that
/// its group can be killed and no other.
pub(crate) fn ended(pid: u32) -> io::Result<bool> {
    let mut report = Report {
        signal: 0,
        room: [0; 31],
    };
    // SAFETY: `report` has room for what the system writes.
    let code = unsafe { waitid(P_PID, pid, &raw mut report, WEXITED | WNOWAIT | WNOHANG) };
    match (code, io::Error::last_os_error()) {
        (0, _) => Ok(report.signal != 0),
        (_, fault) if fault.kind() == io::ErrorKind::Interrupted => Ok(false),
        (_, fault) => Err(fault),
    }
}

/// Kills every process in the group of `leader`, an unreaped child of this process.
pub(crate) fn kill_group(leader: u32) {
    if let Ok(group) = c_int::try_from(leader) {
        // SAFETY: a signal to others touches no memory. Nobody may be left, which is no fault.
        unsafe { kill(-group, SIGKILL) };
    }
}

/// A list of words as `execve` takes it: pointers to strings, then a null pointer.
struct Words {
    pointers: Vec<*const c_char>,
    _strings: Vec<CString>,
}

impl Words {
    fn new(strings: Vec<CString>) -> Self {
        let pointers = strings
            .iter()
            .map(|string| string.as_ptr())
            .chain([ptr::null()])
            .collect();
        Self {
            pointers,
            _strings: strings,
        }
    }

    /// Makes this process the program that these words start; returns only why it could not.
    fn become_program(&self, env: &Self) -> io::Error {
        let path = self.pointers.first().copied().unwrap_or(ptr::null());
        // SAFETY: both lists end with a null pointer, and all strings have their end mark.
        unsafe { execve(path, self.pointers.as_ptr(), env.pointers.as_ptr()) };
        io::Error::last_os_error()
    }
}

// SAFETY: the pointers lead to the strings beside them, which nobody changes or moves.
unsafe impl Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}

/// Makes `command` start `argv` with the variables `env` in a session of its own, and hand on no
/// file but the three standard ones.
///
/// std itself would look for a shell when the file is no program the system knows; a test that is
/// not run as typed is not the granted one.
pub(crate) fn start_exactly(command: &mut Command, argv: Vec<CString>, env: Vec<CString>) {
    let open = open_files();
    let (argv, env) = (Words::new(argv), Words::new(env));
    let start = move || {
        for file in &open {
            // SAFETY: sets a flag of a file of this new process, if it is still open.
            unsafe { fcntl(*file, F_SETFD, FD_CLOEXEC) };
        }
        // SAFETY: touches no memory. It cannot fail: this new process leads no group yet.
        unsafe { setsid() };
        Err(argv.become_program(&env))
    };
    // SAFETY: between fork and exec only system calls are made, nothing is allocated or locked.
    unsafe { command.pre_exec(start) };
}

/// Returns the open files of this process beyond the standard ones; where the system does not
/// list them, all numbers they are likely to have.
fn open_files() -> Vec<RawFd> {
    let listed = fs::read_dir("/dev/fd").map(|entries| {
        let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        numbers.filter(|file| *file > 2).collect()
    });
    listed.unwrap_or_else(|_| (3..1024).collect())
}

/// Returns `text` as a C string unless a NUL inside it would cut it short.
pub(crate) fn c_string(text: &[u8]) -> Option<CString> {
    CString::new(text).ok()
}

/// Returns `NAME=value` for one variable.
pub(crate) fn variable(name: &[u8], value: &[u8]) -> Option<CString> {
    c_string(&[name, b"=", value].concat())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const PR_GET_DUMPABLE: c_int = 3;

    #[test]
    fn the_files_of_this_process_are_closed_to_its_user() {
        // SAFETY: this option takes and changes nothing.
        let ask = || unsafe { prctl(PR_GET_DUMPABLE) };
        assert_eq!((ask(), conceal(), ask()), (1, Ok(()), 0));
        assert!(open_files().iter().all(|file| *file > 2)); // still to be listed by itself
    }
}
