import type { Event } from './event.api.ts'
import { cleanRecord, isRecord, isSafeKey, type JsonBudget, type JsonRecord } from './json.ts'
import type { Notes } from './notes.ts'
import { tidy } from './strings.ts'
import { readUserAgent } from './user-agent.ts'

/** Contexts: one object per name. */

const MAX_CONTEXTS = 100

export function readContexts(raw: unknown, budget: JsonBudget, notes: Notes): Event['contexts'] {
  const contexts: Record<string, JsonRecord> = {}
  if (raw === null || raw === undefined) return contexts
  if (!isRecord(raw)) {
    notes.add('contexts', 'Expected an object.')
    return contexts
  }
  let count = 0
  for (const key in raw) {
    const value = raw[key]
    if (value === null || value === undefined) continue
    const name = tidy(key, 100)
    if (!isSafeKey(name)) {
      notes.add('contexts', `The name ${name} is not allowed.`)
      continue
    }
    if (count === MAX_CONTEXTS) {
      notes.add('contexts', `More than ${MAX_CONTEXTS} contexts.`)
      break
    }
    const context = cleanRecord(value, budget, notes, `contexts.${name}`)
    if (context === null) continue
    contexts[name] = name === 'device' ? mendDevice(context, notes) : name === 'os' ? mendOs(context) : context
    count += 1
  }
  return contexts
}

/** A battery level outside 0 to 100 means "unknown" to some phones. */
function mendDevice(device: JsonRecord, notes: Notes): JsonRecord {
  const level = device['battery_level']
  if (typeof level !== 'number' || (level >= 0 && level <= 100)) return device
  notes.add('contexts.device.battery_level', 'Outside 0 to 100.')
  const { battery_level: _, ...rest } = device
  return rest
}

/** Some SDKs send the final newline of a version file. */
function mendOs(os: JsonRecord): JsonRecord {
  const version = os['version']
  return typeof version === 'string' && version.trim() !== version ? { ...os, version: version.trim() } : os
}

/**
 * Adds contexts from the user agent. A web page runs in that browser. For a server it is the visitor's browser, whose
 * system and device are not those of the error.
 */
export function addAgentContexts(contexts: Event['contexts'], agent: string | null, platform: string): void {
  if (agent === null) return
  const { browser, os, device } = readUserAgent(agent)
  if (browser !== null) contexts['browser'] ??= browser
  if (platform !== 'javascript') return
  if (os !== null) contexts['os'] ??= os
  if (device !== null) contexts['device'] ??= device
}
