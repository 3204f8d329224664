/** What this plugin uses of Node, declared by hand: no types package is needed to compile it. */

declare module "node:fs" {
  interface Stats {
    readonly uid: number;
    readonly gid: number;
    isDirectory(): boolean;
  }
  export const constants: {
    readonly O_RDONLY: number;
    readonly O_WRONLY: number;
    readonly O_NONBLOCK: number;
    readonly X_OK: number;
  };
  export function accessSync(path: string, mode: number): void;
  export function chmodSync(path: string, mode: number): void;
  export function closeSync(file: number): void;
  export function copyFileSync(source: string, target: string): void;
  export function mkdtempSync(prefix: string): string;
  export function openSync(path: string, flags: string | number): number;
  export function readFileSync(path: string, encoding: "utf8"): string;
  export function readSync(file: number, into: Uint8Array): number;
  export function rmSync(path: string, how: { recursive: true; force: true }): void;
  export function statSync(path: string): Stats;
  export function unlinkSync(path: string): void;
  export function writeSync(file: number, text: string): number;
}

declare module "node:child_process" {
  type Stdio = "ignore" | "inherit" | number;
  interface Options {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly stdio: readonly [Stdio, Stdio, Stdio];
    readonly detached?: boolean;
  }
  export interface ChildProcess {
    readonly pid?: number;
    on(event: "error", then: (error: Error) => void): this;
    on(event: "exit", then: (code: number | null, signal: string | null) => void): this;
    kill(signal: string): boolean;
  }
  export function spawn(program: string, args: readonly string[], how: Options): ChildProcess;
  export function spawnSync(
    program: string,
    args: readonly string[],
    how: Options,
  ): { readonly status: number | null };
}

declare module "node:net" {
  export class Socket {
    constructor(how: { fd: number; readable: boolean; writable: boolean });
    on(event: "data", then: (block: Uint8Array) => void): this;
    on(event: "end" | "error", then: () => void): this;
    pause(): this;
    destroy(): this;
  }
}

declare module "node:os" {
  export const constants: { readonly signals: Readonly<Record<string, number>> };
}

declare module "node:url" {
  export function fileURLToPath(url: string): string;
}

interface ImportMeta {
  readonly url: string;
}

declare const process: {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execPath: string;
  readonly pid: number;
  readonly platform: string;
  readonly ppid: number;
  readonly stdin: AsyncIterable<Uint8Array>;
  exit(code: number): never;
  getegid(): number;
  geteuid(): number;
  kill(pid: number, signal: string): true;
  off(signal: string, then: () => void): void;
  on(signal: string, then: () => void): void;
  setegid(group: number): void;
};

declare class TextDecoder {
  constructor(encoding: "utf-8", how: { fatal: boolean; ignoreBOM: boolean });
  decode(bytes: Uint8Array): string;
}

declare const performance: { now(): number };
declare function setInterval(then: () => void, millis: number): object;
declare function setTimeout(then: () => void, millis: number): object;
declare function clearInterval(timer: object): void;
declare function clearTimeout(timer: object): void;
