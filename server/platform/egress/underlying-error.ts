import type { EgressErrorKind } from '../context/egress.ts'
import { Refusal, type ConnectionSteps } from './connect.ts'

export type Underlying = { readonly error: Error; readonly code: string; readonly message: string }

/** Returns the error below every `cause` and aggregate: its code and text are the ones an operator can look up. */
export function underlying(error: unknown): Underlying {
  let deepest = error instanceof Error ? error : new Error(String(error))
  // A chain may be a ring.
  for (let depth = 0; depth < 10; depth += 1) {
    // One error for each address of a name; the first is the address that the resolver prefers.
    const next: unknown = deepest instanceof AggregateError ? deepest.errors[0] : deepest.cause
    if (!(next instanceof Error)) break
    deepest = next
  }
  // undici's parser gives no code.
  const code = 'code' in deepest && typeof deepest.code === 'string' ? deepest.code : deepest.name
  return { error: deepest, code, message: deepest.message }
}

/** @param step of the present connection; null on a reused one */
export function classifyEgressError(
  { error, code, message }: Underlying,
  step: ConnectionSteps['step'] | null,
): EgressErrorKind {
  if (error instanceof Refusal) return 'refused'
  if (step === 'dns' || step === 'connect' || step === 'tls') return step
  // After the handshake: TLS 1.3 refuses a client without a certificate only then.
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'tls'
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') return 'refused'
  if (/^E[A-Z]+$/.test(code)) return 'reset'
  // undici reports the end of a connection with this code, and a 101 that was not asked for.
  return code === 'UND_ERR_SOCKET' && !message.startsWith('bad ') ? 'reset' : 'protocol'
}
