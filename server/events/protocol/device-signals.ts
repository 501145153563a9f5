import { isRecord, unwrapList } from './json.ts'
import { Notes } from './strings.ts'
import { finite } from './span.ts'
import { parseTime } from './time.ts'

/** Warnings, battery levels and memory in breadcrumbs and contexts (docs/protocol.md §10.4). Pure, never throws. */

export type BatteryLevel = {
  readonly atMs: number
  /** 0 to 100. */
  readonly percent: number
  readonly isCharging: boolean
}

export type Warning = {
  readonly metric: 'low_memory' | 'thermal_serious' | 'thermal_critical'
  readonly atMs: number
  /** A state of the device when the event was made; SDKs report it with every event while it lasts. */
  readonly isState: boolean
}

/** How much memory the app used. */
export type MemoryLevel = { readonly atMs: number; readonly bytes: number }

export type DeviceSignals = {
  readonly levels: readonly BatteryLevel[]
  readonly warnings: readonly Warning[]
  readonly memory: readonly MemoryLevel[]
}

const MAX_CRUMBS = 100
/** Older breadcrumbs belong to another run of the app. */
const MAX_AGE_MS = 86_400_000

/**
 * The signals of an event or transaction as sent; null without any.
 * @param at its corrected time
 * @param shiftMs what its own times are corrected by
 */
export function deviceSignals(raw: Record<string, unknown>, at: Date, shiftMs: number): DeviceSignals | null {
  const atMs = at.getTime()
  const levels: BatteryLevel[] = []
  const warnings: Warning[] = []
  const memory: MemoryLevel[] = []
  for (const { data, timeMs, isDevice } of crumbsWithData(raw['breadcrumbs'], shiftMs)) {
    if (timeMs > atMs || timeMs < atMs - MAX_AGE_MS) continue
    addMemory(memory, timeMs, data['app_memory'])
    if (!isDevice) continue
    const action = data['action']
    if (action === 'LOW_MEMORY') warnings.push({ metric: 'low_memory', atMs: timeMs, isState: false })
    if (action === 'BATTERY_CHANGED') addLevel(levels, timeMs, data['level'], data['charging'])
    if (action === 'BATTERY_STATE_CHANGE') addLevel(levels, timeMs, data['level'], data['plugged'])
  }
  const contexts = raw['contexts']
  const device = isRecord(contexts) && isRecord(contexts['device']) ? contexts['device'] : {}
  const app = isRecord(contexts) && isRecord(contexts['app']) ? contexts['app'] : {}
  const state = typeof device['thermal_state'] === 'string' ? device['thermal_state'].toLowerCase() : ''
  if (state === 'serious') warnings.push({ metric: 'thermal_serious', atMs, isState: true })
  if (state === 'critical') warnings.push({ metric: 'thermal_critical', atMs, isState: true })
  const wasWarned = warnings.some(({ metric }) => metric === 'low_memory')
  if (device['low_memory'] === true && !wasWarned) warnings.push({ metric: 'low_memory', atMs, isState: true })
  addLevel(levels, atMs, device['battery_level'], device['charging'])
  addMemory(memory, atMs, app['app_memory'])
  if (levels.length === 0 && warnings.length === 0 && memory.length === 0) return null
  return { levels: levels.sort(byTime), warnings, memory: memory.sort(byTime) }
}

/** A level counts only where the SDK says whether the device was charging. */
function addLevel(levels: BatteryLevel[], atMs: number, level: unknown, isCharging: unknown): void {
  const percent = finite(level)
  if (percent === null || percent < 0 || percent > 100 || typeof isCharging !== 'boolean') return
  levels.push({ atMs, percent, isCharging })
}

function addMemory(memory: MemoryLevel[], atMs: number, used: unknown): void {
  if (used === undefined) return
  const bytes = finite(used)
  if (bytes !== null && bytes > 0 && bytes <= Number.MAX_SAFE_INTEGER) memory.push({ atMs, bytes: Math.round(bytes) })
}

const byTime = (a: { readonly atMs: number }, b: { readonly atMs: number }): number => a.atMs - b.atMs

type CrumbWithData = { readonly data: Record<string, unknown>; readonly timeMs: number; readonly isDevice: boolean }

function* crumbsWithData(raw: unknown, shiftMs: number): Generator<CrumbWithData> {
  for (const crumb of unwrapList(raw, new Notes(), 'breadcrumbs').slice(-MAX_CRUMBS)) {
    if (!isRecord(crumb) || !isRecord(crumb['data'])) continue
    const isDevice = crumb['category'] === 'device.event'
    if (!isDevice && crumb['data']['app_memory'] === undefined) continue
    const time = parseTime(crumb['timestamp'])
    if (time !== null) yield { data: crumb['data'], timeMs: time + shiftMs, isDevice }
  }
}

/** The performance class of a device (docs/protocol.md §15.4), a filter for performance; empty when unknown. */
export type DeviceClass = '' | 'low' | 'medium' | 'high'

/**
 * By memory, or by processors when the memory is unknown. For phones of 2026: below 3 GB apps are slow, from 5.5 GB (sold
 * as 6) they are not.
 */
export function deviceClass(memoryBytes: number | null, processors: number | null): DeviceClass {
  if (memoryBytes !== null && memoryBytes > 0) {
    return memoryBytes < 3e9 ? 'low' : memoryBytes < 5.5e9 ? 'medium' : 'high'
  }
  if (processors === null || processors <= 0) return ''
  return processors < 4 ? 'low' : processors < 8 ? 'medium' : 'high'
}

/** Memory as browsers send it, in rounded GB: `16`, `"16 GB"`; else null. */
export function browserMemory(value: unknown): number | null {
  const gigabytes = typeof value === 'string' ? Number.parseFloat(value) : value
  return typeof gigabytes === 'number' && gigabytes > 0 && gigabytes < 10_000 ? gigabytes * 1e9 : null
}
