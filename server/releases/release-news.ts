import type { Database } from '../storage/database.ts'
import { publishLive } from '../live/publish.ts'

/** A release digestion met for the first time, or whose first event, session or opening it saw. */
export type ReleaseNews = { readonly orgId: string; readonly projectId: string; readonly releaseId: string }

/** News wait this long for others: a project gets one message in that time, however many releases it names. */
const GATHER_MS = 1_000

/** Tells open dashboards of releases digestion makes, at most once a second per project. */
export class ReleaseTeller {
  readonly #db: Database
  #waiting = new Map<string, { orgId: string; ids: Set<string> }>()
  #timer: NodeJS.Timeout | undefined

  constructor(db: Database) {
    this.#db = db
  }

  add(news: readonly ReleaseNews[]): void {
    for (const { orgId, projectId, releaseId } of news) {
      const project = this.#waiting.get(projectId) ?? { orgId, ids: new Set<string>() }
      this.#waiting.set(projectId, project)
      project.ids.add(releaseId)
    }
    if (this.#waiting.size === 0 || this.#timer !== undefined) return
    this.#timer = setTimeout(() => void this.#tell(), GATHER_MS).unref()
  }

  async #tell(): Promise<void> {
    const told = this.#waiting
    this.#waiting = new Map()
    this.#timer = undefined
    try {
      for (const [projectId, { orgId, ids }] of told)
        await publishLive(this.#db, orgId, { kind: 'releases', project_id: projectId, release_ids: [...ids] })
    } catch {
      // The database is away, or the process is ending: a lost message costs freshness, nothing else.
    }
  }
}
