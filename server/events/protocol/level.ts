import type { EventLevel } from './event.api.ts'

/** Maps levels of all SDK families to the five of the protocol; null for an unknown level. */
const LEVELS: ReadonlyMap<string, EventLevel> = new Map<string, EventLevel>([
  ['fatal', 'fatal'],
  ['critical', 'fatal'],
  ['emergency', 'fatal'],
  ['alert', 'fatal'],
  ['panic', 'fatal'],
  ['error', 'error'],
  ['err', 'error'],
  ['severe', 'error'],
  ['warning', 'warning'],
  ['warn', 'warning'],
  ['info', 'info'],
  ['log', 'info'],
  ['notice', 'info'],
  ['information', 'info'],
  ['debug', 'debug'],
  ['trace', 'debug'],
  ['verbose', 'debug'],
])

export function parseLevel(value: unknown): EventLevel | null {
  if (typeof value === 'string') {
    return LEVELS.get(value) ?? (value.length <= 20 ? (LEVELS.get(value.trim().toLowerCase()) ?? null) : null)
  }
  // Python's logging numbers.
  if (typeof value === 'number') {
    if (value >= 50) return 'fatal'
    if (value >= 40) return 'error'
    if (value >= 30) return 'warning'
    if (value >= 20) return 'info'
    if (value >= 0) return 'debug'
  }
  return null
}
