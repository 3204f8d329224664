//! The observation inside another program: its bound, its end, and what a test inherits.

#![allow(clippy::unwrap_used, clippy::panic)] // a test speaks by panicking

use std::env::temp_dir;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use verify::answer::{Evidence, Flip};
use verify::request::{Baseline, Candidate, Test};
use verify::{Refusal, TEST_LIMIT, Terms, observe};

/// Writes its own number and that of a child that outlives it, then waits for both.
const LINGER: &str = "sleep 600 & echo $$ $! >pids.tmp; mv pids.tmp pids; wait";

/// A fresh directory that goes with the test.
struct Root(PathBuf);

impl Root {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let root = temp_dir().join(format!("verify-rs-{}-{number}", process::id()));
        fs::create_dir(&root).unwrap();
        Self(root)
    }

    /// Observes a shell that runs `script` here and whose test failed before.
    fn observed(
        &self,
        script: &str,
        limit: Duration,
        awaited: &dyn Fn() -> bool,
    ) -> Result<Evidence, Refusal> {
        let candidate = Candidate {
            handle: "host-tree".into(),
            root: self.0.to_str().unwrap().into(),
            test: Some(Test {
                program: "sh".into(),
                args: Some(vec!["-c".into(), script.into()]),
                baseline: Some(Baseline::Failed),
            }),
        };
        observe(Some(&candidate), &Terms { limit, awaited })
    }

    /// The processes that `LINGER` started here.
    fn pids(&self) -> Vec<u32> {
        let text = fs::read_to_string(self.0.join("pids")).unwrap();
        text.split_whitespace()
            .map(|word| word.parse().unwrap())
            .collect()
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns whether a process runs; one that ended and was not reaped does not.
fn alive(pid: &u32) -> bool {
    let state = process::Command::new("ps")
        .args(["-o", "state=", "-p", &pid.to_string()])
        .output();
    !matches!(state.unwrap().stdout.first(), None | Some(b'Z'))
}

fn ends(condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(5) {
        if condition() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    condition()
}

#[test]
fn the_bound_is_240_s() {
    //
    assert_eq!(TEST_LIMIT, Duration::from_secs(240));
}

#[test]
fn the_bound_ends_the_test_and_is_unobservable() {
    // [Q-25, K-96]
    let root = Root::new();
    let evidence = root
        .observed(LINGER, Duration::from_millis(300), &|| true)
        .unwrap();
    assert_eq!(evidence.flip, Flip::Unobservable);
    let numbers = evidence.measurements.unwrap();
    assert_eq!(numbers.exit_code, None);
    assert!((300..30_000).contains(&numbers.duration_ms));
    assert!(ends(|| !root.pids().iter().any(alive)));
}

#[test]
fn a_test_that_nobody_waits_for_is_ended_and_gives_no_evidence() {
    // [T-33]
    let root = Root::new();
    let lingers = || root.0.join("pids").exists();
    let refusal = root
        .observed(LINGER, TEST_LIMIT, &|| !lingers())
        .unwrap_err();
    let said = "the test: ended with this plugin, which was told to stop";
    assert_eq!(refusal.to_string(), said);
    assert!(ends(|| !root.pids().iter().any(alive)));
}

#[test]
fn a_test_that_closes_its_output_is_still_waited_for() {
    let root = Root::new();
    let script = "exec >&- 2>&-; sleep 0.2; exit 0";
    let evidence = root.observed(script, TEST_LIMIT, &|| true).unwrap();
    assert_eq!(evidence.flip, Flip::Achieved);
    assert!(evidence.measurements.unwrap().duration_ms >= 200);
}

#[test]
fn without_a_test_there_is_nothing_to_observe() {
    let terms = Terms {
        limit: TEST_LIMIT,
        awaited: &|| true,
    };
    assert_eq!(observe(None, &terms).unwrap(), Evidence::NONE);
    let candidate = Candidate {
        handle: "host-tree".into(),
        root: "/".into(),
        test: None,
    };
    assert_eq!(observe(Some(&candidate), &terms).unwrap(), Evidence::NONE);
}

#[test]
fn the_test_is_a_session_of_its_own_and_has_three_files() {
    let root = Root::new();
    let script = "ps -o sid= -p $$ >sid; echo $$ >pid; ls /dev/fd/ >files";
    root.observed(script, TEST_LIMIT, &|| true).unwrap();
    let read = |name: &str| fs::read_to_string(Path::new(&root.0).join(name)).unwrap();
    assert_eq!(read("sid").trim(), read("pid").trim());
    assert_eq!(read("files"), "0\n1\n2\n3\n"); // the last is that of ls
}
