import type { TracesSearch } from '../../../address/search.ts'
import type { TraceOverview } from '../../../api/trace-queries.ts'
import { formatDuration } from '../../../ui/format.ts'
import { tracesTexts as texts } from './traces-texts.ts'

export const FACETS = ['result', 'op', 'name', 'release', 'environment'] as const
export type FacetName = (typeof FACETS)[number]

/** A filter as a chip above the list. */
export type Chip = {
  readonly key: string
  readonly label: string
  readonly value: string
  readonly without: TracesSearch
}

/** The set filters, each with the address without it. */
export function listChips(search: TracesSearch): Chip[] {
  const chips: Chip[] = []
  for (const name of [...FACETS, 'tag'] as const) {
    for (const value of search[name] ?? []) {
      const without = toggledValue(search, name, value)
      chips.push({ key: `${name} ${value}`, label: texts.facets[name], value, without })
    }
  }
  const { min, max } = search
  if (min !== undefined)
    chips.push({
      key: 'min',
      label: texts.facets.duration,
      value: texts.atLeast(formatDuration(Number(min))),
      without: { ...search, min: undefined },
    })
  if (max !== undefined)
    chips.push({
      key: 'max',
      label: texts.facets.duration,
      value: texts.atMost(formatDuration(Number(max))),
      without: { ...search, max: undefined },
    })
  if (search.q !== undefined)
    chips.push({ key: 'q', label: texts.facets.q, value: search.q, without: { ...search, q: undefined } })
  return chips
}

/** Sets or removes one value of a filter. */
export function toggledValue(search: TracesSearch, name: FacetName | 'tag', value: string): TracesSearch {
  const before: readonly string[] = search[name] ?? []
  const after = before.includes(value) ? before.filter((one) => one !== value) : [...before, value]
  return { ...search, [name]: after.length === 0 ? undefined : after }
}

export const NO_TRACE_FILTERS = {
  op: undefined,
  name: undefined,
  result: undefined,
  release: undefined,
  environment: undefined,
  tag: undefined,
  min: undefined,
  max: undefined,
  q: undefined,
  from: undefined,
  to: undefined,
} as const satisfies Partial<TracesSearch>

/** A trace id as a person may paste it: 32 hex digits, also with hyphens, in any case; else null. */
export function pastedTraceId(text: string): string | null {
  const plain = text.trim().toLowerCase().replaceAll('-', '')
  return /^[0-9a-f]{32}$/.test(plain) ? plain : null
}

const MIN_MS = 1

/** The axis of durations: whole powers of ten around the points. */
export function findDecades(points: TraceOverview['points']): { from: number; to: number } {
  const logs = points.map((point) => Math.log10(Math.max(MIN_MS, point.duration_ms)))
  if (logs.length === 0) return { from: 1, to: 4 }
  const to = Math.floor(Math.max(...logs)) + 1
  return { from: Math.max(0, Math.min(Math.floor(Math.min(...logs)), to - 2)), to }
}

/** Where a duration stands between two powers of ten, from 0 (bottom) to 1. */
export const toHeight = (ms: number, { from, to }: { from: number; to: number }): number =>
  Math.min(1, Math.max(0, (Math.log10(Math.max(MIN_MS, ms)) - from) / (to - from)))

/** The duration at a height. */
export const fromHeight = (height: number, { from, to }: { from: number; to: number }): number =>
  10 ** (from + height * (to - from))
