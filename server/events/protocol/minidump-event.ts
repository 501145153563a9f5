import { isList, isRecord } from './json.ts'
import type { Minidump, Registers } from './minidump.ts'

/** System names as SDKs write them in `contexts.os`. */
const OS_NAMES = { windows: 'Windows', linux: 'Linux', android: 'Android', macos: 'macOS', ios: 'iOS', unknown: null }

/**
 * Adds the data of a minidump to an event's payload, in place: exception, threads, images, system (docs/protocol.md §12).
 * Data of the SDK takes precedence, because it is more exact.
 * @param dump null when the file could not be read; then the event only says that there was a crash
 */
export function addMinidump(event: Record<string, unknown>, dump: Minidump | null): void {
  event['platform'] ??= 'native'
  event['level'] ??= 'fatal'
  if (dump?.writtenAtS != null) event['timestamp'] ??= dump.writtenAtS
  const contexts = isRecord(event['contexts']) ? event['contexts'] : {}
  event['contexts'] = contexts
  if (isEmptyList(event['exception'])) event['exception'] = { values: [exceptionOf(dump)] }
  if (dump === null) {
    contexts['minidump'] = { readable: false }
    return
  }
  if (isEmptyList(event['threads'])) event['threads'] = { values: threadsOf(dump) }
  const meta = isRecord(event['debug_meta']) ? event['debug_meta'] : {}
  if (isEmptyList(meta['images'])) event['debug_meta'] = { ...meta, images: imagesOf(dump) }
  contexts['os'] ??= without({
    type: 'os',
    name: OS_NAMES[dump.os],
    version: dump.osVersion,
    [dump.os === 'windows' ? 'build' : 'kernel_version']: dump.osBuild,
  })
  contexts['device'] ??= without({ type: 'device', arch: dump.arch })
  contexts['minidump'] = without({
    type: 'minidump',
    crash_reason: dump.crash?.type ?? null,
    crash_address: dump.crash === null ? null : hex(dump.crash.address),
    crashed_thread: dump.crash?.threadId ?? null,
    process_id: dump.processId,
    threads: dump.threads.length,
    modules: dump.modules.length,
    problems: dump.problems.length === 0 ? null : dump.problems.join('; ').slice(0, 1_000),
  })
}

function exceptionOf(dump: Minidump | null): Record<string, unknown> {
  const mechanism = { type: 'minidump', handled: false, synthetic: true }
  const crash = dump?.crash ?? null
  if (crash === null)
    return {
      type: 'Minidump',
      value: dump === null ? 'The minidump cannot be read.' : 'The minidump names no crash.',
      mechanism,
    }
  const { signal, mach } = crash
  const meta = {
    ...(signal === null
      ? {}
      : {
          signal: without({ number: signal.number, code: signal.code, name: signal.name, code_name: signal.codeName }),
        }),
    ...(mach === null
      ? {}
      : { mach_exception: { exception: mach.exception, code: mach.code, subcode: mach.subcode, name: mach.name } }),
  }
  return {
    type: crash.type,
    value: `${crash.text} at ${hex(crash.address)}`,
    thread_id: crash.threadId,
    mechanism: { ...mechanism, ...(signal === null && mach === null ? {} : { meta }) },
    ...(crash.registers === null ? {} : { stacktrace: stackOf(crash.registers, true) }),
  }
}

/**
 * The position of each thread; for the crashed one from the crash record. Whole stacks need unwinding, which needs the
 * modules.
 */
function threadsOf({ threads, crash }: Minidump): Record<string, unknown>[] {
  return threads.map((thread) => {
    const crashed = thread.id === crash?.threadId
    const registers = crashed ? (crash?.registers ?? thread.registers) : thread.registers
    return {
      id: thread.id,
      ...(thread.name === null ? {} : { name: thread.name }),
      crashed,
      current: crashed,
      ...(registers === null ? {} : { stacktrace: stackOf(registers, crashed) }),
    }
  })
}

/** Only for the crashed thread: registers of all threads would be most of the event. */
const stackOf = ({ ip, named }: Registers, withRegisters: boolean): Record<string, unknown> => ({
  frames: [{ instruction_addr: hex(ip), trust: 'context' }],
  ...(withRegisters
    ? { registers: Object.fromEntries(Object.entries(named).map(([name, value]) => [name, hex(value)])) }
    : {}),
})

/** Maximum images; normalisation has the same limit. */
const MAX_IMAGES_CHARACTERS = 200 * 1024

/** Always contains the module of the crash. */
function imagesOf({ modules, crash }: Minidump): Record<string, unknown>[] {
  const ip = crash?.registers?.ip ?? null
  const isCrashed = ({ address, sizeBytes }: Minidump['modules'][number]): boolean =>
    ip !== null && ip >= address && ip < address + BigInt(sizeBytes)
  let left = MAX_IMAGES_CHARACTERS
  return modules
    .toSorted((a, b) => Number(isCrashed(b)) - Number(isCrashed(a)))
    .map(imageOf)
    .filter((image) => (left -= JSON.stringify(image).length) >= 0)
}

const imageOf = (module: Minidump['modules'][number]): Record<string, unknown> =>
  without({
    type: module.type,
    code_file: module.codeFile,
    debug_file: module.debugFile,
    code_id: module.codeId,
    debug_id: module.debugId,
    image_addr: hex(module.address),
    image_size: module.sizeBytes,
    version: module.version,
  })

/** Missing, or a list (in either of its forms) with nothing in it. */
function isEmptyList(value: unknown): boolean {
  if (value === undefined || value === null) return true
  const list = isRecord(value) ? (value['values'] ?? null) : value
  return isList(list) ? list.length === 0 : list === null
}

const without = (record: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))

const hex = (value: bigint): string => `0x${value.toString(16)}`
