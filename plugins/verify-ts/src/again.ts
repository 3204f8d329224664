/**
 * Starts this program once more, non-dumpable from its first instruction.
 *
 * On Linux a process that executes a file which its user may not read is closed to that user
 * (see `conceal.ts`). Such a file is made here: a copy of the dynamic loader, a few hundred
 * kilobytes, that may only be executed. It loads node, and node runs the same program.
 */

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import * as fs from "node:fs";

import { Host, LOOK_MILLIS } from "./host.js";

/** The word that marks the second start; after it comes the path of the node binary. */
const SEALED = "--sealed";

/** Where the copy may lie; a place that executes nothing is passed over. */
const PLACES = ["/tmp", "/var/tmp", "/dev/shm"];

/** Returns the path of the node binary; the second start only knows that of the copy. */
export function nodeBinary(): string {
  return process.argv[2] === SEALED ? (process.argv[3] ?? "") : process.execPath;
}

/** Returns whether this process has to start `program` once more: root has another way. */
export function openToItsUser(): boolean {
  const linux = process.platform === "linux" && process.geteuid() !== 0;
  return linux && process.argv[2] !== SEALED;
}

/**
 * Starts `program` once more and returns its exit status when it has ended.
 *
 * None when it could not be started: the caller then goes on as it is. Else this process holds
 * nothing any more that the host reads, and only passes on that nobody waits.
 */
export async function again(program: string): Promise<number | undefined> {
  const host = new Host();
  for (const place of PLACES) {
    const child = started(place, program);
    if (child !== undefined) {
      letGo();
      return ended(child, host);
    }
  }
  host.release();
  return undefined;
}

/** Starts `program` through a fresh copy of the loader; none when that does not work here. */
function started(place: string, program: string): ChildProcess | undefined {
  let home: string | undefined;
  try {
    home = fs.mkdtempSync(`${place}/verify-`);
    const copy = `${home}/node`;
    const { source, words } = loader(fs.readFileSync("/proc/self/maps", "utf8"));
    fs.copyFileSync(source, copy);
    fs.chmodSync(copy, 0o111);
    const child = spawn(copy, [...words, program, SEALED, process.execPath], {
      stdio: ["inherit", "inherit", "inherit"],
    });
    child.on("error", () => undefined); // said by the missing number too
    return child.pid === undefined ? undefined : child;
  } catch {
    return undefined;
  } finally {
    if (home !== undefined) {
      fs.rmSync(home, { recursive: true, force: true }); // what runs needs no name
    }
  }
}

/** Returns what to copy and its first words: the loader in `maps`, or node if it has none. */
export function loader(maps: string): { source: string; words: readonly string[] } {
  const found = /^.* (\/.*\/ld(?:-[-.\w]*)?\.so[.\d]*)$/m.exec(maps)?.[1];
  return found === undefined
    ? { source: process.execPath, words: [] }
    : { source: found, words: [process.execPath] };
}

/** Puts nothing in the place of the three streams, which the child has now. */
function letGo(): void {
  for (const stream of [0, 1, 2]) {
    fs.closeSync(stream);
    fs.openSync("/dev/null", "r+"); // takes the lowest number, the one that just became free
  }
}

/** Returns the exit status of a child, which is told to stop when nobody waits any more. */
function ended(child: ChildProcess, host: Host): Promise<number> {
  return new Promise((settle) => {
    const look = setInterval(() => {
      if (host.gone()) {
        child.kill("SIGTERM");
      }
    }, LOOK_MILLIS);
    child.on("exit", (code) => {
      clearInterval(look);
      settle(code ?? 1);
    });
  });
}
