import { demangleSwift, isSwiftName } from './swift.ts'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { z } from 'zod'

/** Longer names are templates of templates: no member reads them. */
const MAX_LENGTH = 8 * 1024
const MAX_RESULT_LENGTH = 16 * 1024
/** Itanium C++ and Rust's legacy form, Rust's v0 form, MSVC. A platform may write `_` before each name. */
const CPP_OR_RUST = /^(?:_{1,3}Z|_{1,2}R|\?)/

/**
 * Makes the name of a symbol readable: C++ (Itanium and MSVC), Rust (legacy and v0) and Swift. Other names, such as
 * Objective-C's and C's, stay as they are, and so does a name that cannot be read.
 */
export function demangle(raw: string): string {
  if (raw.length > MAX_LENGTH) return raw
  const name = isSwiftName(raw) ? demangleSwift(raw) : CPP_OR_RUST.test(raw) ? demangleCppOrRust(raw) : undefined
  return name === undefined || name.length > MAX_RESULT_LENGTH ? raw : name
}

/** The part that is used here: TypeScript knows it only with the library of browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
  readonly RuntimeError: new () => Error
}

const fn = <Signature>() => z.custom<Signature>((value) => typeof value === 'function')

/** The exports of the module of `gecko-profiler-demangle`. Its own loader is for bundlers. */
const moduleExports = z.object({
  memory: z.custom<{ readonly buffer: ArrayBuffer }>((value) => typeof value === 'object'),
  __wbindgen_malloc: fn<(length: number, align: number) => number>(),
  __wbindgen_free: fn<(at: number, length: number, align: number) => void>(),
  demangle_any: fn<(at: number, length: number) => [number, number]>(),
})

let compiled: object | undefined
let running: z.infer<typeof moduleExports> | undefined

/** Loaded at the first name: 10 ms and 4 MB. */
function start(): z.infer<typeof moduleExports> {
  const path = createRequire(import.meta.url).resolve('gecko-profiler-demangle/index_bg.wasm')
  compiled ??= new WebAssembly.Module(readFileSync(path))
  // The table of references to objects of JavaScript stays empty.
  const imports = { './index_bg.js': { __wbindgen_init_externref_table: () => undefined } }
  running = moduleExports.parse({ ...new WebAssembly.Instance(compiled, imports).exports })
  return running
}

/** @returns the readable form of a mangled name of C++ or Rust, or undefined */
function demangleCppOrRust(raw: string): string | undefined {
  const bytes = Buffer.from(raw)
  try {
    const wasm = running ?? start()
    const at = wasm.__wbindgen_malloc(bytes.length, 1)
    new Uint8Array(wasm.memory.buffer).set(bytes, at)
    // The function frees its argument.
    const [resultAt, length] = wasm.demangle_any(at, bytes.length)
    const name = Buffer.from(wasm.memory.buffer, resultAt, length).toString('utf8')
    wasm.__wbindgen_free(resultAt, length, 1)
    // It also returns names that it cannot read, without their first `_`.
    return name === '' || raw.endsWith(name) ? undefined : name
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error
    // A name that ended the instance left its memory in an unknown state.
    running = undefined
    return undefined
  }
}
