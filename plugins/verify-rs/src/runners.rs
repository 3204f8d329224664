//! What is known of test runners: one table, from a run to its outcome [G-21 to G-26, Q-32].

use crate::command::{Command, Words};
use crate::counts;
use crate::words::{around, first_line, is_white, is_word, plain};

/// What came of a run: the row of the table of the crate's documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Broken,
    Nothing,
}

/// What is known of one test runner: its command, and questions about its output.
///
/// `failed` is the exit status of a failing test, `empty` that of a run without tests; any other
/// and `broken` mean broken. `counted` finds the pieces that count tests: after status 0 nothing
/// ran when none of them has `some`. Without such a piece, `none` says it. With `single` the last
/// such piece decides and has to be there, as code under test can exit with 0; a command that is
/// `single` names single tests, and none may be skipped, by it either.
struct Runner {
    command: Command,
    failed: i32,
    empty: Option<i32>,
    broken: fn(&str) -> bool,
    none: fn(&str) -> bool,
    counted: fn(&str) -> Option<usize>,
    some: fn(&str) -> bool,
    single: Option<fn(&str) -> bool>,
}

impl Runner {
    /// A runner that says nothing but its exit status.
    const fn plain(names: &'static [&'static [&'static str]]) -> Self {
        Self {
            command: Command {
                names,
                module: None,
            },
            failed: 1,
            empty: None,
            broken: |_| false,
            none: |_| false,
            counted: counts::nowhere,
            some: counts::passed,
            single: None,
        }
    }
}

const RUNNERS: [Runner; 7] = [
    Runner {
        command: Command {
            names: &[&["pytest"], &["py.test"]],
            module: Some("pytest"),
        },
        empty: Some(5),
        counted: counts::of_pytest,
        some: counts::passed_by_pytest,
        single: Some(|command| has_option_k(command, "hlqsvx") || names_node(command)),
        ..Runner::plain(&[])
    },
    Runner {
        command: Command {
            names: &[],
            module: Some("unittest"),
        },
        empty: Some(5),
        broken: |said| said.contains("unittest.loader._FailedTest"),
        counted: counts::of_unittest,
        some: counts::passed_by_unittest,
        single: Some(|command| has_option_k(command, "bcfqv") || names_class(command)),
        ..Runner::plain(&[])
    },
    Runner {
        failed: 101,
        broken: |said| said.contains("error: could not compile"),
        counted: counts::of_cargo,
        ..Runner::plain(&[&["cargo", "test"]])
    },
    Runner {
        failed: 100,
        empty: Some(4),
        ..Runner::plain(&[&["cargo", "nextest", "run"]])
    },
    Runner {
        broken: |said| said.contains("[build failed]") || said.contains("[setup failed]"),
        counted: counts::of_go,
        some: counts::passed_by_go,
        ..Runner::plain(&[&["go", "test"]])
    },
    Runner {
        broken: |said| said.contains("Test suite failed to run") && !counts_failed(said),
        none: |said| {
            said.split('\n')
                .any(|line| line.starts_with("No tests found, exiting"))
        },
        counted: counts::of_jest,
        ..Runner::plain(&[&["jest"]])
    },
    Runner {
        none: |said| {
            let mut lines = said.split('\n').map(|line| line.trim_start_matches(' '));
            lines.any(|line| line.starts_with("No test files found, exiting"))
        },
        counted: counts::of_vitest,
        ..Runner::plain(&[&["vitest"]])
    },
];

/// What env, sh and their kind say of a program they cannot start.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Returns what came of a run of `words` that exited with `code`, if by itself, and ended `tail`.
pub(crate) fn outcome(words: &[&str], code: Option<i32>, tail: &[u8]) -> Outcome {
    let Some(code) = code.filter(|code| !NOT_STARTED.contains(code)) else {
        return Outcome::Nothing;
    };
    let command = Words::new(words);
    match RUNNERS.iter().find(|runner| command.start(&runner.command)) {
        Some(runner) => told(runner, words, code, &plain(&String::from_utf8_lossy(tail))),
        None if code == 0 => Outcome::Passed,
        None => Outcome::Failed,
    }
}

/// Returns what a run of this runner is that exited with `code` and `said` this.
fn told(runner: &Runner, words: &[&str], code: i32, said: &str) -> Outcome {
    let pieces = counts::pieces(said, runner.counted);
    if runner.empty == Some(code) || (pieces.is_empty() && (runner.none)(said)) {
        return Outcome::Nothing;
    }
    if code == 0 {
        return if tested(runner, words, &pieces) {
            Outcome::Passed
        } else {
            Outcome::Nothing
        };
    }
    let broken = code != runner.failed || (runner.broken)(said);
    if broken {
        Outcome::Broken
    } else {
        Outcome::Failed
    }
}

/// Returns whether a run that exited with 0 tested something, by the pieces that count it.
fn tested(runner: &Runner, words: &[&str], pieces: &[&str]) -> bool {
    let Some(single) = runner.single else {
        return pieces.is_empty() || pieces.iter().any(|piece| (runner.some)(piece));
    };
    let last = pieces.last().copied().unwrap_or_default();
    let skipped = last.contains("skipped") && single(&words.join(" "));
    !skipped && (runner.some)(last)
}

/// Returns whether jest counts a test as failed in a line that is not the first.
fn counts_failed(said: &str) -> bool {
    around(said, "\nTests: ").any(|(_, after)| first_line(after).contains(" failed"))
}

/// Returns whether a command has `-k`, alone or behind other one-letter flags.
fn has_option_k(command: &str, flags: &str) -> bool {
    around(command, " -").any(|(_, after)| {
        after
            .trim_start_matches(|char| flags.contains(char))
            .starts_with('k')
    })
}

/// Returns whether a command names a test inside a file for pytest, as `a.py::test_week`.
fn names_node(command: &str) -> bool {
    around(command, " ").any(|(before, after)| {
        let name = after
            .strip_prefix(|char| !matches!(char, '-' | ' '))
            .unwrap_or_default();
        let name = name.split(is_white).next().unwrap_or_default();
        !before.ends_with("--deselect") && name.contains(".py::")
    })
}

/// Returns whether a command names a class for unittest, known by its capital letter.
fn names_class(command: &str) -> bool {
    around(command, ".").any(|(before, after)| {
        before.ends_with(is_word) && after.starts_with(|char: char| char.is_ascii_uppercase())
    })
}
