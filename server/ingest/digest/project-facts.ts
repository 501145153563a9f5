import { selectProjectForDigestion } from '../../projects/registry/projects.queries.ts'
import type { App } from '../../platform/context/app.ts'
import { compileFilters, type CompiledFilters } from '../filters/compile-filters.ts'
import { compileGrouping, isGroupedByLine, type ProjectGrouping } from '../../issues/grouping/grouping.ts'
import { discardedHashes } from '../../issues/merging/discards.queries.ts'
import { criticalPathSettings } from '../../telemetry/journeys/critical-path-settings.ts'
import { compileJourneys, type JourneyMatcher } from '../../telemetry/journeys/match-journeys.ts'
import { compileOwnership, type OwnershipMatcher } from '../../issues/ownership/ownership.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import type { ScrubRules } from '../../events/protocol/scrub.ts'
import { groupingSettings } from '../../issues/grouping/grouping-settings.ts'
import { generalSettings } from '../../projects/registry/general-settings.ts'
import { forgetErased } from '../../issues/search/write-index-terms.ts'
import type { NewIssueBudget, Occurrence } from '../../issues/recording/occurrence.ts'
import { limitSettings } from '../limits/limit-settings.ts'
import { issueSettings } from '../../issues/rules/issue-settings.ts'
import { ownershipRules } from '../../issues/ownership/ownership-settings.ts'
import { scrubSettings, buildScrubbing } from '../scrubbing/scrub-settings.ts'
import { filterSettings } from '../filters/filter-settings.ts'
import { attachmentSettings } from '../../events/attachments/attachment-settings.ts'
import { recentErasures } from '../scrubbing/recent-erasures.queries.ts'
import { SpanNames } from '../../telemetry/performance/measure.ts'
import { createTraceShares, type TraceShares } from '../../telemetry/traces/trace-share.ts'
import { RuleOverruns } from '../../events/protocol/rule-budget.ts'
import type { GroupingPart } from '../../issues/grouping/grouping.api.ts'
import { bytesOfValues, type Fact } from '../../issues/search/facts.ts'
import { BoundedCache } from '../../platform/kernel/bounded-cache.ts'

/** Makes events of one project readable; null when the project has no files, which costs nothing. */
type Symbolicate = (event: Event) => Promise<Event> | null

/** Finds how the events of a project are made readable. @param needsLine whether grouping needs the line of a frame */
export type SymbolicateFor = (
  app: App,
  project: { readonly orgId: string; readonly projectId: string },
  needsLine: typeof isGroupedByLine,
) => Symbolicate

/** Settings of a project, compiled for digestion. */
export type ProjectFacts = {
  readonly projectId: string
  readonly orgId: string
  readonly defaultEnvironment: string
  readonly grouping: ProjectGrouping
  /** Fingerprints of discarded issues, base64; null for none. */
  readonly discarded: ReadonlySet<string> | null
  readonly storeProfiles: boolean
  readonly storeReplays: boolean
  readonly scrubbing: ScrubRules
  /** Which custom expressions of the scrubbing rules cost too much; null without any. */
  readonly ruleOverruns: RuleOverruns | null
  /** Number of users per day from which a crash is critical. */
  readonly manyUsers: number
  readonly newIssueBudget: NewIssueBudget
  readonly filters: CompiledFilters
  /** Null makes nothing readable. */
  readonly symbolicate: Symbolicate | null
  readonly traces: TraceShares
  readonly spanNames: SpanNames
  /** Null without rules. */
  readonly ownership: OwnershipMatcher | null
  /** Null without critical paths. */
  readonly journeys: JourneyMatcher | null
  /** User hash → time of the erasure request (ms); data received before it is not stored. Null for none. */
  readonly erasures: ReadonlyMap<number, number> | null
}

/** Whether the erasure of this user was requested after the data was received. */
export const isErased = (facts: Pick<ProjectFacts, 'erasures'>, userHash: number | null, receivedAt: Date): boolean =>
  facts.erasures !== null && userHash !== null && (facts.erasures.get(userHash) ?? 0) >= receivedAt.getTime()

