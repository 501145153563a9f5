import { LOG_LEVELS, type LogLevel } from './telemetry.api.ts'

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
