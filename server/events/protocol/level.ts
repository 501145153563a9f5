import type { EventLevel } from './event.api.ts'
import { LOG_LEVELS, type LogLevel } from './telemetry.api.ts'

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

/** Levels of log entries: names of all SDKs, and OpenTelemetry's numbers. */
const NAMES: ReadonlyMap<string, LogLevel> = new Map<string, LogLevel>([
  ['trace', 'trace'],
  ['verbose', 'trace'],
  ['debug', 'debug'],
  ['info', 'info'],
  ['information', 'info'],
  ['log', 'info'],
  ['notice', 'info'],
  ['warn', 'warn'],
  ['warning', 'warn'],
  ['error', 'error'],
  ['err', 'error'],
  ['severe', 'error'],
  ['fatal', 'fatal'],
  ['critical', 'fatal'],
  ['alert', 'fatal'],
  ['emergency', 'fatal'],
  ['panic', 'fatal'],
])

/** OpenTelemetry's number of a level, if the client sent none. */
const NUMBERS: Readonly<Record<LogLevel, number>> = { trace: 1, debug: 5, info: 9, warn: 13, error: 17, fatal: 21 }

export const toSeverityNumber = (level: LogLevel): number => NUMBERS[level]

/** A level by name, in the spelling of any SDK; null for an unknown name. */
export function parseLogLevel(value: unknown): LogLevel | null {
  return typeof value === 'string' && value.length <= 20 ? (NAMES.get(value.trim().toLowerCase()) ?? null) : null
}

/** 1–4 trace, 5–8 debug, 9–12 info, 13–16 warn, 17–20 error, 21–24 fatal; null for anything else. */
export function toLogLevel(severityNumber: unknown): LogLevel | null {
  if (typeof severityNumber !== 'number' || !Number.isInteger(severityNumber)) return null
  if (severityNumber < 1 || severityNumber > 24) return null
  return LOG_LEVELS[Math.floor((severityNumber - 1) / 4)] ?? null
}
