/** The `after_turn` request of protocol version 1 [W-16, W-18, W-19, W-21, W-22]. */

import { parse } from "./json.js";
import { Refusal, WHOLE, quoted } from "./refusal.js";
import type { Reader } from "./shape.js";
import { flag, list, optional, table, text, u32, words } from "./shape.js";

/** The protocol version that this plugin serves. */
export const PROTOCOL_VERSION = 1;

/** Reads the protocol version, when it is the one this plugin serves [W-13]. */
const version: Reader<number> = (value, place) => {
  const number = u32(value, place);
  if (number !== BigInt(PROTOCOL_VERSION)) {
    throw new Refusal(`${place}: does not serve ${number}, only ${PROTOCOL_VERSION}`);
  }
  return PROTOCOL_VERSION;
};

/** Reads an absolute path: a relative one would lead into this plugin's directory. */
const directory: Reader<string> = (value, place) => {
  const path = text(value, place);
  if (!path.startsWith("/")) {
    throw new Refusal(`${place}: expected an absolute path, got ${quoted(path)}`);
  }
  return path;
};

// Keys are read in this order. The point and the version come first, because with another
// point or version the other keys may be others too.
const test = table({
  program: text,
  args: optional(list(text)),
  baseline: optional(words("not-run", "passed", "failed", "unobserved")),
});
const candidate = table({ handle: text, root: directory, test: optional(test) });
const turn = table({
  completed: flag,
  answer: optional(text),
  tools: optional(list(text)),
  changed_files: optional(list(text)),
});
const body = table({
  protocol_version: version,
  wrapper: text,
  stage: optional(text),
  round: u32,
  goal: text,
  candidate: optional(candidate),
  turn,
});
const request = table({ point: words("after_turn"), body });

/** The test of a grant, and what it said before the turn. */
export type Test = ReturnType<typeof test>;

/** What the host lets this plugin look at. */
export type Candidate = ReturnType<typeof candidate>;

/** Returns the body of the request in `data`; raises `Refusal` when there is none. */
export function readRequest(data: Uint8Array): ReturnType<typeof body> {
  return request(parse(data), WHOLE).body;
}
