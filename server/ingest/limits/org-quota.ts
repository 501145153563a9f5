import type { App } from '../../platform/context/app.ts'
import { dayOf, DAY_MS } from '../../platform/kernel/day.ts'
import type { Category } from '../../events/protocol/categories.ts'
import { addUsage } from './org-quota.queries.ts'

/** Categories that count against the quota; all others are bounded by the limits per key. */
export const QUOTA_CATEGORIES: readonly Category[] = ['error', 'transaction', 'security']

/** Maximum wait announced to a client, so that a raised quota takes effect within minutes. */
const MAX_WAIT_SECONDS = 300
const WRITE_EVERY_MS = 1_000

export type OrgQuota = {
  /**
   * Takes one event of an organisation's day (UTC).
   * @param perDay its quota; null for none, and then nothing is counted
   * @returns 0 when it may pass, else seconds to wait
   */
  take(orgId: string, perDay: number | null): number
  /** Writes this process's usage and reads the sum of all processes. */
  flush(): Promise<void>
  close(): Promise<void>
}

type Usage = { day: string; /** Of all processes, as far as written. */ written: number; unwritten: number }

/**
 * The quotas of organisations, shared by all processes through a row per organisation and day. Once a second each
 * process adds its usage and reads the sum, so together they exceed a quota by at most one second's events
 * (docs/decisions/rate-limits.md).
 */
export function createOrgQuota(app: App): OrgQuota {
  const usages = new Map<string, Usage>()
  let writing: Promise<void> = Promise.resolve()

  const write = async (): Promise<void> => {
    const due = [...usages].filter(([, usage]) => usage.unwritten > 0)
    if (due.length === 0) return
    const adding = due.map(([orgId, usage]) => ({ orgId, day: usage.day, events: usage.unwritten, usage }))
    try {
      const sums = await addUsage(app.db, adding)
      for (const { orgId, day, events, usage } of adding) {
        // If a new day started meanwhile, its usage is another object.
        if (usages.get(orgId) !== usage) continue
        usage.unwritten -= events
        usage.written = sums.get(`${orgId} ${day}`) ?? usage.written + events
      }
    } catch (error) {
      app.log.warn({ err: error instanceof Error ? error.message : String(error) }, 'usage of quotas not written yet')
    }
  }
  const flush = (): Promise<void> => (writing = writing.then(write))

  const timer = setInterval(() => void flush(), WRITE_EVERY_MS)
  timer.unref()

  return {
    take(orgId, perDay) {
      if (perDay === null) return 0
      const now = app.clock.now()
      const day = dayOf(now)
      let usage = usages.get(orgId)
      if (usage?.day !== day) {
        if (usage !== undefined && usage.unwritten > 0) {
          const { unwritten, day: before } = usage
          writing = writing.then(async () => {
            await addUsage(app.db, [{ orgId, day: before, events: unwritten }]).catch(() => {})
          })
        }
        usages.set(orgId, (usage = { day, written: 0, unwritten: 0 }))
        // Reads what was used today before this process started.
        setImmediate(() => void flush())
      }
      if (usage.written + usage.unwritten >= perDay) {
        const left = Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1000)
        return Math.max(1, Math.min(left, MAX_WAIT_SECONDS))
      }
      usage.unwritten++
      return 0
    },
    flush,
    async close() {
      clearInterval(timer)
      await flush()
    },
  }
}
