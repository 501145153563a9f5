import type { SampledPart } from './read.queries.ts'
import type { Sample } from './transaction.api.ts'

type Percentiles = { readonly p50_ms: number | null; readonly p75_ms: number | null; readonly p95_ms: number | null }

/** One trace for each reason, none twice: nearest to a percentile, the slowest, the newest with an error. Pure. */
export function chooseSamples(parts: readonly SampledPart[], { p50_ms, p75_ms, p95_ms }: Percentiles): Sample[] {
  const left = new Set(parts)
  const take = (why: Sample['why'], part: SampledPart | undefined): Sample[] => {
    if (part === undefined) return []
    for (const other of left) if (other.traceId === part.traceId) left.delete(other)
    return [{ why, trace_id: part.traceId, duration_ms: part.durationMs, at: part.at.toISOString() }]
  }
  const first = (better: (a: SampledPart, b: SampledPart) => boolean, among: Iterable<SampledPart> = left) =>
    [...among].reduce<SampledPart | undefined>((a, b) => (a === undefined || better(b, a) ? b : a), undefined)
  const nearest = (ms: number | null) =>
    ms === null ? undefined : first((a, b) => Math.abs(a.durationMs - ms) < Math.abs(b.durationMs - ms))
  return [
    ...take(
      'failed',
      first(
        (a, b) => a.at > b.at,
        [...left].filter(({ hasError }) => hasError),
      ),
    ),
    ...take(
      'slowest',
      first((a, b) => a.durationMs > b.durationMs),
    ),
    ...take('p95', nearest(p95_ms)),
    ...take('p75', nearest(p75_ms)),
    ...take('p50', nearest(p50_ms)),
  ].reverse()
}
