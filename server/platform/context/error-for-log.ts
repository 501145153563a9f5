import pino from 'pino'

/** Fields in which PostgreSQL quotes the refused row or value. */
const QUOTING = ['detail', 'where', 'hint', 'internalQuery']

/**
 * An error as it is logged. Database errors quote the refused values, which may be personal data: they are removed, the
 * reason stays. A value that is no error is returned unchanged: logging must not throw.
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
