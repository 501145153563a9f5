import { zstdDecompressSync } from 'node:zlib'
import { z } from 'zod'
import { spanOp, segmentName } from '../../events/protocol/span-origin.ts'
import { unwrapAttribute, MAX_SPANS, textAttribute, type Span } from '../../events/protocol/span.ts'
import { scrubEvent, type ScrubRules } from '../../events/protocol/scrub.ts'
import { isList, isRecord } from '../../events/protocol/json.ts'
import { storable } from '../../events/protocol/strings.ts'

/** A span as it is stored; times in milliseconds since 1970 by the sender's clock. */
export type StoredSpan = {
  readonly span_id: string
  readonly parent_span_id: string | null
  readonly op: string
  readonly description: string
  readonly status: 'ok' | 'error'
  readonly is_segment: boolean
  readonly start_ms: number
  readonly end_ms: number
  readonly data: Readonly<Record<string, string | number | boolean>>
  /** Segments have these, where they are known. */
  readonly release?: string
  readonly environment?: string
}

/** The release and environment of a segment. */
export type SegmentOrigin = { readonly release: string; readonly environment: string }

const MAX_DESCRIPTION = 300
const MAX_ATTRIBUTES = 20
/** A segment also has the tags of its transaction. */
const MAX_SEGMENT_ATTRIBUTES = 40
const MAX_KEY = 64
const MAX_TEXT = 200
/** Scrubbing parses texts that look like JSON; spans are many. */
const MAX_JSON_TEXTS = 20

/**
 * Converts spans to their stored form: scrubbed, texts cut, up to 20 attributes (segments 40), none about the user. At
 * most 1,000. Pure, never throws.
 */
export function storedSpans(
  spans: readonly Span[],
  scrubbing: ScrubRules,
  originOf: (segment: Span) => SegmentOrigin | null = () => null,
): StoredSpan[] {
  const kept = spans.slice(0, MAX_SPANS)
  const clean: Record<string, unknown> = {
    // A segment's name with the key of a route, because `/home/feed` is no home directory.
    spans: kept.map((span) => ({
      [span.isSegment ? 'transaction' : 'description']: descriptionOf(span),
      data: dataOf(span),
    })),
  }
  scrubEvent(clean, scrubbing, MAX_JSON_TEXTS)
  const texts: readonly unknown[] = isList(clean['spans']) ? clean['spans'] : []
  return kept.map((span, index) => {
    const one = texts[index]
    const { description, transaction, data } = isRecord(one) ? one : {}
    const text = description ?? transaction
    const origin = span.isSegment ? originOf(span) : null
    return {
      span_id: span.spanId,
      parent_span_id: span.parentSpanId,
      op: spanOp(span),
      description: typeof text === 'string' ? text : '',
      status: span.status,
      is_segment: span.isSegment,
      start_ms: span.startMs,
      end_ms: span.endMs,
      data: isRecord(data) ? scalars(data) : {},
      ...(origin === null || origin.release === '' ? {} : { release: origin.release }),
      ...(origin === null || origin.environment === '' ? {} : { environment: origin.environment }),
    }
  })
}

const descriptionOf = (span: Span): string =>
  (span.isSegment ? segmentName(span) : span.name || (textAttribute(span.attributes, 'sentry.name') ?? '')).slice(
    0,
    MAX_DESCRIPTION,
  )

/** Names that other fields of the span hold, or that say who the user is. */
const isLeftOut = (name: string): boolean =>
  /^(?:sentry\.|(?:end)?user(?:\.|$)|(?:e-?mail|username|ip_address)$|client\.address|net\.peer|thread\.id$)/i.test(
    name,
  )

function dataOf({ attributes, isSegment }: Span): Record<string, unknown> {
  const data: Record<string, unknown> = {}
  let left = isSegment ? MAX_SEGMENT_ATTRIBUTES : MAX_ATTRIBUTES
  for (const name of Object.keys(attributes)) {
    if (left === 0) break
    if (name.length > MAX_KEY || isLeftOut(name)) continue
    const value = unwrapAttribute(attributes, name)
    if (typeof value === 'string') data[storable(name)] = storable(value.slice(0, MAX_TEXT))
    else if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)))
      data[storable(name)] = value
    else continue
    left--
  }
  return data
}

/** Scrubbing may have replaced a value by another type. */
function scalars(data: Record<string, unknown>): Record<string, string | number | boolean> {
  const kept: Record<string, string | number | boolean> = {}
  for (const [name, value] of Object.entries(data))
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') kept[name] = value
  return kept
}

const Stored = z.array(
  z.object({
    span_id: z.string(),
    parent_span_id: z.string().nullable(),
    op: z.string(),
    description: z.string(),
    status: z.enum(['ok', 'error']),
    is_segment: z.boolean(),
    start_ms: z.number(),
    end_ms: z.number(),
    data: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    release: z.string().exactOptional(),
    environment: z.string().exactOptional(),
  }),
) satisfies z.ZodType<StoredSpan[]>

/** A span as far as its operation and its duration need it. */
export type TimedSpan = Pick<StoredSpan, 'op' | 'description' | 'data' | 'start_ms' | 'end_ms'>

const Timed = z.array(
  z.object({
    op: z.string(),
    description: z.string(),
    data: z.custom<TimedSpan['data']>(isRecord),
    start_ms: z.number(),
    end_ms: z.number(),
  }),
) satisfies z.ZodType<TimedSpan[]>

/** The spans of a stored part, as far as their operations need them: checking every attribute takes twice as long. */
export const decodeTimedSpans = (bytes: Buffer): TimedSpan[] => Timed.parse(parseSpans(bytes))

/** The spans of a stored part. */
export const decodeSpans = (bytes: Buffer): StoredSpan[] => Stored.parse(parseSpans(bytes))

const parseSpans = (bytes: Buffer): unknown => JSON.parse(zstdDecompressSync(bytes).toString('utf8'))
