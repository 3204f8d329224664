//! What may be answered: three of the flips and two numbers, nothing else [W-26, W-27].

use serde::Serialize;

use crate::PROTOCOL_VERSION;
use crate::refusal::Refusal;

/// What was seen of the granted test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// How its result compares with the one before the turn.
    pub flip: Flip,
    /// What was measured; absent when no process was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measurements: Option<Measurements>,
}

impl Evidence {
    /// The evidence of a test that was not run.
    pub const NONE: Self = Self {
        flip: Flip::Unobservable,
        measurements: None,
    };
}

/// How two results of one test compare [W-48].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flip {
    /// It failed before and passes now.
    Achieved,
    /// It did not go from failing to passing.
    NotAchieved,
    /// One of the two results is missing.
    Unobservable,
}

/// What was measured of one run of the test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Measurements {
    /// Its exit status; absent when no test was observed.
    #[serde(
        rename = "test-command-exit-code",
        skip_serializing_if = "Option::is_none"
    )]
    pub exit_code: Option<i32>,
    /// How long it ran, in milliseconds.
    #[serde(rename = "test-duration-ms")]
    pub duration_ms: u64,
}

#[derive(Serialize)]
struct Answer {
    point: &'static str,
    body: Body,
}

#[derive(Serialize)]
struct Body {
    protocol_version: u32,
    evidence: Evidence,
}

/// Returns the answer as one line of JSON without its line break.
pub(crate) fn line(evidence: Evidence) -> Result<String, Refusal> {
    let body = Body {
        protocol_version: PROTOCOL_VERSION,
        evidence,
    };
    serde_json::to_string(&Answer {
        point: "after_turn",
        body,
    })
    .map_err(Refusal::whole)
}
