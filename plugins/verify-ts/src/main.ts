/**
 * verify: run the granted test and report whether it went from failing to passing.
 *
 * The host starts this file once per `after_turn` request, writes the request as one JSON
 * document to stdin and closes it, and reads one JSON line from stdout. There is nothing more
 * to the protocol. A request that cannot be served gets no answer: exit status 1, one line on
 * stderr, nothing on stdout [W-29]. Needs Node 18 or later and only what comes with it.
 */

import { writeSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { again, openToItsUser } from "./again.js";
import { conceal } from "./conceal.js";
import { Host } from "./host.js";
import { observe } from "./observe.js";
import { PROTOCOL_VERSION, readRequest } from "./request.js";

/** Returns everything on stdin. */
async function received(): Promise<Uint8Array> {
  const blocks: Uint8Array[] = [];
  for await (const block of process.stdin) {
    blocks.push(block);
  }
  const whole = new Uint8Array(blocks.reduce((length, block) => length + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    whole.set(block, at);
    at += block.length;
  }
  return whole;
}

/** Answers the request on stdin and returns the exit status. */
async function serve(): Promise<number> {
  try {
    const request = readRequest(await received());
    conceal();
    const host = new Host(); // not earlier: until here a signal simply ends this process
    const evidence = await observe(request.candidate, host);
    host.check();
    const body = { protocol_version: PROTOCOL_VERSION, evidence };
    writeSync(1, `${JSON.stringify({ point: "after_turn", body })}\n`);
  } catch (fault) {
    writeSync(2, `verify: ${fault instanceof Error ? fault.message : "no answer"}\n`);
    return 1;
  }
  return 0;
}

process.on("SIGUSR1", () => undefined); // else it opens node's debugger to the test
const status = openToItsUser() ? await again(fileURLToPath(import.meta.url)) : undefined;
process.exit(status ?? (await serve()));
