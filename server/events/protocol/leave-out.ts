import { z } from 'zod'
import { isRecord } from './json.ts'
import { type GuardedJson, parseGuarded } from './json-guard.ts'
import { WASM } from './leave-out.gen.ts'
import { scrubEvent, type ScrubRules } from './scrub.ts'

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

/**
 * Parses what decides about an event: what {@link leaveOutShown} lets stay, all that normalising with `onlyDecisive` and
 * the signals of a device read.
 * @param rules one object per project: events of a project are often alike, so after several that had to be parsed whole
 *   it tries only some
 * @returns null when anything of the event is to be scrubbed, repeated or refused, or may be: it is parsed whole then
 */
export function parseDecisive(bytes: Buffer, start: number, end: number, rules: ScrubRules): GuardedJson | null {
  if (!isDefault(rules)) return null
  const history = histories.get(rules) ?? { misses: 0, skipsLeft: 0 }
  histories.set(rules, history)
  if (history.skipsLeft > 0) {
    history.skipsLeft--
    return null
  }
  const rest = leaveOutShown(bytes, start, end)
  if (rest === null) return null
  const parsed = parseUnchanged(rest, rules)
  history.misses = parsed === null ? Math.min(history.misses + 1, MAX_MISSES) : 0
  history.skipsLeft = history.misses < 2 ? 0 : 2 ** history.misses
  return parsed
}

const histories = new WeakMap<ScrubRules, { misses: number; skipsLeft: number }>()
const MAX_MISSES = 5

/** Null unless the body may be stored as it came. */
function parseUnchanged(bytes: Buffer, rules: ScrubRules): GuardedJson | null {
  try {
    const parsed = parseGuarded(bytes)
    return parsed.isExact && isRecord(parsed.value) && !scrubEvent(parsed.value, rules) ? parsed : null
  } catch {
    return null
  }
}

/** The pass knows the default names and forms only. */
const isDefault = ({ sensitiveKeys, safeKeys, defaults, removeAddresses, removeEmails, rules }: ScrubRules): boolean =>
  defaults !== false &&
  removeAddresses !== true &&
  removeEmails !== true &&
  (sensitiveKeys?.length ?? 0) + (safeKeys?.length ?? 0) + (rules?.length ?? 0) === 0
