//! Which runner a command starts, told from its words alone [G-14].
//!
//! A command is read from left to right and may be read in several ways at once: `env A=/bin/env`
//! is one launcher with a variable, or two launchers.

use crate::words::{is_white, is_word};

/// How a runner is called: by words of its own, or as a module of Python.
pub(crate) struct Command {
    /// The first word may have a path before it.
    pub(crate) names: &'static [&'static [&'static str]],
    pub(crate) module: Option<&'static str>,
}

/// The words of a command, and where in it the program itself may stand.
pub(crate) struct Words {
    words: Vec<String>,
    starts: Vec<usize>,
}

impl Words {
    /// Reads a command; white space inside a word separates nothing.
    pub(crate) fn new(words: &[&str]) -> Self {
        let words: Vec<_> = words
            .iter()
            .map(|word| word.replace(is_white, "_"))
            .collect();
        let starts = starts(&words);
        Self { words, starts }
    }

    /// Returns whether this is `command` with any arguments.
    pub(crate) fn start(&self, command: &Command) -> bool {
        let rests = self
            .starts
            .iter()
            .filter_map(|start| self.words.get(*start..));
        rests.into_iter().any(|rest| {
            let named = command.names.iter().any(|name| begins(rest, name));
            named
                || command
                    .module
                    .is_some_and(|module| runs_module(rest, module))
        })
    }
}

/// Returns whether `word` is the program `name`, with or without a path before it.
fn is(word: &str, name: &str) -> bool {
    word.strip_suffix(name)
        .is_some_and(|path| path.is_empty() || path.ends_with('/'))
}

fn begins(words: &[String], name: &[&str]) -> bool {
    let mut pairs = name.iter().zip(words);
    let first = pairs.next().is_some_and(|(name, word)| is(word, name));
    first && words.len() >= name.len() && pairs.all(|(name, word)| word == name)
}

/// What may come next after some words of a command.
#[derive(Clone, Copy, Default)]
struct Next {
    /// A launcher or the program itself.
    program: bool,
    /// A variable of `env`.
    variable: bool,
    /// A flag of a launcher.
    flag: bool,
    /// The `run` of `uv` and its kind.
    run: bool,
    /// The `exec` of `pnpm`.
    exec: bool,
}

impl Next {
    /// Returns what may come after `word` too.
    fn after(self, word: &str) -> Self {
        let program = |names: &[&str]| self.program && names.iter().any(|name| is(word, name));
        let variable = program(&["env"]) || (self.variable && is_assignment(word));
        let flag = program(&["npx", "bunx"])
            || (self.run && word == "run")
            || (self.exec && word == "exec")
            || (self.flag && is_flag(word));
        Self {
            program: variable || flag,
            variable,
            flag,
            run: program(&["uv", "poetry", "pipenv"]),
            exec: program(&["pnpm"]),
        }
    }
}

/// Returns the positions at which the program may stand: the first, and those after launchers.
fn starts(words: &[String]) -> Vec<usize> {
    let mut next = Next {
        program: true,
        ..Next::default()
    };
    let mut starts = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if next.program {
            starts.push(at);
        }
        next = next.after(word);
    }
    starts
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(is_word))
}

fn is_flag(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// Returns whether the words are a Python that runs `module`, with any flags of its own before.
fn runs_module(words: &[String], module: &str) -> bool {
    let Some((python, rest)) = words.split_first() else {
        return false;
    };
    if !python.starts_with("python") && !python.contains("/python") {
        return false;
    }
    let (mut flag, mut value, mut name) = (true, false, false);
    for word in rest {
        if name && word == module {
            return true;
        }
        let takes_value = matches!(word.as_str(), "-X" | "-W");
        let now = flag;
        flag =
            (value && !word.is_empty()) || (now && is_flag(word) && !takes_value && word != "-m");
        value = now && takes_value;
        name = now && asks_for_module(word);
        if !(flag || value || name) {
            return false;
        }
    }
    false
}

/// Returns whether a flag ends with the `m` that a module follows, as `-m` and `-Im` do.
fn asks_for_module(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|flags| flags.ends_with('m') && flags.chars().all(is_word))
}
