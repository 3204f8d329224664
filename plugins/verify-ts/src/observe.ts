/** What the granted test says, as evidence: what was seen and never what that is worth [W-26]. */

import { mkdtempSync, rmSync, writeSync } from "node:fs";

import type { Host } from "./host.js";
import { located } from "./program.js";
import type { Candidate, Test } from "./request.js";
import type { Ran } from "./run.js";
import { run } from "./run.js";
import { outcome } from "./runners.js";

type Flip = "achieved" | "not-achieved" | "unobservable";

/** The flip and the numbers that `plugin.toml` declares, of the ones that were seen. */
export interface Evidence {
  readonly flip: Flip;
  readonly measurements?: Readonly<Record<string, number>>;
}

const UNOBSERVABLE: Evidence = { flip: "unobservable" };

/** Of what the test said before and says now; any other pair has nothing to compare. */
const FLIPS: Readonly<Record<string, Flip>> = {
  "failed passed": "achieved",
  "failed failed": "not-achieved",
  "passed passed": "not-achieved",
  "passed failed": "not-achieved",
};

/** Returns the evidence about the granted test, or that there was nothing to observe. */
export async function observe(grant: Candidate | undefined, host: Host): Promise<Evidence> {
  const test = grant?.test;
  const path = grant && test && located(test.program, grant.root);
  if (grant === undefined || test === undefined || path === undefined) {
    return UNOBSERVABLE;
  }
  // Never TMPDIR, nor any other place that the environment names.
  const cache = mkdtempSync("/tmp/verify-");
  try {
    const ran = await run([path, ...(test.args ?? [])], grant.root, cache, host);
    if (ran?.ended !== undefined) {
      host.check(); // whoever ended it because nobody waits says that instead
      writeSync(2, `verify: the test ${ran.ended}\n`);
    }
    return ran === undefined ? UNOBSERVABLE : seen(test, ran);
  } finally {
    emptied(cache);
  }
}

/** Returns the evidence of a run: an exit status is none where no test was observed. */
function seen(test: Test, ran: Ran): Evidence {
  const now = outcome([test.program, ...(test.args ?? [])], ran);
  const duration = { "test-duration-ms": ran.millis };
  const code = now === "nothing" || ran.code === null ? {} : { "test-command-exit-code": ran.code };
  const flip = FLIPS[`${test.baseline ?? "not-run"} ${now}`] ?? "unobservable";
  return { flip, measurements: { ...code, ...duration } };
}

function emptied(cache: string): void {
  try {
    rmSync(cache, { recursive: true, force: true });
  } catch {
    // what the test made of it does not hold up the answer
  }
}
