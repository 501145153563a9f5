import { selectProjectForDigestion } from '../../projects/registry/recording.queries.ts'
import type { App } from '../../platform/context/app.ts'
import { compileFilters, type CompiledFilters } from '../filters/compile-filters.ts'
import { compileGrouping, isGroupedByLine, type ProjectGrouping } from '../../issues/grouping/grouping.ts'
import { discardedHashes } from '../../issues/merging/discards.queries.ts'
import { criticalPathSettings } from '../../telemetry/journeys/critical-path-settings.ts'
import { compileJourneys, type JourneyMatcher } from '../../telemetry/journeys/match-journeys.ts'
import { compileOwnership, type OwnershipMatcher } from '../../issues/ownership/ownership.ts'
import type { RuleOverruns } from '../../events/protocol/rule-budget.ts'
import type { ScrubRules } from '../../events/protocol/scrub.ts'
import { groupingSettings } from '../../issues/grouping/grouping-settings.ts'
import { generalSettings } from '../../projects/registry/general-settings.ts'
import { forgetErased } from '../../issues/search/write-index-terms.ts'
import type { NewIssueBudget } from '../../issues/recording/occurrence.ts'
import { limitSettings } from '../limits/limit-settings.ts'
import { issueSettings } from '../../issues/rules/issue-settings.ts'
import { ownershipSettings } from '../../issues/ownership/ownership-settings.ts'
import { scrubSettings } from '../scrubbing/scrub-settings.ts'
import { filterSettings } from '../filters/filter-settings.ts'
import { attachmentSettings } from '../../events/attachments/attachment-settings.ts'
import { buildScrubbing } from '../scrubbing/scrubbing-of.ts'
import { recentErasures } from '../scrubbing/recent-erasures.queries.ts'
import { type Symbolicate, symbolicateFor } from '../../symbols/symbolication/symbolicator.ts'
import { createTraceShares, type TraceShares } from '../../telemetry/traces/trace-share.ts'
import { forgetRepeated } from './repeated-values.ts'
import { createRuleOverruns } from './rule-overruns.ts'

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

/** A cache of project facts for a minute; a change of settings invalidates it immediately. */
export function createProjectFactsReader(app: App): ProjectFactsReader {
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
      const facts = row === undefined ? null : await factsOf(app, row, overruns, traceShares.of(projectId))
      if (changes === changesBefore) known.set(projectId, { facts, readAtMs: app.clock.monotonicMs() })
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
  overruns: (projectId: string) => RuleOverruns,
  traces: TraceShares,
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
    symbolicate: symbolicateFor(app, { orgId: row.org_id, projectId: row.id }, isGroupedByLine),
    filters: compileFilters(filterSettings(row.settings).inbound_filters),
    journeys: compileJourneys(criticalPathSettings(row.settings).critical_paths),
    ownership: compileOwnership(ownershipSettings(row.settings).ownership_rules),
    erasures,
  }
}
