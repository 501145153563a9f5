import pino from 'pino'

/** Fields in which PostgreSQL quotes the row or the value it refuses. */
const QUOTING = ['detail', 'where', 'hint', 'internalQuery']

/**
 * An error as the log shows it. Database errors quote people's data: what was refused is left out, why stays. Anything
 * else given in an error's place, a message alone say, is shown as it is: a log line must never throw.
 */
export function errorForLog(error: Error): pino.SerializedError
export function errorForLog(error: unknown): unknown
export function errorForLog(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const shown = pino.stdSerializers.err(error)
  if (!('code' in error) || typeof error.code !== 'string' || !/^[0-9A-Z]{5}$/.test(error.code)) return shown
  for (const field of QUOTING) delete shown[field]
  const quoted = /: ".*"/s.exec(error.message)?.[0]
  if (quoted !== undefined) {
    shown.message = shown.message.replace(quoted, ': "…"')
    shown.stack = shown.stack.replace(quoted, ': "…"')
  }
  return shown
}