export type ProjectFactsReader = {
  /** @returns null when the project does not exist */
  of(projectId: string): Promise<ProjectFacts | null>
  close(): void
}

const FRESH_MS = 60_000

/**
 * A cache of project facts for a minute; a change of settings invalidates it immediately.
 * @param symbolicateFor null makes nothing readable
 */
export function createProjectFactsReader(app: App, symbolicateFor: SymbolicateFor | null = null): ProjectFactsReader {
  const known = new Map<string, { facts: ProjectFacts | null; readAtMs: number }>()
  const overruns = createRuleOverruns(() => app.clock.monotonicMs())
  const traceShares = createTraceShares(() => app.clock.monotonicMs())
  /** Number of changes received: facts read before one of them are returned, but not cached. */
  let changes = 0
  const stops = [
    app.bus.on('project', (payload) => {
      changes++
      forgetErased()
      forgetRepeated()
      const id = typeof payload === 'object' && payload !== null && 'project_id' in payload ? payload.project_id : null
      if (typeof id === 'string') known.delete(id)
      else known.clear()
    }),
    app.bus.onGap(() => {
      changes++
      forgetErased()
      forgetRepeated()
      known.clear()
    }),
  ]
  return {
    async of(projectId) {
      const entry = known.get(projectId)
      if (entry !== undefined && app.clock.monotonicMs() - entry.readAtMs < FRESH_MS) return entry.facts
      const changesBefore = changes
      const row = await selectProjectForDigestion(app.db, projectId)
      const facts =
        row === undefined
          ? null
          : await factsOf(app, row, { overruns, symbolicateFor, traces: traceShares.of(row.org_id) })
      const nowMs = app.clock.monotonicMs()
      // Again at the end, where the newest are: facts of idle projects are not kept.
      known.delete(projectId)
      for (const [id, { readAtMs }] of known) {
        if (nowMs - readAtMs < FRESH_MS) break
        known.delete(id)
      }
      if (changes === changesBefore) known.set(projectId, { facts, readAtMs: nowMs })
      return facts
    },
    close() {
      for (const stop of stops) stop()
    },
  }
}

type Row = { id: string; org_id: string; settings: Record<string, unknown>; scrub_key_sealed: string | null }

async function factsOf(
  app: App,
  row: Row,
  {
    overruns,
    symbolicateFor,
    traces,
  }: {
    readonly overruns: (projectId: string) => RuleOverruns
    readonly symbolicateFor: SymbolicateFor | null
    readonly traces: TraceShares
  },
): Promise<ProjectFacts> {
  const limits = limitSettings(row.settings)
  const recordings = attachmentSettings(row.settings)
  const [scrubbing, discarded, erasures] = await Promise.all([
    buildScrubbing(app, row, scrubSettings(row.settings)),
    discardedHashes(app.db, row.id),
    recentErasures(app.db, row.id, app.clock.now()),
  ])
  return {
    projectId: row.id,
    orgId: row.org_id,
    defaultEnvironment: generalSettings(row.settings).default_environment,
    grouping: compileGrouping(groupingSettings(row.settings)),
    discarded,
    storeProfiles: recordings.store_profiles,
    storeReplays: recordings.store_replays,
    scrubbing,
    ruleOverruns: scrubbing.rules.some(({ pattern }) => pattern === 'custom') ? overruns(row.id) : null,
    manyUsers: issueSettings(row.settings).severity_rules.users,
    newIssueBudget: { perHour: limits.new_issues_per_hour, perDay: limits.new_issues_per_day },
    traces,
    spanNames: new SpanNames(),
    symbolicate: symbolicateFor?.(app, { orgId: row.org_id, projectId: row.id }, isGroupedByLine) ?? null,
    filters: compileFilters(filterSettings(row.settings).inbound_filters),
    journeys: compileJourneys(criticalPathSettings(row.settings).critical_paths),
    ownership: compileOwnership(ownershipRules(row.settings)),
    erasures,
  }
}

