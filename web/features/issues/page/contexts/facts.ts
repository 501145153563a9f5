import type { Event } from '../../../../../server/events/protocol/event.api.ts'
import { formatSize } from '../../../../ui/format.ts'
import { cutText } from '../../../../subjects/issue/headline.ts'
import { shortVersion } from '../../../../subjects/issue/trend.ts'
import { issueTexts } from '../texts.ts'

/** The most important facts about device and app, from the contexts of an event. Pure. */

export type Fact = {
  label: string
  value: string
  /** The used share, 0 to 1, of memory and storage. */
  fill?: number
  mono?: boolean
  /** The start of a long value, which is shown; the whole is on hover. */
  short?: string
}

type Context = Event['contexts'][string]

const textOf = (context: Context | undefined, ...names: string[]): string | null => {
  for (const name of names) {
    const value = context?.[name]
    if (typeof value === 'string' && value.trim() !== '') return value
    if (typeof value === 'number') return String(value)
  }
  return null
}

const numberOf = (context: Context | undefined, name: string): number | null => {
  const value = context?.[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

const joined = (parts: readonly (string | null)[], by = ' '): string | null => {
  const there = parts.filter((part) => part !== null && part !== '')
  return there.length === 0 ? null : there.join(by)
}

/** `Android 15`, `Chrome 147.0`. */
const named = (context: Context | undefined): string | null =>
  joined([textOf(context, 'name'), textOf(context, 'version')])

/** `5.4 of 5.6 GB`, with one unit if both values share it. */
function partOf(part: number, total: number, sentence: (part: string, total: string) => string): string {
  const [figure = '', unit = ''] = formatSize(part).split('\u202f')
  const whole = formatSize(total)
  return sentence(whole.endsWith(`\u202f${unit}`) ? figure : formatSize(part), whole)
}

function memoryOf(device: Context | undefined): Fact | null {
  const total = numberOf(device, 'memory_size')
  const free = numberOf(device, 'free_memory') ?? numberOf(device, 'usable_memory')
  if (total === null || total <= 0) return null
  if (free === null || free > total) return { label: issueTexts.facts.memory, value: formatSize(total) }
  const used = total - free
  return { label: issueTexts.facts.memory, value: partOf(used, total, issueTexts.of), fill: used / total }
}

function storageOf(device: Context | undefined): Fact | null {
  const total = numberOf(device, 'storage_size')
  const free = numberOf(device, 'free_storage')
  if (total === null || total <= 0) return null
  if (free === null || free > total) return { label: issueTexts.facts.storage, value: formatSize(total) }
  return { label: issueTexts.facts.storage, value: partOf(free, total, issueTexts.free), fill: 1 - free / total }
}

function batteryOf(device: Context | undefined): string | null {
  const level = numberOf(device, 'battery_level')
  if (level === null) return null
  const charging = device?.charging
  const state = charging === true ? issueTexts.charging : charging === false ? issueTexts.discharging : null
  // Some SDKs send a fraction, some percent; −1 means unknown.
  if (level < 0) return state
  const percent = level <= 1 && !Number.isInteger(level) ? Math.round(level * 100) : Math.round(level)
  return joined([`${percent}\u202f%`, state], ', ')
}

export function userName(user: Event['user']): string | null {
  if (user === null) return null
  return joined(
    [user.name ?? user.username ?? user.email, user.id === null ? null : user.id, user.ip_address].filter(
      (part, index, all) => all.indexOf(part) === index,
    ),
    ', ',
  )
}

const MAX_TRACE_ID = 16

/** The facts in the order of the card; facts that the SDK did not send are left out. */
export function listCardFacts(event: Event): readonly Fact[] {
  const { device, os, app, browser, runtime, culture, trace } = event.contexts
  const facts: Fact[] = []
  const add = (label: string, value: string | null, mono = false) => {
    if (value !== null && value !== '') facts.push(mono ? { label, value, mono } : { label, value })
  }
  const model = textOf(device, 'model')
  const brand = textOf(device, 'brand', 'manufacturer')
  if (event.release !== null) {
    facts.push({
      label: issueTexts.facts.release,
      value: event.release,
      short: shortVersion(event.release),
      mono: true,
    })
  }
  add(issueTexts.facts.build, event.dist ?? textOf(app, 'app_build'), true)
  add(issueTexts.facts.environment, event.environment)
  add(
    issueTexts.facts.device,
    brand !== null && model !== null && !model.startsWith(brand)
      ? `${brand} ${model}`
      : (model ?? textOf(device, 'family', 'name')),
  )
  add(issueTexts.facts.os, joined([named(os), textOf(os, 'build')], ', ') ?? textOf(os, 'raw_description'))
  add(issueTexts.facts.browser, named(browser))
  add(issueTexts.facts.runtime, named(runtime))
  add(issueTexts.facts.app, joined([textOf(app, 'app_name', 'app_identifier'), textOf(app, 'app_version')]))
  const memory = memoryOf(device)
  if (memory !== null) facts.push(memory)
  const storage = storageOf(device)
  if (storage !== null) facts.push(storage)
  add(issueTexts.facts.battery, batteryOf(device))
  add(issueTexts.facts.network, textOf(device, 'connection_type') ?? (device?.online === false ? 'offline' : null))
  const inFront = app?.in_foreground
  add(issueTexts.facts.foreground, inFront === true ? issueTexts.yes : inFront === false ? issueTexts.no : null)
  add(issueTexts.facts.orientation, textOf(device, 'orientation'))
  add(
    issueTexts.facts.locale,
    joined(
      [
        textOf(culture, 'locale') ?? textOf(device, 'locale', 'language'),
        textOf(culture, 'timezone') ?? textOf(device, 'timezone'),
      ],
      ', ',
    ),
  )
  add(issueTexts.facts.server, event.server_name, true)
  add(issueTexts.facts.transaction, event.transaction, true)
  const traceId = textOf(trace, 'trace_id')
  // Its 32 digits would wrap; the context has all of them.
  if (traceId !== null)
    facts.push({ label: issueTexts.facts.trace, value: traceId, short: cutText(traceId, MAX_TRACE_ID), mono: true })
  add(issueTexts.facts.user, userName(event.user))
  add(issueTexts.facts.sdk, event.sdk === null ? null : joined([event.sdk.name, event.sdk.version]), true)
  return facts
}

/** Contexts in order of importance, then by name; empty ones are left out. */
export function sortContexts(event: Event): readonly (readonly [name: string, context: Context])[] {
  const first = ['device', 'os', 'app', 'browser', 'runtime', 'culture', 'gpu', 'trace']
  const rank = (name: string): number => (first.includes(name) ? first.indexOf(name) : first.length)
  return Object.entries(event.contexts)
    .filter(([, context]) => Object.values(context).some((value) => value !== null))
    .toSorted(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b))
}
