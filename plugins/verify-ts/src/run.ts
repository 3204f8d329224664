/** One run of the test, from its start to the end of everything in its process group. */

import type { ChildProcess } from "node:child_process";
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";

import type { Host } from "./host.js";
import { LOOK_MILLIS } from "./host.js";
import { located, startable } from "./program.js";
import { Refusal } from "./refusal.js";

/** Bound of one test in milliseconds, below the 300 s of plugin.toml so that an answer fits. */
const TEST_LIMIT_MILLIS = 240_000;

const TAIL_BYTES = 256 * 1024; // of the test's output, kept to read its runner's closing words
const BLOCK_BYTES = 65_536;
const LAST_BLOCKS = 64; // until it is empty; no pipe holds more

/** How a test ended: its exit status, or why it has none. */
interface End {
  readonly code: number | null;
  readonly ended?: string;
}

/** One run: how it ended, its duration and its last output. */
export interface Ran extends End {
  readonly millis: number;
  readonly tail: Uint8Array;
}

/**
 * Runs `argv` in `root` until it exits, the bound passes or the host lets go of it.
 *
 * None when it could not be started. Old compiled code decides nothing: `cache` is a new one.
 */
export async function run(
  argv: readonly [string, ...string[]],
  root: string,
  cache: string,
  host: Host,
): Promise<Ran | undefined> {
  if (!startable(argv[0], root)) {
    return undefined;
  }
  const output = new Output(`${cache}/output`);
  const started = performance.now();
  try {
    const child = start(argv, root, cache, output.writer);
    if (child?.pid === undefined) {
      return undefined;
    }
    output.follow();
    const end = await ended(child, child.pid, host);
    const millis = Math.trunc(performance.now() - started);
    killGroup(child.pid);
    return { ...end, millis, tail: output.rest() };
  } finally {
    output.close();
  }
}

/** Starts the test as a session of its own; none when the system refuses its words. */
function start(
  [program, ...args]: readonly [string, ...string[]],
  root: string,
  cache: string,
  output: number,
): ChildProcess | undefined {
  try {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", PYTHONPYCACHEPREFIX: cache },
      stdio: ["ignore", output, output],
      detached: true,
    });
    child.on("error", () => undefined); // said by the missing number too
    return child;
  } catch {
    return undefined; // a NUL inside a word, or too many words
  }
}

/** Returns how the test ended: by itself, by a signal, or by this bound. */
function ended(child: ChildProcess, group: number, host: Host): Promise<End> {
  return new Promise((settle) => {
    let late = false;
    const look = setInterval(() => host.gone() && killGroup(group), LOOK_MILLIS);
    const bound = setTimeout(() => {
      late = true;
      killGroup(group);
    }, TEST_LIMIT_MILLIS);
    child.on("exit", (code, signal) => {
      clearInterval(look);
      clearTimeout(bound);
      settle(signal === null ? { code } : { code: null, ended: why(signal, late) });
    });
  });
}

/** Returns why a test has no exit status, as it is said on stderr. */
function why(signal: string, late: boolean): string {
  return late
    ? `outlived ${TEST_LIMIT_MILLIS / 1000} s`
    : `was ended by signal ${constants.signals[signal] ?? signal}`;
}

function killGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // nobody is left
  }
}

/**
 * What the test writes to stdout and stderr, in the order it came, of which the end is kept.
 *
 * A named pipe that loses its name at once: node's own pipes are sockets, which a test cannot
 * open anew as /dev/stdout, and are two where one is needed.
 */
class Output {
  readonly writer: number;
  readonly #reader: number;
  #socket: Socket | undefined;
  #blocks: Uint8Array[] = [];
  #held = 0;
  #open = true;

  constructor(path: string) {
    const made = spawnSync(located("mkfifo", "/") ?? "/usr/bin/mkfifo", ["-m", "600", path], {
      stdio: ["ignore", "ignore", "ignore"],
    });
    if (made.status !== 0) {
      throw new Refusal("the output of the test: mkfifo makes no pipe for it");
    }
    const { O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants;
    this.#reader = fs.openSync(path, O_RDONLY | O_NONBLOCK);
    this.writer = fs.openSync(path, O_WRONLY);
    fs.unlinkSync(path);
  }

  /** Begins to read; from here on the test alone can write. */
  follow(): void {
    fs.closeSync(this.writer);
    this.#socket = new Socket({ fd: this.#reader, readable: true, writable: false });
    this.#socket.on("data", (block) => this.#keep(block));
    for (const event of ["end", "error"] as const) {
      this.#socket.on(event, () => {
        this.#open = false; // closed by the test, which may live on
      });
    }
  }

  /** Returns the end of the output, with what the pipe still holds. */
  rest(): Uint8Array {
    this.#socket?.pause();
    for (let block = 0; block < LAST_BLOCKS && this.#open; block += 1) {
      this.#open = this.#last();
    }
    const whole = new Uint8Array(this.#held);
    let at = 0;
    for (const block of this.#blocks) {
      whole.set(block, at);
      at += block.length;
    }
    return whole.subarray(Math.max(0, at - TAIL_BYTES));
  }

  /** Lets go of the pipe, whoever still holds its other end. */
  close(): void {
    if (this.#socket !== undefined) {
      this.#socket.destroy();
      return;
    }
    fs.closeSync(this.#reader);
    fs.closeSync(this.writer);
  }

  /** Moves one block that is already in the pipe; false when there is none. */
  #last(): boolean {
    const block = new Uint8Array(BLOCK_BYTES);
    try {
      const length = fs.readSync(this.#reader, block);
      this.#keep(block.subarray(0, length));
      return length > 0;
    } catch {
      return false;
    }
  }

  /** Keeps a block, and forgets the ones before the last `TAIL_BYTES`. */
  #keep(block: Uint8Array): void {
    this.#blocks.push(block);
    this.#held += block.length;
    while (this.#held - (this.#blocks[0]?.length ?? 0) >= TAIL_BYTES) {
      this.#held -= this.#blocks.shift()?.length ?? 0;
    }
  }
}
