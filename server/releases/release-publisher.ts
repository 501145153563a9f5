import type { Database } from '../storage/database.ts'
import { publishLive } from '../live/publish.ts'

/** A release that digestion created or opened, or whose first event or session it recorded. */
export type ReleaseChange = { readonly orgId: string; readonly projectId: string; readonly releaseId: string }

/** Changes are collected for this long: a project gets at most one message in that time. */
const COLLECT_MS = 1_000

/** Publishes releases that digestion changes to open dashboards, at most once a second per project. */
export class ReleasePublisher {
  readonly #db: Database
  #waiting = new Map<string, { orgId: string; ids: Set<string> }>()
  #timer: NodeJS.Timeout | undefined

  constructor(db: Database) {
    this.#db = db
  }

  add(changes: readonly ReleaseChange[]): void {
    for (const { orgId, projectId, releaseId } of changes) {
      const project = this.#waiting.get(projectId) ?? { orgId, ids: new Set<string>() }
      this.#waiting.set(projectId, project)
      project.ids.add(releaseId)
    }
    if (this.#waiting.size === 0 || this.#timer !== undefined) return
    this.#timer = setTimeout(() => void this.#publish(), COLLECT_MS).unref()
  }

  async #publish(): Promise<void> {
    const changed = this.#waiting
    this.#waiting = new Map()
    this.#timer = undefined
    try {
      for (const [projectId, { orgId, ids }] of changed)
        await publishLive(this.#db, orgId, { kind: 'releases', project_id: projectId, release_ids: [...ids] })
    } catch {
      // The database is unreachable, or the process is ending: a lost message costs freshness, nothing else.
    }
  }
}
