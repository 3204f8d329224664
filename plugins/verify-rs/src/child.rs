//! One run of the test as a process of its own, bounded and ended as a group [Q-25, T-33].

use std::env;
use std::ffi::{CString, OsStr};
use std::io::{self, PipeReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::cache::Cache;
use crate::observe::Terms;
use crate::refusal::Refusal;
use crate::system;

/// Of the test's output, kept to read its runner's closing words.
const TAIL_BYTES: usize = 256 * 1024;
const BLOCK_BYTES: usize = 64 * 1024;
const TICK: Duration = Duration::from_millis(10);

/// Blocks that are read at most once the test has ended; no pipe holds more.
const LAST_BLOCKS: usize = 64;

/// How a test came to its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    /// It exited with this status.
    Exit(i32),
    /// A signal with this number ended it.
    Signal(i32),
    /// It was still there when its time was over.
    Outlived,
}

/// One run: how it ended, its duration, its last output.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) end: End,
    pub(crate) millis: u64,
    pub(crate) tail: Vec<u8>,
}

/// Runs `argv` in `root` until it exits, the bound passes or nobody waits for it any more.
///
/// None when it could not be started. Old compiled code decides nothing: `cache` is a new one.
pub(crate) fn run(
    argv: &[&OsStr],
    root: &str,
    cache: &Cache,
    terms: &Terms,
) -> Result<Option<Ran>, Refusal> {
    let start = Instant::now();
    let Some((mut child, pipe)) = started(argv, root, cache) else {
        return Ok(None);
    };
    let mut output = Output {
        pipe,
        tail: Vec::new(),
    };
    let watched = watch(&child, &mut output, start, terms);
    let millis = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    system::kill_group(child.id()); // it is unreaped, so the number is still its own
    let status = child.wait();
    let late = watched?;
    output.drain();
    let status = status?;
    let end = match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, Some(number)) if !late => End::Signal(number),
        _ => End::Outlived,
    };
    Ok(Some(Ran {
        end,
        millis,
        tail: output.tail,
    }))
}

/// Waits for the end of the test or of its time, reading its output; true when its time is over.
fn watch(
    child: &Child,
    output: &mut Output,
    start: Instant,
    terms: &Terms,
) -> Result<bool, Refusal> {
    let mut open = true; // the test may close its output and live on
    while !system::ended(child.id())? && start.elapsed() < terms.limit {
        if !(terms.awaited)() {
            return Err(Refusal::told_to_stop());
        }
        if !open {
            thread::sleep(TICK);
        } else if system::ready(&output.pipe, TICK) {
            open = output.pump();
        }
    }
    Ok(!system::ended(child.id())?)
}

/// Starts the test: no shell, no input, one pipe for both of its outputs.
fn started(argv: &[&OsStr], root: &str, cache: &Cache) -> Option<(Child, PipeReader)> {
    let words = argv.iter().map(|word| system::c_string(word.as_bytes()));
    let words = words.collect::<Option<Vec<_>>>()?;
    let (pipe, output) = io::pipe().ok()?;
    let mut command = Command::new(argv.first()?);
    command.current_dir(root).stdin(Stdio::null());
    command.stdout(output.try_clone().ok()?).stderr(output);
    system::start_exactly(&mut command, words, variables(cache));
    // The command goes here, and with it this end of the pipe: it ends when the test's ends do.
    Some((command.spawn().ok()?, pipe))
}

/// Returns the variables of this process, and those that keep Python's compiled code apart.
fn variables(cache: &Cache) -> Vec<CString> {
    let (once, place) = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX");
    let own = env::vars_os().filter(|(name, _)| name != once && name != place);
    let own = own.map(|(name, value)| system::variable(name.as_bytes(), value.as_bytes()));
    let apart = [
        system::variable(once.as_bytes(), b"1"),
        system::variable(place.as_bytes(), cache.path().as_os_str().as_bytes()),
    ];
    own.chain(apart).flatten().collect()
}

/// What the test prints, of which only the end is kept.
struct Output {
    pipe: PipeReader,
    tail: Vec<u8>,
}

impl Output {
    /// Moves one block of output into the tail; false when there is none.
    fn pump(&mut self) -> bool {
        let mut block = [0; BLOCK_BYTES];
        let read = self.pipe.read(&mut block).unwrap_or(0);
        self.tail.extend(block.iter().take(read));
        self.tail
            .drain(..self.tail.len().saturating_sub(TAIL_BYTES));
        read > 0
    }

    /// Reads until the pipe is empty, which a process that escaped may keep open.
    fn drain(&mut self) {
        for _ in 0..LAST_BLOCKS {
            if !system::ready(&self.pipe, Duration::ZERO) || !self.pump() {
                break;
            }
        }
    }
}
