import { compressZstd } from '../../platform/kernel/zstd-encoder.ts'
import { spanOp, segmentName } from '../../events/protocol/span-origin.ts'
import type { ScrubRules } from '../../events/protocol/scrub.ts'
import type { Span } from '../../events/protocol/span.ts'
import { type SegmentOrigin, storedSpans, type StoredSpan } from './stored-span.ts'

/** The data of one item about a trace. */
export type TracePart = {
  /** 32 hex digits. */
  readonly traceId: string
  /** 52 bits of the id of its first span. */
  readonly part: number
  /** The first segment of the part; null without a segment. */
  readonly segment: { readonly name: string; readonly op: string; readonly durationMs: number } | null
  readonly spanCount: number
  /** Spans of the item that are not stored: beyond 1,000, or invalid. */
  readonly leftOut: number
  /** JSON of StoredSpan[], zstd. */
  readonly spans: Buffer
}

/** A trace part to record; or, with null, segments that are only counted. */
export type TraceFact = { readonly segments: number; readonly part: TracePart | null }

type PartInput = {
  /** Not scrubbed, at least one; segments first. */
  readonly spans: readonly [Span, ...Span[]]
  readonly scrubbing: ScrubRules
  /** The number of spans in the item, if it had more. */
  readonly sent?: number
  readonly originOf: (segment: Span) => SegmentOrigin | null
}

/** A part of one trace. */
export function buildTracePart({ spans, scrubbing, sent = spans.length, originOf }: PartInput): TracePart {
  const [first] = spans
  const segment = spans.find(({ isSegment }) => isSegment)
  const stored = storedSpans(spans, scrubbing, originOf)
  return {
    traceId: first.traceId,
    part: Number.parseInt(first.spanId.slice(0, 13), 16),
    segment:
      segment === undefined
        ? null
        : {
            name: stored[spans.indexOf(segment)]?.description || segmentName(segment),
            op: spanOp(segment),
            durationMs: segment.endMs - segment.startMs,
          },
    spanCount: stored.length,
    leftOut: sent - stored.length,
    spans: encodeSpans(stored),
  }
}

export const encodeSpans = (spans: readonly StoredSpan[]): Buffer => compressZstd(Buffer.from(JSON.stringify(spans)))
