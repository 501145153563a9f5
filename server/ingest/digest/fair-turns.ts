import { threadCpuMs } from '../../platform/kernel/thread-task.ts'

/**
 * Who may use the thread. Organisations share it equally, and within an organisation its projects: next is always who
 * used least. What a turn used is measured afterwards, so that nothing must be known about the cost of an entry, and who
 * used more than planned waits longer. Time that no other project wants is not counted against it later.
 *
 * A commit needs the thread briefly and about a dozen times, for answers that its next step needs. While one of an
 * organisation that used little runs, the thread is left to it after each turn, for as long as the turn took, before
 * others continue that used much more.
 */
export class FairTurns {
  readonly #nowMs: () => number
  readonly #usedMs: () => number
  readonly #later: (then: () => void) => void
  readonly #after: (ms: number, then: () => void) => void
  readonly #orgs = new Map<string, Org>()
  /** Organisations with projects that wait. */
  readonly #waiting = new Set<Org>()
  /** The use of the organisation that was last chosen: one that comes after a pause starts from there. */
  #floorMs = 0
  #holder: Project | null = null
  #isScheduled = false
  #turnedAtMs = Number.NEGATIVE_INFINITY
  #usedAtStartMs = 0
  /** The organisations of each commit in work. */
  readonly #commits = new Set<ReadonlySet<string>>()
  /** Ends a wait of {@link giveWay}. */
  readonly #givingWay = new Set<() => void>()
  /** Until then the thread is left to the commits of others. */
  #leftUntilMs = Number.NEGATIVE_INFINITY
  /** Whether the end of that time is awaited. */
  #isLeft = false

  /**
   * @param usedMs what a turn uses up: default, processor time of this thread
   * @param later runs a function after what waits in the event loop
   */
  constructor({
    nowMs = () => performance.now(),
    usedMs = threadCpuMs,
    later = (then: () => void): void => void setImmediate(then),
    after = (ms: number, then: () => void): void => void setTimeout(then, ms),
  } = {}) {
    this.#nowMs = nowMs
    this.#usedMs = usedMs
    this.#later = later
    this.#after = after
  }

