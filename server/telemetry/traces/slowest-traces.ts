import { operationKind, operationName, operationOp } from '../performance/operation-name.ts'
import type { TimedSpan } from './stored-span.ts'

/** The spans of one stored request. */
export type StoredRequest = { readonly traceId: string; readonly spans: readonly TimedSpan[] }

/** The key of an operation. */
export const traceKey = ({ op, name }: { readonly op: string; readonly name: string }): string => `${op}\n${name}`

/** The trace with the longest span of each operation. Pure. */
export function slowestTraces(requests: readonly StoredRequest[]): Map<string, string> {
  const longest = new Map<string, { readonly traceId: string; readonly ms: number }>()
  for (const { traceId, spans } of requests) {
    for (const { op: sent, description, data, start_ms: start, end_ms: end } of spans) {
      const attributes = { ...data, 'sentry.op': sent }
      const op = operationOp({ attributes })
      const kind = operationKind(op)
      if (kind === null) continue
      const key = traceKey({ op, name: operationName(kind, { name: description, attributes }) })
      if (end - start > (longest.get(key)?.ms ?? -1)) longest.set(key, { traceId, ms: end - start })
    }
  }
  return new Map([...longest].map(([key, { traceId }]) => [key, traceId]))
}
