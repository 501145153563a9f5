import { z } from 'zod'
import { WASM } from './leave-out.gen.ts'

/**
 * An event without the parts that only pages show: most of its bytes, and most of the work of parsing and scrubbing it.
 * One pass over the bytes finds them, as WebAssembly (wasm/leave-out.ts; docs/decisions/left-out-parts.md).
 */

/** What TypeScript's library for Node lacks. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
}

const Address = z.object({ value: z.int() }).transform(({ value }) => value)
const passExports = z.object({
  memory: z.object({ buffer: z.instanceof(ArrayBuffer) }),
  leaveOut: z.custom<(length: number) => number>((value) => typeof value === 'function'),
  INPUT: Address,
  OUTPUT: Address,
  MAX_BYTES: Address,
})

type Pass = z.infer<typeof passExports> & { readonly bytes: Buffer }

/** Null where the machine has no WebAssembly with vectors. */
function openPass(): Pass | null {
  let exported: object
  try {
    exported = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(WASM, 'base64')), {}).exports
  } catch {
    return null
  }
  const pass = passExports.parse({ ...exported })
  return { ...pass, bytes: Buffer.from(pass.memory.buffer) }
}

let opened: Pass | null | undefined

/**
 * Breadcrumbs, extra, modules, variables and lines around frames of an event's JSON as `null`, where they are valid and
 * neither guard nor scrubber could find anything in them. The rest stays as it is.
 * @returns bytes that the next call overwrites; null when too little could be left out, or the text is no object
 */
export function leaveOutShown(bytes: Buffer, start = 0, end = bytes.length): Buffer | null {
  opened ??= openPass()
  if (opened === null || end - start > opened.MAX_BYTES) return null
  bytes.copy(opened.bytes, opened.INPUT, start, end)
  const length = opened.leaveOut(end - start)
  return length === 0 ? null : opened.bytes.subarray(opened.OUTPUT, opened.OUTPUT + length)
}
