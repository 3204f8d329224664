//! A request of the host, read twice: once for its faults, once for its values [W-4, W-18].

use serde::Deserialize;

use crate::document;
use crate::refusal::{Refusal, WHOLE};
use crate::shape::{Key, Kind, check};

// Keys are read in this order. The point and the version come first, because with another point
// or version the other keys may be others too.
const REQUEST: Kind = Kind::Table(&[
    Key::required("point", Kind::Word(&["after_turn"])),
    Key::required("body", BODY),
]);
const BODY: Kind = Kind::Table(&[
    Key::required("protocol_version", Kind::Version),
    Key::required("wrapper", Kind::Text),
    Key::optional("stage", Kind::Text),
    Key::required("round", Kind::U32),
    Key::required("goal", Kind::Text),
    Key::optional("candidate", CANDIDATE),
    Key::required("turn", TURN),
]);
const CANDIDATE: Kind = Kind::Table(&[
    Key::required("handle", Kind::Text),
    Key::required("root", Kind::Directory),
    Key::optional("test", TEST),
]);
const TEST: Kind = Kind::Table(&[
    Key::required("program", Kind::Text),
    Key::optional("args", Kind::Texts),
    Key::optional(
        "baseline",
        Kind::Word(&["not-run", "passed", "failed", "unobserved"]),
    ),
]);
const TURN: Kind = Kind::Table(&[
    Key::required("completed", Kind::Flag),
    Key::optional("answer", Kind::Text),
    Key::optional("tools", Kind::Texts),
    Key::optional("changed_files", Kind::Texts),
]);

/// Returns the request in `data`, or what is wrong with it first.
///
/// The shape above denies in the words that all verify plugins share; what it lets through, the
/// types below have to take too, and they deny unknown and doubled keys by themselves.
pub fn read(data: &[u8]) -> Result<Request, Refusal> {
    let document = document::parse(data)?;
    check(&REQUEST, document, WHOLE)?;
    serde_json::from_str(document.get()).map_err(Refusal::whole)
}

/// An `after_turn` request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Where in the turn the host is.
    pub point: Point,
    /// What it tells and grants there.
    pub body: Body,
}

/// The points that are served.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    /// The one after a turn.
    AfterTurn,
}

/// What the host tells and grants after a turn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// The version of the protocol.
    pub protocol_version: u32,
    /// The name under which the host runs this plugin.
    pub wrapper: String,
    /// The stage at which it runs.
    pub stage: Option<String>,
    /// The round of the run, from 0.
    pub round: u32,
    /// What the person asked for.
    pub goal: String,
    /// The grant, if there is one.
    pub candidate: Option<Candidate>,
    /// How the turn went.
    pub turn: Turn,
}

/// What may be looked at.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The host's name for it.
    pub handle: String,
    /// The directory of the work, an absolute path.
    pub root: String,
    /// The test that may be run there, if there is one.
    pub test: Option<Test>,
}

/// A test that may be run, as the person typed it [W-22].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// The program to start.
    pub program: String,
    /// Its arguments; absent is the same as none.
    pub args: Option<Vec<String>>,
    /// What it said before the turn; absent is the same as not run.
    pub baseline: Option<Baseline>,
}

/// What the host saw of the test before the turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// It was not run.
    #[default]
    NotRun,
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It was run and nothing was seen of it.
    Unobserved,
}

/// How the turn went.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Whether it came to its end.
    pub completed: bool,
    /// The closing text of the assistant.
    pub answer: Option<String>,
    /// The tools that were used.
    pub tools: Option<Vec<String>>,
    /// The files that were changed.
    pub changed_files: Option<Vec<String>>,
}
