//! The plugin as the host starts it: a request on stdin, one line on stdout [W-2, W-29].

use std::io::{Read, Write, stderr, stdin, stdout};
use std::process::ExitCode;

use verify::Refusal;

/// Answers the request on stdin and returns the exit status.
fn main() -> ExitCode {
    match served() {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            // A stderr that nobody reads any more changes nothing about the exit status.
            let _ = writeln!(stderr(), "verify: {refusal}");
            ExitCode::FAILURE
        }
    }
}

/// Reads all of stdin, then writes the answer in one piece.
fn served() -> Result<(), Refusal> {
    let mut request = Vec::new();
    stdin().read_to_end(&mut request)?;
    let mut line = verify::answered(&request)?;
    line.push('\n');
    let mut out = stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()?;
    Ok(())
}
