/** The JSON reader takes what `JSON.parse` takes, and keeps what that throws away. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parse } from "../dist/json.js";
import { Refusal, quoted } from "../dist/refusal.js";

const bytes = (text) => new TextEncoder().encode(text);

/** Returns a read value as `JSON.parse` would give it. */
function plain(value) {
  if (value === null || typeof value !== "object") {
    return value;
  }
  switch (value.kind) {
    case "integer":
      return Number(value.digits);
    case "fraction":
      return "a fraction";
    case "list":
      return value.items.map(plain);
    case "table":
      return Object.fromEntries(value.pairs.map(([key, held]) => [key, plain(held)]));
  }
}

/** Returns `JSON.parse` of a text with its fractions named, or why there is none. */
function known(text) {
  try {
    return JSON.parse(text, (_, value) =>
      typeof value === "number" && !Number.isInteger(value) ? "a fraction" : value,
    );
  } catch {
    return Refusal;
  }
}

function read(text) {
  try {
    return plain(parse(bytes(text)));
  } catch (fault) {
    assert.ok(fault instanceof Refusal, String(fault));
    return Refusal;
  }
}

test("it agrees with JSON.parse about every short text of its own characters", () => {
  const characters = ["[", "]", "{", "}", ",", ":", '"', "\\", "u00e9", "0", "-1", ".5", "a", " ", "null", "\n"];
  let texts = [""];
  let accepted = 0;
  for (let length = 1; length <= 4; length += 1) {
    texts = texts.flatMap((text) => characters.map((character) => text + character));
    for (const text of texts) {
      const expected = known(text);
      assert.deepEqual(read(text), expected, JSON.stringify(text));
      accepted += expected === Refusal ? 0 : 1;
    }
  }
  assert.ok(accepted > 100);
});

test("an integer of any length stays exact", () => {
  for (const digits of ["18446744073709551615", "9007199254740993", "-0", "1".repeat(5000)]) {
    assert.deepEqual(parse(bytes(digits)), { kind: "integer", digits });
  }
});

test("a key that stands twice, or is named like one of every object, is kept", () => {
  const { pairs } = parse(bytes('{"a":1,"a":2,"__proto__":3}'));
  assert.deepEqual(pairs.map(([key]) => key), ["a", "a", "__proto__"]);
});

test("a quoted value is cut between characters, not inside one", () => {
  assert.equal(quoted("🙂".repeat(41)), `"${"\\ud83d\\ude42".repeat(40)}"`);
  assert.equal(quoted('a"\\\b\f\n\r\t\u007f\u0000é'), '"a\\"\\\\\\b\\f\\n\\r\\t\\u007f\\u0000\\u00e9"');
});
