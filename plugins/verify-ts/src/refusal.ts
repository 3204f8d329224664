/** Why a request gets no answer, said in one line [W-29]. */

/** Characters of a value that is quoted in a refusal. */
export const SHOWN_CHARS = 40;

/** The place of a fault that has no other. */
export const WHOLE = "the request";

/** Raised when a request cannot be served; its message is the line for stderr, place first. */
export class Refusal extends Error {}

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

/** Returns the head of `text` as ASCII on one line, so that it cannot forge another. */
export function quoted(text: string): string {
  const head = Array.from(text).slice(0, SHOWN_CHARS).join("");
  const escaped = head.replace(/[^ -~]|["\\]/g, (unit) => {
    const digits = unit.charCodeAt(0).toString(16).padStart(4, "0");
    return SHORT[unit] ?? `\\u${digits}`;
  });
  return `"${escaped}"`;
}
