import type { EventPlace } from '../../events/store/store.queries.ts'
import type { Grouped } from '../grouping/grouping.ts'
import type { FingerprintRule, GroupingRules, StackRule } from '../grouping/grouping-rules.api.ts'
import type { GroupingPreview } from './merging.api.ts'

const MAX_SHOWN = 50
const MAX_PARTS = 10

type IssueName = {
  readonly id: string
  readonly targetId: string
  readonly short_id: string
  readonly title: string
}

type Cell = {
  readonly before: string
  readonly after: string
  readonly title: string
  readonly eventId: string
  events: number
}

/** The issue that stores the events → both fingerprints → the events with these two. */
type Cells = Map<string, Map<string, Cell>>

/** Events under two groupings. */
export type Regrouped = {
  readonly cells: Cells
  readonly rules: Pick<GroupingPreview, 'fingerprint_rules' | 'stack_rules'>
}

/**
 * Collects events under two groupings. Hashes of two grouping versions are never equal, so what is compared is which events
 * are together: in the issues of their current fingerprints, and by their proposed fingerprints.
 */
export class Regrouping {
  readonly #rules: GroupingRules
  readonly #cells: Cells = new Map()
  readonly #byFingerprintRule = new Map<FingerprintRule, { events: number; issues: Set<string> }>()
  readonly #byStackRule = new Map<StackRule, number>()

  constructor(rules: GroupingRules) {
    this.#rules = rules
  }

  add(place: Pick<EventPlace, 'issueId' | 'eventId'>, now: Grouped, then: Grouped): void {
    const cells = this.#cells.get(place.issueId) ?? new Map<string, Cell>()
    this.#cells.set(place.issueId, cells)
    const [before, after] = [now.fingerprint.hash.toString('base64'), then.fingerprint.hash.toString('base64')]
    const cell = cells.get(before + after)
    if (cell === undefined)
      cells.set(before + after, {
        before,
        after,
        title: then.title ?? then.event.title,
        eventId: place.eventId,
        events: 1,
      })
    else cell.events++
    const { fingerprint, stack } = then.rules
    if (fingerprint !== null) {
      const hits = this.#byFingerprintRule.get(fingerprint) ?? { events: 0, issues: new Set() }
      this.#byFingerprintRule.set(fingerprint, hits)
      hits.events++
      hits.issues.add(place.issueId)
    }
    for (const rule of stack) this.#byStackRule.set(rule, (this.#byStackRule.get(rule) ?? 0) + 1)
  }

  result(): Regrouped {
    return {
      cells: this.#cells,
      rules: {
        fingerprint_rules: this.#rules.fingerprint.map((rule) => {
          const hits = this.#byFingerprintRule.get(rule)
          return { events: hits?.events ?? 0, issues: hits?.issues.size ?? 0 }
        }),
        stack_rules: this.#rules.stack.map((rule) => ({ events: this.#byStackRule.get(rule) ?? 0 })),
      },
    }
  }
}

/** @param names of the issues that store the events, each with its merge target */
export function describeRegrouping(
  { cells: byIssue, rules }: Regrouped,
  names: ReadonlyMap<string, IssueName>,
): Omit<GroupingPreview, 'looked_at' | 'of' | 'oldest_at'> {
  const issues = new Map<string, Cell[]>()
  for (const [id, cells] of byIssue) {
    const targetId = names.get(id)?.targetId
    // The issue was deleted meanwhile.
    if (targetId !== undefined) issues.set(targetId, [...(issues.get(targetId) ?? []), ...cells.values()])
  }
  const shown = (id: string) => {
    const name = names.get(id)
    return { id, short_id: name?.short_id ?? '', title: name?.title ?? '' }
  }
  const merges = mergesOf(issues)
  const splits = splitsOf(issues)
  return {
    issues: issues.size,
    moved: movedOf(issues, merges),
    merges: merges
      .slice(0, MAX_SHOWN)
      .map(({ ids, events }) => ({ issues: ids.slice(0, MAX_SHOWN).map(shown), events })),
    merges_total: merges.length,
    splits: splits.slice(0, MAX_SHOWN).map(({ id, parts }) => ({ issue: shown(id), parts: parts.slice(0, MAX_PARTS) })),
    splits_total: splits.length,
    ...rules,
  }
}

type Issues = ReadonlyMap<string, readonly Cell[]>

const eventsOf = (cells: readonly Cell[]): number => cells.reduce((sum, cell) => sum + cell.events, 0)

/** Issues whose events would have the same fingerprint. */
function mergesOf(issues: Issues): { ids: string[]; events: number }[] {
  const byAfter = new Map<string, Map<string, number>>()
  for (const [id, cells] of issues) {
    for (const { after, events } of cells) {
      const ids = byAfter.get(after) ?? new Map<string, number>()
      byAfter.set(after, ids)
      ids.set(id, (ids.get(id) ?? 0) + events)
    }
  }
  return [...byAfter.values()]
    .filter((ids) => ids.size > 1)
    .map((ids) => ({
      ids: [...ids].toSorted((a, b) => b[1] - a[1]).map(([id]) => id),
      events: [...ids.values()].reduce((sum, events) => sum + events, 0),
    }))
    .toSorted((a, b) => b.events - a.events)
}

type Part = { title: string; event_id: string; events: number }

/** Issues with a current fingerprint that would become several. */
function splitsOf(issues: Issues): { id: string; parts: Part[] }[] {
  const splits: { id: string; parts: Part[]; events: number }[] = []
  for (const [id, cells] of issues) {
    const groups = groupBy(cells, (cell) => cell.before)
    if (![...groups.values()].some((group) => new Set(group.map(({ after }) => after)).size > 1)) continue
    const parts = [...groupBy(cells, (cell) => cell.after).values()].map((group) => ({
      title: group[0]?.title ?? '',
      event_id: group[0]?.eventId ?? '',
      events: eventsOf(group),
    }))
    splits.push({ id, parts: parts.toSorted((a, b) => b.events - a.events), events: eventsOf(cells) })
  }
  return splits.toSorted((a, b) => b.events - a.events)
}

/** The number of events that change to another issue: all except the largest part of each split and each merge. */
function movedOf(issues: Issues, merges: readonly { events: number }[]): number {
  let moved = 0
  for (const cells of issues.values()) {
    for (const group of groupBy(cells, (cell) => cell.before).values()) {
      const parts = [...groupBy(group, (cell) => cell.after).values()].map(eventsOf)
      moved += eventsOf(group) - Math.max(...parts)
    }
  }
  return moved + (merges.length === 0 ? 0 : joinedOf(issues))
}

/** The number of events that would be added to an issue with more events of the same fingerprint. */
function joinedOf(issues: Issues): number {
  const byAfter = new Map<string, number[]>()
  for (const cells of issues.values()) {
    for (const [after, group] of groupBy(cells, (cell) => cell.after))
      byAfter.set(after, [...(byAfter.get(after) ?? []), eventsOf(group)])
  }
  return [...byAfter.values()].reduce(
    (sum, counts) => sum + counts.reduce((all, count) => all + count, 0) - Math.max(...counts),
    0,
  )
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
