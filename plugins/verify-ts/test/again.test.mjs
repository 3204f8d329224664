/** What is copied to start this program once more is found in the memory map of node. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { loader } from "../dist/again.js";

const ROW = "7f12a000-7f12b000 r-xp 00001000 fe:00 1234      ";

for (const path of [
  "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
  "/usr/lib/x86_64-linux-gnu/ld-2.31.so",
  "/lib/ld-musl-aarch64.so.1",
  "/a place/ld.so.1",
]) {
  test(`${path} is a dynamic loader, and node is what it is told to load`, () => {
    const maps = `${ROW}/usr/bin/node\n${ROW}${path}\n${ROW}[stack]\n`;
    assert.deepEqual(loader(maps), { source: path, words: [process.execPath] });
  });
}

test("a node without a dynamic loader is copied itself", () => {
  const maps = `${ROW}/usr/bin/node\n${ROW}/usr/lib/libld.so\n${ROW}/usr/lib/ldap.so.2\n`;
  assert.deepEqual(loader(maps), { source: process.execPath, words: [] });
});