const MAX_PROJECTS = 10_000

/** Finds the overruns of a project's rules, in a digest thread. @param now a monotonic clock, in ms */
function createRuleOverruns(now: () => number): (projectId: string) => RuleOverruns {
  const ofProjects = new Map<string, RuleOverruns>()
  return (projectId) => {
    const known = ofProjects.get(projectId)
    if (known !== undefined) return known
    // Begins again for all, which costs each project three slow requests.
    if (ofProjects.size >= MAX_PROJECTS) ofProjects.clear()
    const overruns = new RuleOverruns(now)
    ofProjects.set(projectId, overruns)
    return overruns
  }
}

type Values = {
  readonly parts: readonly GroupingPart[]
  readonly texts: Occurrence['indexedTexts']
  readonly facts: Occurrence['facts']
}

/**
 * Values of the newest event of each fingerprint, by the start of its hash. The next event says nearly the same: it keeps
 * these values instead of its own, which then are collected young. What events keep until their commit is what the
 * collector copies and marks; this is two thirds of it. `issues/search/write-index-terms.ts` keeps the same objects.
 */
const newest = new BoundedCache<number, Values>({
  maxEntries: 2_048,
  maxBytes: 8 * 1_048_576,
  bytesOf: ({ parts, texts, facts }) => bytesOfValues(facts, texts) + bytesOfParts(parts),
})
const KEY_BYTES = 6

/** Returns equal values; where the event before with this fingerprint had the same, they are the same objects. */
export function repeatedValues(
  hash: Buffer,
  parts: readonly GroupingPart[],
  texts: (string | null)[],
  facts: Fact[],
): Values {
  const key = hash.readUIntLE(0, KEY_BYTES)
  const before = newest.get(key)
  const values =
    before === undefined
      ? { parts, texts, facts }
      : {
          parts: areSameParts(parts, before.parts) ? before.parts : parts,
          texts: repeatedTexts(texts, before.texts),
          facts: repeatedFacts(facts, before.facts),
        }
  newest.set(key, values)
  return values
}

/** To be called after a user was erased. */
export function forgetRepeated(): void {
  newest.clear()
}

function bytesOfParts(parts: readonly GroupingPart[]): number {
  let bytes = 0
  for (const { values } of parts)
    bytes += bytesOfValues(
      [],
      values.map(({ value }) => value),
    )
  return bytes
}

// Loops with an index: this runs for every event, and takes a third of the time of iterators and callbacks.

function areSameParts(parts: readonly GroupingPart[], before: readonly GroupingPart[]): boolean {
  if (parts.length !== before.length) return false
  for (let at = 0; at < parts.length; at++) {
    const [a, b] = [parts[at], before[at]]
    if (a === undefined || b === undefined || a.variant !== b.variant || a.values.length !== b.values.length)
      return false
    for (let i = 0; i < a.values.length; i++)
      if (a.values[i]?.value !== b.values[i]?.value || a.values[i]?.label !== b.values[i]?.label) return false
  }
  return true
}

/** @param texts changed in place */
function repeatedTexts(texts: (string | null)[], before: Values['texts']): Values['texts'] {
  let same = 0
  for (let at = 0; at < texts.length; at++) {
    const other = before[at]
    if (other === undefined || texts[at] !== other) continue
    texts[at] = other
    same++
  }
  return same === before.length && same === texts.length ? before : texts
}

/** @param facts changed in place */
function repeatedFacts(facts: Fact[], before: Values['facts']): Values['facts'] {
  let same = 0
  for (let at = 0; at < facts.length; at++) {
    const [one, other] = [facts[at], before[at]]
    if (one === undefined || other === undefined || one[1] !== other[1] || one[0] !== other[0]) continue
    facts[at] = other
    same++
  }
  return same === before.length && same === facts.length ? before : facts
}
