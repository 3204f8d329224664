/**
 * Readers that turn a JSON value into a value of a type, or say which place is wrong.
 *
 * A table denies every key it does not know [W-4]; null is the same as absent [W-5]; an integer
 * is written with digits only and has a width [W-6].
 */

import type { Value } from "./json.js";
import { Refusal, SHOWN_CHARS, WHOLE, quoted } from "./refusal.js";

/** Returns the value at a place as a `T`, or raises `Refusal` with that place. */
export type Reader<T> = (value: Value, place: string) => T;

/** A key that need not be given. */
export interface Optional<T> {
  readonly optional: Reader<T>;
}

type Kinds = Readonly<Record<string, Reader<unknown> | Optional<unknown>>>;
type Required<K> = { [N in keyof K]: K[N] extends Reader<unknown> ? N : never }[keyof K];
type Given<K> = { readonly [N in Required<K>]: K[N] extends Reader<infer T> ? T : never } & {
  readonly [N in Exclude<keyof K, Required<K>>]?: K[N] extends Optional<infer T> ? T : never;
};

const U32_MAX = 2n ** 32n - 1n;

/** Reads a string without a lone surrogate. */
export const text: Reader<string> = (value, place) => {
  if (typeof value !== "string") {
    return mistyped("a string", value, place);
  }
  if (/[\ud800-\udfff]/u.test(value)) {
    throw new Refusal(`${place}: holds a lone surrogate`);
  }
  return value;
};

/** Reads `true` or `false`. */
export const flag: Reader<boolean> = (value, place) =>
  typeof value === "boolean" ? value : mistyped("true or false", value, place);

/** Reads an unsigned 32-bit integer, which is written with digits only. */
export const u32: Reader<bigint> = (value, place) => {
  if (value === null || typeof value !== "object" || value.kind !== "integer") {
    return mistyped("an integer", value, place);
  }
  const { digits } = value;
  const long = digits.length > U32_MAX.toString().length;
  if (digits.startsWith("-") || long || BigInt(digits) > U32_MAX) {
    throw new Refusal(`${place}: expected 0 to ${U32_MAX}, got ${digits.slice(0, SHOWN_CHARS)}`);
  }
  return BigInt(digits);
};

/** Reads one of some words. */
export function words<W extends string>(...known: readonly W[]): Reader<W> {
  return (value, place) => {
    if (typeof value !== "string") {
      return mistyped("a string", value, place);
    }
    const found = known.find((word) => word === value);
    if (found === undefined) {
      throw new Refusal(`${place}: expected ${known.join(" or ")}, got ${quoted(value)}`);
    }
    return found;
  };
}

/** Reads a list of one kind. */
export function list<T>(kind: Reader<T>): Reader<readonly T[]> {
  return (value, place) => {
    if (value === null || typeof value !== "object" || value.kind !== "list") {
      return mistyped("a list", value, place);
    }
    return value.items.map((item, at) => kind(item, `${place}[${at}]`));
  };
}

/** Marks a key of a table that need not be given. */
export function optional<T>(kind: Reader<T>): Optional<T> {
  return { optional: kind };
}

/**
 * Reads a table of exactly these keys.
 *
 * The first fault is the one that is told: a key that stands twice; then what is wrong inside
 * the known keys, in the order of `kinds`; then an unknown key; then a missing one.
 */
export function table<K extends Kinds>(kinds: K): Reader<Given<K>> {
  return (value, place) => {
    const given = keyed(value, place);
    const inside = place === WHOLE ? "" : `${place}.`;
    const taken = new Map<string, unknown>();
    for (const [name, kind] of Object.entries(kinds)) {
      const held = given.get(name) ?? null;
      if (held !== null) {
        const read = typeof kind === "function" ? kind : kind.optional;
        taken.set(name, read(held, inside + name));
      }
    }
    for (const name of given.keys()) {
      if (!Object.hasOwn(kinds, name)) {
        throw new Refusal(`${place}: unknown key ${quoted(name)}`);
      }
    }
    for (const [name, kind] of Object.entries(kinds)) {
      if (typeof kind === "function" && !taken.has(name)) {
        throw new Refusal(`${inside}${name}: missing`);
      }
    }
    return Object.fromEntries(taken) as Given<K>;
  };
}

/** Returns the pairs of a table by their key. */
function keyed(value: Value, place: string): ReadonlyMap<string, Value> {
  if (value === null || typeof value !== "object" || value.kind !== "table") {
    return mistyped("a table", value, place);
  }
  const given = new Map<string, Value>();
  for (const [key, held] of value.pairs) {
    if (given.has(key)) {
      throw new Refusal(`${place}: the key ${quoted(key)} stands twice`);
    }
    given.set(key, held);
  }
  return given;
}

function mistyped(expected: string, value: Value, place: string): never {
  throw new Refusal(`${place}: expected ${expected}, got ${nameOf(value)}`);
}

function nameOf(value: Value): string {
  if (value === null) {
    return "null";
  }
  if (typeof value === "object") {
    return value.kind === "integer" ? "an integer" : `a ${value.kind}`;
  }
  return typeof value === "string" ? "a string" : "true or false";
}
