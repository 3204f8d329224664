/**
 * Keeps the test, which is the same user, from writing an answer to /proc/PID/fd/1 of this.
 *
 * Node has no prctl. But Linux makes a process non-dumpable, so that nobody but root opens what
 * it holds, when it executes a file that it may not read, and when its group changes. Root takes
 * the second way, here; anyone else takes the first, in `again.ts`.
 */

import { statSync } from "node:fs";

import { Refusal } from "./refusal.js";

/** Makes sure that the test cannot reach the output of this process; `Refusal` if it can. */
export function conceal(): void {
  if (process.platform !== "linux") {
    return; // without /proc nothing is open
  }
  try {
    if (process.geteuid() === 0 ? changesGroup() : concealed()) {
      return;
    }
  } catch {
    // Not allowed to change it, or no /proc to see it in: as good as open.
  }
  throw new Refusal("the system leaves the output of this process open to the test");
}

/** Returns whether what this process holds belongs to root instead of to its own user. */
function concealed(): boolean {
  const held = statSync("/proc/self/fd");
  return held.uid !== process.geteuid() || held.gid !== process.getegid();
}

/** Changes the group to another one and back; returns whether that closed this process. */
function changesGroup(): boolean {
  const group = process.getegid();
  process.setegid(group === 1 ? 2 : 1);
  const closed = concealed(); // seen now, when this group is not the one of root
  process.setegid(group);
  return closed;
}
