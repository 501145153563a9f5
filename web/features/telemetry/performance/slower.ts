import type { TransactionDetail } from '../../../api/performance-queries.ts'
import { MIN_VALUES } from '#shared/rate-words.ts'

/** Releases and tags with which a transaction is slower. Pure. */

type Part = TransactionDetail['by_release'][number]

/** A smaller growth may be chance. */
const MIN_GROWTH = 0.12
/** Fewer requests of either release say nothing about a P95. */
const MIN_REQUESTS = 100

/** The newest release with enough requests, if it is slower than the one before; null when it is not. */
export function slowerRelease(
  parts: readonly Part[],
  releases: readonly { readonly version: string; readonly at: string }[],
): { readonly release: Part; readonly previous: Part } | null {
  const at = new Map(releases.map((one) => [one.version, one.at]))
  // A release without a marker began before the range.
  const [release, previous] = parts
    .filter(({ count, name }) => count >= MIN_REQUESTS && name !== '')
    .toSorted((a, b) => (at.get(b.name) ?? '').localeCompare(at.get(a.name) ?? ''))
  if (release === undefined || previous === undefined || !at.has(release.name)) return null
  if (release.p95_ms === null || previous.p95_ms === null) return null
  return release.p95_ms / previous.p95_ms - 1 >= MIN_GROWTH ? { release, previous } : null
}

export type TagRow = Part & { readonly tag: 'environment' | 'os' | 'device_class' }

const MIN_SHARE = 0.05
const MAX_TAGS = 8

/** Values of tags with at least a twentieth of the requests, slowest first. A tag with one value tells nothing. */
export function slowerTags(data: TransactionDetail): TagRow[] {
  const rows = (tag: TagRow['tag'], parts: readonly Part[]): TagRow[] =>
    parts.length < 2 ? [] : parts.map((part) => ({ ...part, tag }))
  return [
    ...rows('environment', data.by_environment),
    ...rows('os', data.by_os),
    ...rows('device_class', data.by_device_class),
  ]
    .filter(({ count }) => count >= MIN_VALUES && count >= data.count * MIN_SHARE)
    .sort((a, b) => (b.p95_ms ?? 0) - (a.p95_ms ?? 0))
    .slice(0, MAX_TAGS)
}
