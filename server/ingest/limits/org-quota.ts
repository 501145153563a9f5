import type { App } from '../../platform/context/app.ts'
import { utcDay, DAY_MS } from '../../platform/kernel/day.ts'
import type { Category } from '../../events/protocol/envelope.ts'
import { writeRegularly, type RegularWrites } from './regular-writes.ts'
import { addUsage, type UsageToAdd } from './org-quota.queries.ts'

/** Categories that count against the quota; all others are bounded by the limits per key. */
export const QUOTA_CATEGORIES: readonly Category[] = ['error', 'transaction', 'security']

/** Maximum wait announced to a client, so that a raised quota takes effect within minutes. */
const MAX_WAIT_SECONDS = 300
const WRITE_EVERY_MS = 1_000

/** `flush` writes this process's usage and reads the sum of all processes. */
export type OrgQuota = RegularWrites & {
  /**
   * Takes one event of an organisation's day (UTC).
   * @param perDay its quota; null for none, and then nothing is counted
   * @returns 0 when it may pass, else seconds to wait
   */
  take(orgId: string, perDay: number | null): number
}

type Usage = { day: string; /** Items of all processes, as far as written. */ written: number; unwritten: number }

/**
 * The quotas of organisations, shared by all processes through a row per organisation and day. Once a second each
 * process adds its usage and reads the sum, so together they exceed a quota by at most one second's events
 * (docs/decisions/rate-limits.md).
 */
export function createOrgQuota(app: App): OrgQuota {
  const usages = new Map<string, Usage>()
  /** Usage of days that have ended. */
  const ended: UsageToAdd[] = []

  const write = async (): Promise<void> => {
    for (const usage of ended.splice(0)) await addUsage(app.db, [usage]).catch(() => {})
    const due = [...usages].filter(([, usage]) => usage.unwritten > 0)
    if (due.length === 0) return
    const adding = due.map(([orgId, usage]) => ({ orgId, day: usage.day, events: usage.unwritten, usage }))
    const sums = await addUsage(app.db, adding)
    for (const { orgId, day, events, usage } of adding) {
      // If a new day started meanwhile, its usage is another object.
      if (usages.get(orgId) !== usage) continue
      usage.unwritten -= events
      usage.written = sums.get(`${orgId} ${day}`) ?? usage.written + events
    }
  }
  const writes = writeRegularly(app, { everyMs: WRITE_EVERY_MS, failed: 'usage of quotas not written yet', write })

  return {
    ...writes,
    take(orgId, perDay) {
      if (perDay === null) return 0
      const now = app.clock.now()
      const day = utcDay(now)
      let usage = usages.get(orgId)
      if (usage?.day !== day) {
        if (usage !== undefined && usage.unwritten > 0) ended.push({ orgId, day: usage.day, events: usage.unwritten })
        usages.set(orgId, (usage = { day, written: 0, unwritten: 0 }))
        // Reads what was used today before this process started.
        setImmediate(() => void writes.flush())
      }
      if (usage.written + usage.unwritten >= perDay) {
        const left = Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1000)
        return Math.max(1, Math.min(left, MAX_WAIT_SECONDS))
      }
      usage.unwritten++
      return 0
    },
  }
}
