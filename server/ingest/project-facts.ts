import type { App } from '../context/app.ts'
import type { ScrubRules } from '../protocol/scrub.ts'
import { projectSettings } from '../team/project-settings.ts'

/** What digestion needs to know of a project. */
export type ProjectFacts = {
  readonly projectId: string
  readonly orgId: string
  readonly defaultEnvironment: string
  readonly groupingVersion: number
  readonly scrubbing: ScrubRules
}

export type ProjectFactsReader = {
  /** Null when the project does not exist (any more). */
  of(projectId: string): Promise<ProjectFacts | null>
  close(): void
}

const FRESH_MS = 60_000

/** Reads facts once a minute per project; a change of settings drops them at once. */
export function createProjectFactsReader(app: App): ProjectFactsReader {
  const known = new Map<string, { facts: ProjectFacts | null; readAtMs: number }>()
  /** How many changes were heard of: what was read before one of them is given, but not kept. */
  let changes = 0
  const stops = [
    app.bus.on('project', (payload) => {
      changes++
      const id = typeof payload === 'object' && payload !== null && 'project_id' in payload ? payload.project_id : null
      if (typeof id === 'string') known.delete(id)
      else known.clear()
    }),
    app.bus.onGap(() => {
      changes++
      known.clear()
    }),
  ]
  return {
    async of(projectId) {
      const entry = known.get(projectId)
      if (entry !== undefined && app.clock.monotonicMs() - entry.readAtMs < FRESH_MS) return entry.facts
      const changesBefore = changes
      const row = await app.db
        .selectFrom('projects')
        .select(['id', 'org_id', 'settings'])
        .where('id', '=', projectId)
        .executeTakeFirst()
      const facts = row === undefined ? null : factsOf(row.id, row.org_id, row.settings)
      if (changes === changesBefore) known.set(projectId, { facts, readAtMs: app.clock.monotonicMs() })
      return facts
    },
    close() {
      for (const stop of stops) stop()
    },
  }
}

function factsOf(projectId: string, orgId: string, stored: Record<string, unknown>): ProjectFacts {
  const settings = projectSettings(stored)
  return {
    projectId,
    orgId,
    defaultEnvironment: settings.default_environment,
    groupingVersion: settings.grouping_version,
    scrubbing: {
      sensitiveKeys: settings.scrub_fields,
      safeKeys: settings.safe_fields,
      removeAddresses: settings.scrub_ip_addresses,
    },
  }
}
