/**
 * A strict JSON reader that keeps what `JSON.parse` throws away.
 *
 * An integer stays the digits it was written with, so that every width of [W-6] is exact and a
 * `-0` is seen; a table stays the list of its pairs, so that a key given twice is seen [W-7].
 * What it takes is JSON, no more: no byte-order mark, no `NaN`, no second document.
 */

import { Refusal, WHOLE } from "./refusal.js";

/** An integer as it was written: digits, perhaps with a minus. */
export interface Integer {
  readonly kind: "integer";
  readonly digits: string;
}

/** A number with a fraction or an exponent; nothing here needs its value. */
export interface Fraction {
  readonly kind: "fraction";
}

/** A list of values. */
export interface List {
  readonly kind: "list";
  readonly items: readonly Value[];
}

/** A table as the pairs it was written with. */
export interface Table {
  readonly kind: "table";
  readonly pairs: readonly (readonly [string, Value])[];
}

/** Any JSON value. */
export type Value = null | boolean | string | Integer | Fraction | List | Table;

/** Containers inside one another, the outermost counting as 1 [W-7]. */
const DEEPEST = 64;

/** Containers that are followed to their end to see whether a text that nests deeper is JSON. */
const FOLLOWED = 900;

const WHITE = " \t\r\n";
const SPACE = /[ \t\r\n]*/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const HEX = /[0-9a-fA-F]{4}/y;
const SHORT: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const LITERALS: readonly (readonly [string, null | boolean])[] = [
  ["null", null],
  ["true", true],
  ["false", false],
];

/** Returns the one JSON document in `data`; raises `Refusal` when there is none. */
export function parse(data: Uint8Array): Value {
  if (data.every((byte) => WHITE.includes(String.fromCharCode(byte)))) {
    throw new Refusal(`${WHOLE}: nothing came`);
  }
  if (data[0] === 0xef && data[1] === 0xbb && data[2] === 0xbf) {
    throw new Refusal(`${WHOLE}: starts with a byte-order mark`);
  }
  const reader = new Reader(decoded(data));
  const tree = reader.document();
  if (!reader.atEnd()) {
    throw new Refusal(`${WHOLE}: goes on after its document`);
  }
  if (reader.deepest > DEEPEST) {
    throw new Refusal(`${WHOLE}: nested deeper than ${DEEPEST}`);
  }
  return tree;
}

function decoded(data: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    throw new Refusal(`${WHOLE}: not UTF-8`);
  }
}

/** Reads one text from its start; `deepest` is how many containers stood inside one another. */
class Reader {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  deepest = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the value at the start of the text. */
  document(): Value {
    this.#space();
    return this.#value();
  }

  /** Returns whether only white space is left. */
  atEnd(): boolean {
    this.#space();
    return this.#at === this.#text.length;
  }

  #value(): Value {
    const char = this.#text[this.#at];
    if (char === '"') {
      return this.#string();
    }
    if (char === "[" || char === "{") {
      return this.#container(char);
    }
    for (const [word, value] of LITERALS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    return this.#number();
  }

  #container(opening: "[" | "{"): Value {
    this.#depth += 1;
    this.deepest = Math.max(this.deepest, this.#depth);
    if (this.#depth > FOLLOWED) {
      throw new Refusal(`${WHOLE}: nested deeper than ${DEEPEST}`);
    }
    this.#at += 1;
    const value = opening === "[" ? this.#list() : this.#table();
    this.#depth -= 1;
    return value;
  }

  #list(): List {
    const items: Value[] = [];
    this.#each("]", () => items.push(this.#value()));
    return { kind: "list", items };
  }

  #table(): Table {
    const pairs: (readonly [string, Value])[] = [];
    this.#each("}", () => {
      const key = this.#string();
      this.#space();
      this.#expect(":");
      this.#space();
      pairs.push([key, this.#value()]);
    });
    return { kind: "table", pairs };
  }

  /** Calls `item` at each member of a container, up to and with its closing character. */
  #each(closing: string, item: () => void): void {
    this.#space();
    if (this.#text[this.#at] === closing) {
      this.#at += 1;
      return;
    }
    for (;;) {
      this.#space();
      item();
      this.#space();
      if (this.#text[this.#at] === closing) {
        this.#at += 1;
        return;
      }
      this.#expect(",");
    }
  }

  #string(): string {
    this.#expect('"');
    let text = "";
    for (;;) {
      text += this.#match(PLAIN)[0];
      const char = this.#text[this.#at];
      this.#at += 1;
      if (char === '"') {
        return text;
      }
      text += char === "\\" ? this.#escape() : fault();
    }
  }

  #escape(): string {
    const char = this.#text[this.#at] ?? "";
    this.#at += 1;
    if (char === "u") {
      return String.fromCharCode(parseInt(this.#match(HEX)[0], 16));
    }
    return SHORT[char] ?? fault();
  }

  #number(): Integer | Fraction {
    const [digits, fraction, exponent] = this.#match(NUMBER);
    if (fraction !== undefined || exponent !== undefined) {
      return { kind: "fraction" };
    }
    return { kind: "integer", digits };
  }

  #space(): void {
    this.#match(SPACE);
  }

  #match(pattern: RegExp): RegExpExecArray {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text) ?? fault();
    this.#at = pattern.lastIndex;
    return found;
  }

  #expect(char: string): void {
    if (this.#text[this.#at] !== char) {
      fault();
    }
    this.#at += 1;
  }
}

function fault(): never {
  throw new Refusal(`${WHOLE}: not JSON`);
}
