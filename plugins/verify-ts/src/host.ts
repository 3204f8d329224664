/** The process that waits for the answer, as long as it does [T-33]. */

import { Refusal } from "./refusal.js";

/** Milliseconds between two looks at whether somebody still waits. */
export const LOOK_MILLIS = 20;

const STOPS = ["SIGTERM", "SIGINT", "SIGHUP"];

/** Knows whether anybody waits; another parent means that the host died. */
export class Host {
  readonly #parent = process.ppid;
  #stopped = false;
  readonly #stop = (): void => {
    this.#stopped = true;
  };

  constructor() {
    for (const signal of STOPS) {
      process.on(signal, this.#stop);
    }
  }

  /** Gives the signals back: from here on they simply end this process. */
  release(): void {
    for (const signal of STOPS) {
      process.off(signal, this.#stop);
    }
  }

  /** Returns whether nobody waits any more. */
  gone(): boolean {
    return this.#stopped || process.ppid !== this.#parent;
  }

  /** Raises `Refusal` when nobody waits any more. */
  check(): void {
    if (this.gone()) {
      throw new Refusal("the test: ended with this plugin, which was told to stop");
    }
  }
}
