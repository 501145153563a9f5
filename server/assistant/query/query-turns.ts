import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { perApp } from '../../platform/context/per-app.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'
import { rateLimited } from '../../platform/kernel/errors.ts'

/** Queries of a member, in this process. */
const PER_MINUTE = 20
const AT_ONCE = 2
/** Statements of an organisation: there are four connections for all. */
const AT_ONCE_ORG = 2
/** For all together: as many wait for the connections as run. */
const AT_ONCE_ALL = 8

type Turns = {
  /** Times of the queries of members within a minute. */
  readonly asked: Map<string, number[]>
  /** Statements that run, by member, by organisation, and for all. */
  readonly running: Map<string, number>
}

const turns = perApp((): Turns => ({ asked: new Map(), running: new Map() }))

/**
 * Counts a query of a member, before anything is done for it.
 * @throws AppError rate_limited
 */
export function countQuery(app: App, actor: OrgActor): void {
  const quota = PER_MINUTE * app.config.rateLimitScale
  if (quota <= 0) return
  const { asked } = turns(app)
  const now = app.clock.now().getTime()
  // Members who asked nothing within a minute are forgotten: the others are as many as asked.
  for (const [key, times] of asked) {
    const recent = times.filter((at) => at > now - MINUTE_MS && at <= now)
    if (recent.length > 0) asked.set(key, recent)
    else asked.delete(key)
  }
  const { userId, orgId } = requireActingMember(actor)
  const key = `${orgId} ${userId}`
  const own = asked.get(key) ?? []
  if (own.length >= quota)
    throw rateLimited(
      `You have sent ${own.length} queries within a minute, the maximum.`,
      ((own[0] ?? now) + MINUTE_MS - now) / 1000,
    )
  asked.set(key, [...own, now])
}

/**
 * Counts a statement while it runs.
 * @throws AppError rate_limited
 */
export async function inQueryTurn<T>(app: App, actor: OrgActor, work: () => Promise<T>): Promise<T> {
  const { running } = turns(app)
  const { userId, orgId } = requireActingMember(actor)
  const bounds = [
    [`${orgId} ${userId}`, AT_ONCE, `You have ${AT_ONCE} queries that run. Wait until one of them ends.`],
    [orgId, AT_ONCE_ORG, 'Other queries of your organisation are running. Try again in a few seconds.'],
    ['all', AT_ONCE_ALL, 'Other queries are running. Try again in a few seconds.'],
  ] as const
  for (const [key, max, sentence] of bounds) if ((running.get(key) ?? 0) >= max) throw rateLimited(sentence, 3)
  const add = (change: 1 | -1): void => {
    for (const [key] of bounds) {
      const count = (running.get(key) ?? 0) + change
      if (count > 0) running.set(key, count)
      else running.delete(key)
    }
  }
  add(1)
  try {
    return await work()
  } finally {
    add(-1)
  }
}
