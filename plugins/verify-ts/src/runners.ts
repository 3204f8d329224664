/**
 * What is known of test runners, and what a run of one comes to [Q-32].
 *
 * The patterns mean what they mean in Python, whose classes know all of Unicode and whose dot
 * and line start know `\n` alone: so letters, digits, white space and word edges are spelt out.
 */

/** What one run came to. */
export type Outcome = "passed" | "failed" | "broken" | "nothing";

/** How a test ended: its exit status (none unless it exited by itself) and its last output. */
export interface Ended {
  readonly code: number | null;
  readonly tail: Uint8Array;
}

/**
 * What is known of one test runner: patterns for its command and for its output.
 *
 * `failed` are the exit statuses of a failing test, `empty` those of a run without tests; any
 * other and `broken` mean broken. `counts` finds the lines that count tests: after status 0
 * nothing ran when none of them has `some`. Without such a line, `none` says it. With `single`
 * the last such line decides and has to be there, as code under test can exit with 0; a command
 * with `single` names single tests, and none may be skipped, by it either.
 */
export interface Runner {
  readonly command: string;
  readonly failed: readonly number[];
  readonly empty: readonly number[];
  readonly broken: RegExp;
  readonly none: RegExp;
  readonly counts: RegExp;
  readonly some: RegExp;
  readonly single?: RegExp;
}

const { raw } = String;
const WORD = raw`[\p{L}\p{N}_]`;
const BLANK = raw`\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;
const LINE = raw`(?<![^\n])`; // the start of a line
const SOME = raw`[1-9]\p{Nd}*`;

/** Returns a pattern that finds `source` where no word goes on at either end. */
function whole(source: string): string {
  return `(?<!${WORD})${source}(?!${WORD})`;
}

function pattern(source: string, more = ""): RegExp {
  return new RegExp(source, `u${more}`);
}

const NEVER = pattern("(?!)");
const DEFAULTS = {
  failed: [1],
  empty: [],
  broken: NEVER,
  none: NEVER,
  counts: pattern("(?!)", "g"),
  some: pattern(whole(`${SOME} x?passed`)),
};

// A command is matched as one line whose only white space is the space between its words.
const PYTHON = raw`python[^ ]* (?:-[XW] [^ ]+ |-(?![mXW] )[^ ]+ )*-${WORD}*m `;
const PYTEST: Runner = {
  ...DEFAULTS,
  command: raw`(?:${PYTHON})?pytest|py\.test`,
  empty: [5],
  // What follows from `Exit:` on is what the code that ended the run early wants read.
  counts: pattern(
    raw`${LINE}=* ?(?:no tests ran|\p{Nd}+ [a-z])[^\n]* in [\p{Nd}.]+ ?s[^\n]*` +
      raw`(?:\n!+ [^${BLANK}]*Exit:[^]*)?`,
    "g",
  ),
  some: pattern(
    `^(?![^]*(?:${whole("(?:failed|errors?)")}|(?<!${WORD})Exit:))` +
      raw`[^\n]*${whole(`${SOME} x?passed`)}`,
  ),
  single: pattern(raw` -[hlqsvx]*k|(?<!--deselect) [^- ][^${BLANK}]*\.py::`),
};
const UNITTEST: Runner = {
  ...DEFAULTS,
  command: `${PYTHON}unittest`,
  empty: [5],
  broken: pattern(raw`unittest\.loader\._FailedTest`),
  counts: pattern(raw`${LINE}Ran \p{Nd}+ tests? in [^\n]*\n\n[^\n]*`, "g"),
  some: pattern(
    raw`^Ran (?!0)(\p{Nd}+) [^\n]*\n\nOK(?!${WORD})` +
      raw`(?! \([^\n]*(?<!${WORD})(?:skipped|failures)=\1(?!${WORD}))`,
  ),
  single: pattern(raw` -[bcfqv]*k|${WORD}\.[A-Z]`),
};
const CARGO: Runner = {
  ...DEFAULTS,
  command: "cargo test",
  failed: [101],
  broken: pattern("error: could not compile"),
  counts: pattern(raw`${LINE}test result: [^\n]*`, "g"),
};
const NEXTEST: Runner = {
  ...DEFAULTS,
  command: "cargo nextest run",
  failed: [100],
  empty: [4],
};
const GO: Runner = {
  ...DEFAULTS,
  command: "go test",
  broken: pattern(raw`\[(?:build|setup) failed\]`),
  counts: pattern(
    raw`${LINE}(?:testing: warning: no tests to run\nPASS\n)?(?:ok|\?)[${BLANK}][^\n]*`,
    "g",
  ),
  some: pattern(raw`^ok[${BLANK}](?![^\n]*\[no tests to run\])`),
};
const JEST: Runner = {
  ...DEFAULTS,
  command: "jest",
  broken: pattern(raw`^(?![^]*\nTests: [^\n]* failed)[^]*Test suite failed to run`),
  none: pattern(`${LINE}No tests found, exiting`),
  counts: pattern(raw`${LINE}Tests: [^\n]*`, "g"),
};
const VITEST: Runner = {
  ...DEFAULTS,
  command: "vitest",
  none: pattern(`${LINE} *No test files found, exiting`),
  counts: pattern(raw`${LINE} *Tests  [^\n]*`, "g"),
};
const LAUNCHER =
  raw`env(?: ${WORD}+=[^ ]*)*|(?:npx|bunx|(?:uv|poetry|pipenv) run|pnpm exec)(?: -[^ ]+)*`;
const START = raw`^(?:(?:[^ ]*/)?(?:${LAUNCHER}) )*(?:[^ ]*/)?`;
const RUNNERS = [PYTEST, UNITTEST, CARGO, NEXTEST, GO, JEST, VITEST].map(
  (runner) => [pattern(`${START}(?:${runner.command})(?: |$)`), runner] as const,
);
const NOT_STARTED = [126, 127]; // what env, sh and their kind say of a program they cannot start
const ESCAPE = pattern(raw`\x1b\[[0-?]*[ -\/]*[@-~]`, "g");

/** Returns the runner that `words` start, or none when they start something else. */
export function runnerOf(words: readonly string[]): Runner | undefined {
  const blank = pattern(`[${BLANK}]`, "g");
  const line = words.map((word) => word.replace(blank, "_")).join(" ");
  return RUNNERS.find(([command]) => command.test(line))?.[1];
}

/** Returns what a run of `words` came to: the row of the table in the README. */
export function outcome(words: readonly string[], { code, tail }: Ended): Outcome {
  if (code === null || NOT_STARTED.includes(code)) {
    return "nothing";
  }
  const runner = runnerOf(words);
  if (runner === undefined) {
    return code === 0 ? "passed" : "failed";
  }
  const said = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true })
    .decode(tail)
    .replace(ESCAPE, "");
  const counts = Array.from(said.matchAll(runner.counts), (line) => line[0]);
  const none = counts.length === 0 && runner.none.test(said);
  if (none || runner.empty.includes(code)) {
    return "nothing";
  }
  if (code === 0) {
    return passes(runner, words.join(" "), counts) ? "passed" : "nothing";
  }
  return !runner.failed.includes(code) || runner.broken.test(said) ? "broken" : "failed";
}

/** Returns whether a run that exited with 0 ran tests, by the lines that count them. */
function passes(runner: Runner, command: string, counts: readonly string[]): boolean {
  if (runner.single === undefined) {
    return counts.length === 0 || counts.some((line) => runner.some.test(line));
  }
  const last = counts.at(-1) ?? "";
  return !(last.includes("skipped") && runner.single.test(command)) && runner.some.test(last);
}
