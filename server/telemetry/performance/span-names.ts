import { isList, isRecord } from '../../events/protocol/json.ts'
import { scrubEvent, type ScrubRules } from '../../events/protocol/scrub.ts'
import { BoundedCache } from '../../platform/kernel/bounded-cache.ts'
import type { Span } from '../../events/protocol/span.ts'
import { MAX_NAME, operationName, queryText, type OperationKind } from './operation-name.ts'

type SpanName = { readonly op: string; readonly name: string }

/**
 * Ops and names of a project's spans, scrubbed. They repeat, and so do most statements: making and scrubbing each once
 * lets a span cost a look-up.
 */
export class SpanNames {
  readonly #scrubbed = cacheOf(2_000, 400_000)
  readonly #queries = cacheOf(1_000, 400_000)

  /** @param op of the span as sent, of this kind; null for code. @param rules the same at every call */
  nameOf(op: string, kind: OperationKind | null, span: Pick<Span, 'name' | 'attributes'>, rules: ScrubRules): SpanName {
    if (kind === null) return this.#scrub(op, '', rules)
    if (kind !== 'queries') return this.#scrub(op, operationName(kind, span), rules)
    const key = `${op}\n${queryText(span)}`
    const known = this.#queries.get(key)
    if (known !== undefined) return known.value
    const value = this.#scrub(op, operationName(kind, span), rules)
    this.#queries.set(key, { value, length: key.length })
    return value
  }

  #scrub(op: string, name: string, rules: ScrubRules): SpanName {
    const key = `${op}\n${name}`
    const known = this.#scrubbed.get(key)
    if (known !== undefined) return known.value
    const clean: Record<string, unknown> = { spans: [{ op, description: name }] }
    scrubEvent(clean, rules)
    const [one]: readonly unknown[] = isList(clean['spans']) ? clean['spans'] : []
    const value = isRecord(one) ? { op: textOf(one['op']), name: textOf(one['description']) } : { op: '', name: '' }
    this.#scrubbed.set(key, { value, length: 2 * key.length })
    return value
  }
}

const cacheOf = (maxEntries: number, maxBytes: number) =>
  new BoundedCache<string, { readonly value: SpanName; readonly length: number }>({
    maxEntries,
    maxBytes,
    bytesOf: ({ length }) => 2 * length + 100,
  })

/** A copy: a slice would keep the whole text it was cut from. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? Buffer.from(value.slice(0, MAX_NAME)).toString() : ''