  /** Runs a commit with items of organisations. */
  async commit<T>(orgIds: ReadonlySet<string>, work: () => Promise<T>): Promise<T> {
    // Not the same set twice.
    const own = new Set(orgIds)
    this.#commits.add(own)
    try {
      return await work()
    } finally {
      this.#commits.delete(own)
      if (this.#commits.size === 0) for (const end of this.#givingWay) end()
      this.#schedule()
    }
  }

  /**
   * Waits while organisations commit that used much less lately, at most for a time; for work outside of the thread, which
   * takes the database.
   */
  async giveWay(orgId: string, maxMs: number): Promise<void> {
    const org = this.#orgs.get(orgId)
    if (org === undefined || maxMs <= 0 || !this.#givesWay(org)) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        this.#givingWay.delete(end)
        resolve()
      }
      this.#givingWay.add(end)
      this.#after(maxMs, end)
    })
  }

  /** Waits for a turn of the project. The caller must {@link Turn.leave}. */
  async enter(orgId: string, projectId: string): Promise<Turn & { leave(): number }> {
    const project = this.#project(orgId, projectId)
    const { org } = project
    // Time that was not used is not saved up.
    if (org.active++ === 0) org.usedMs = Math.max(org.usedMs, this.#floorMs)
    if (project.active++ === 0) project.usedMs = Math.max(project.usedMs, org.floorMs)
    let usedMs = 0
    const give = (): void => void (usedMs += this.#give(project))
    await this.#take(project)
    return {
      pause: () => {
        if (this.#nowMs() - this.#turnedAtMs < TURN_MS) return null
        give()
        return this.#take(project)
      },
      outside: async (work) => {
        give()
        try {
          return await work()
        } finally {
          await this.#take(project)
        }
      },
      leave: () => {
        give()
        org.active--
        project.active--
        this.#forgetIdle(org)
        return usedMs
      },
    }
  }

  #project(orgId: string, projectId: string): Project {
    const known = this.#orgs.get(orgId)
    const org: Org = known ?? {
      usedMs: this.#floorMs,
      recentMs: 0,
      recentAtMs: 0,
      floorMs: 0,
      active: 0,
      projects: new Map<string, Project>(),
      waiting: new Set<Project>(),
    }
    if (known === undefined) this.#orgs.set(orgId, org)
    const project: Project = org.projects.get(projectId) ?? { org, usedMs: org.floorMs, active: 0, waiting: [] }
    org.projects.set(projectId, project)
    return project
  }

  #take(project: Project): Promise<void> | null {
    // The rest of a turn continues without a pause when no project waits.
    const isFree = this.#holder === null && this.#waiting.size === 0 && this.#nowMs() - this.#turnedAtMs < TURN_MS
    if (isFree) {
      this.#start(project)
      return null
    }
    return new Promise((resolve) => {
      project.waiting.push(resolve)
      project.org.waiting.add(project)
      this.#waiting.add(project.org)
      this.#schedule()
    })
  }

  #start(project: Project): void {
    this.#holder = project
    this.#usedAtStartMs = this.#usedMs()
    this.#floorMs = Math.max(this.#floorMs, project.org.usedMs)
    project.org.floorMs = Math.max(project.org.floorMs, project.usedMs)
  }

  #give(project: Project): number {
    const usedMs = this.#usedMs() - this.#usedAtStartMs
    project.usedMs += usedMs
    project.org.usedMs += usedMs
    this.#holder = null
    const nowMs = this.#nowMs()
    project.org.recentMs = recentMsOf(project.org, nowMs) + usedMs
    project.org.recentAtMs = nowMs
    this.#leftUntilMs = nowMs + Math.min(MAX_LEFT_MS, nowMs - this.#turnedAtMs)
    this.#schedule()
    return usedMs
  }

  #schedule(): void {
    if (this.#isScheduled || this.#holder !== null || this.#waiting.size === 0) return
    this.#isScheduled = true
    this.#later(() => {
      this.#isScheduled = false
      this.#next()
    })
  }

  #next(): void {
    const org = nextOf(this.#waiting)
    const project = org === null ? null : nextOf(org.waiting)
    if (org === null || project === null || this.#holder !== null) return
    const leftMs = this.#leftUntilMs - this.#nowMs()
    if (leftMs > 0 && this.#givesWay(org)) {
      if (!this.#isLeft) {
        this.#isLeft = true
        this.#after(leftMs, () => {
          this.#isLeft = false
          this.#schedule()
        })
      }
      return
    }
    const resolve = project.waiting.shift()
    if (project.waiting.length === 0) org.waiting.delete(project)
    if (org.waiting.size === 0) this.#waiting.delete(org)
    this.#turnedAtMs = this.#nowMs()
    this.#start(project)
    resolve?.()
  }

  /** Whether an organisation commits that used much less lately. */
  #givesWay(org: Org): boolean {
    if (this.#commits.size === 0) return false
    const nowMs = this.#nowMs()
    const recentMs = recentMsOf(org, nowMs)
    for (const orgIds of this.#commits)
      for (const orgId of orgIds) {
        const other = this.#orgs.get(orgId)
        if (other === undefined || MUCH_MORE * recentMsOf(other, nowMs) < recentMs) return true
      }
    return false
  }

  #forgetIdle({ projects, floorMs }: Org): void {
    forgetIdle(projects, floorMs)
    forgetIdle(this.#orgs, this.#floorMs)
  }
}

/** The right to use the thread. */
export type Turn = {
  /** To be called often: null, or what must be awaited before going on, because the turn is over. */
  readonly pause: () => Promise<void> | null
  /** Lets others use the thread during work that does not need it. */
  readonly outside: <T>(work: () => Promise<T>) => Promise<T>
}

/** For callers that do not share the thread. */
export const OWN_THREAD: Turn = { pause: () => null, outside: (work) => work() }

/**
 * A turn ends after this time: commits wait for about a dozen answers in the same thread, which would otherwise wait
 * until a whole batch is prepared (measured with thirty: 5,500 events/s instead of 4,500).
 */
const TURN_MS = 4
/** Maximum time that is left to commits after a turn: a commit may wait for the database. */
const MAX_LEFT_MS = 100
const MUCH_MORE = 2
const RECENT_MS = 1_000
const MAX_IDLE = 1_000

type Org = {
  usedMs: number
  /** Its recent use, at a time; see {@link recentMsOf}. */
  recentMs: number
  recentAtMs: number
  /** As {@link FairTurns.#floorMs}, for its projects. */
  floorMs: number
  active: number
  readonly projects: Map<string, Project>
  readonly waiting: Set<Project>
}
type Project = { readonly org: Org; usedMs: number; active: number; readonly waiting: (() => void)[] }

/** The use of an organisation within about the last second. */
const recentMsOf = ({ recentMs, recentAtMs }: Org, nowMs: number): number =>
  recentMs * Math.exp((recentAtMs - nowMs) / RECENT_MS)

/** Who has used no more than newcomers start with is as good as new. */
function forgetIdle<T extends { usedMs: number; active: number }>(all: Map<string, T>, floorMs: number): void {
  if (all.size < MAX_IDLE) return
  for (const [key, one] of all) if (one.active === 0 && one.usedMs <= floorMs) all.delete(key)
}

/** The first of those that used least. */
function nextOf<T extends { readonly usedMs: number }>(all: Iterable<T>): T | null {
  let next: T | null = null
  for (const one of all) if (next === null || one.usedMs < next.usedMs) next = one
  return next
}
