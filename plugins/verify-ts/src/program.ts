/** Which file a program's name means, and whether the system itself can execute it. */

import * as fs from "node:fs";

import { nodeBinary } from "./again.js";

const HEAD_BYTES = 256; // of a file, read by Linux to tell how it is executed
const INTERPRETERS = 5; // that may be scripts themselves, one run by the next
const ELF = [0x7f, 0x45, 0x4c, 0x46];
const MACHINE = [4, 5, 18, 19]; // where an ELF file says for which machine it is
const MACH_O = ["cffaedfe", "cefaedfe", "cafebabe", "cafebabf"];

/** Returns the path of a program: from the root with a slash, else on `PATH`, else none. */
export function located(name: string, root: string): string | undefined {
  if (name.includes("/")) {
    return name.startsWith("/") ? name : `${root}/${name}`;
  }
  // Relative entries are skipped: they would mean this plugin's own directory [T-3].
  const entries = (process.env["PATH"] ?? "").split(":").filter((at) => at.startsWith("/"));
  return entries.map((at) => (at.endsWith("/") ? at + name : `${at}/${name}`)).find(executable);
}

function executable(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.X_OK);
    return !fs.statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Returns false when only a shell could run this file.
 *
 * Node starts programs with execvp, which gives a file that the system cannot execute to a
 * shell. What cannot be read here is left to the system, which says what is wrong with it.
 */
export function startable(path: string, root: string, followed = 0): boolean {
  const head = headOf(path);
  if (head === undefined || followed > INTERPRETERS) {
    return true;
  }
  const first = String.fromCharCode(...head);
  if (!first.startsWith("#!")) {
    return native(head);
  }
  const interpreter = /^#![ \t]*([^ \t\n\0]+)/.exec(first)?.[1];
  if (interpreter === undefined) {
    return false;
  }
  const place = interpreter.startsWith("/") ? interpreter : `${root}/${interpreter}`;
  return startable(place, root, followed + 1);
}

/** Returns whether a file starts as a program for this machine does. */
function native(head: Uint8Array): boolean {
  if (process.platform === "darwin") {
    const magic = Array.from(head.subarray(0, 4), (byte) => byte.toString(16).padStart(2, "0"));
    return MACH_O.includes(magic.join(""));
  }
  const own = headOf(nodeBinary());
  const elf = ELF.every((byte, at) => head[at] === byte);
  return elf && (own === undefined || MACHINE.every((at) => head[at] === own[at]));
}

function headOf(path: string): Uint8Array | undefined {
  let file: number | undefined;
  try {
    if (!executable(path)) {
      return undefined; // not a file that anything could run; opening a pipe would wait
    }
    file = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    const head = new Uint8Array(HEAD_BYTES);
    return head.subarray(0, fs.readSync(file, head));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) {
      fs.closeSync(file);
    }
  }
}
