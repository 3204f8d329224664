//! From the grant to the evidence: which program, what came of it, what flipped [W-26, Q-32].

use std::env;
use std::ffi::OsStr;
use std::io::{Write, stderr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::answer::{Evidence, Flip, Measurements};
use crate::cache::Cache;
use crate::child::{self, End};
use crate::refusal::Refusal;
use crate::request::{Baseline, Candidate};
use crate::runners::{Outcome, outcome};
use crate::system;

/// On what terms a test is run.
pub struct Terms<'a> {
    /// How long it may run.
    pub limit: Duration,
    /// Whether somebody waits for the result still; asked every few milliseconds.
    pub awaited: &'a dyn Fn() -> bool,
}

/// Returns the evidence about the granted test, or that there was nothing to observe.
///
/// Refuses when nobody waits any more, after the test and its group were killed, and when the
/// system has no place for the test's compiled code.
pub fn observe(candidate: Option<&Candidate>, terms: &Terms) -> Result<Evidence, Refusal> {
    let Some(Candidate {
        root,
        test: Some(test),
        ..
    }) = candidate
    else {
        return Ok(Evidence::NONE);
    };
    let Some(path) = located(&test.program, root) else {
        return Ok(Evidence::NONE);
    };
    let args = test.args.iter().flatten().map(String::as_str);
    let argv: Vec<&OsStr> = [path.as_os_str()]
        .into_iter()
        .chain(args.clone().map(OsStr::new))
        .collect();
    let words: Vec<&str> = [test.program.as_str()].into_iter().chain(args).collect();
    let cache = Cache::new()?;
    let Some(ran) = child::run(&argv, root, &cache, terms)? else {
        return Ok(Evidence::NONE);
    };
    let code = told(ran.end, terms.limit);
    let now = outcome(&words, code, &ran.tail);
    let exit_code = if now == Outcome::Nothing { None } else { code };
    Ok(Evidence {
        flip: flip(test.baseline.unwrap_or_default(), now),
        measurements: Some(Measurements {
            exit_code,
            duration_ms: ran.millis,
        }),
    })
}

/// Returns the exit status of a test, or says on stderr why it has none.
fn told(end: End, limit: Duration) -> Option<i32> {
    let why = match end {
        End::Exit(code) => return Some(code),
        End::Signal(number) => format!("was ended by signal {number}"),
        End::Outlived => format!("outlived {} s", limit.as_secs_f64()),
    };
    // A stderr that nobody reads any more changes nothing about what was seen.
    let _ = writeln!(stderr(), "verify: the test {why}");
    None
}

/// Compares two results of one test: the table of the crate's documentation.
fn flip(before: Baseline, now: Outcome) -> Flip {
    match (before, now) {
        (Baseline::Failed, Outcome::Passed) => Flip::Achieved,
        (Baseline::Failed | Baseline::Passed, Outcome::Passed | Outcome::Failed) => {
            Flip::NotAchieved
        }
        _ => Flip::Unobservable,
    }
}

/// Returns the path of a program: from the root with a slash, else on `PATH`, else none [T-3].
fn located(name: &str, root: &str) -> Option<PathBuf> {
    if name.starts_with('/') {
        return Some(name.into());
    }
    if name.contains('/') {
        return Some(format!("{root}/{name}").into());
    }
    // Relative entries are skipped: they would mean this plugin's own directory.
    let path = env::var_os("PATH")?;
    let places = path
        .as_bytes()
        .split(|byte| *byte == b':')
        .filter(|at| at.starts_with(b"/"));
    let mut files = places.map(|at| Path::new(OsStr::from_bytes(at)).join(name));
    files.find(|file| !file.is_dir() && system::executable(file))
}
