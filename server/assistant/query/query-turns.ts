import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { perApp } from '../../platform/context/per-app.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'
import { rateLimited } from '../../platform/kernel/errors.ts'

/** Statements of a member, in this process. */
const PER_MINUTE = 20
const AT_ONCE = 2
/** For all members together: as many wait for the connections as run. */
const AT_ONCE_ALL = 8
const MAX_MEMBERS = 10_000

type Turns = { running: number; started: number[] }

const turns = perApp(() => ({ all: 0, members: new Map<string, Turns>() }))

/**
 * Counts a statement of a member while it runs.
 * @throws AppError rate_limited
 */
export async function inQueryTurn<T>(app: App, actor: OrgActor, work: () => Promise<T>): Promise<T> {
  const state = turns(app)
  const { userId, orgId } = requireActingMember(actor)
  const key = `${orgId} ${userId}`
  const own = state.members.get(key) ?? { running: 0, started: [] }
  const now = app.clock.now().getTime()
  own.started = own.started.filter((at) => at > now - MINUTE_MS && at <= now)
  const quota = PER_MINUTE * app.config.rateLimitScale
  if (quota > 0 && own.started.length >= quota)
    throw rateLimited(
      `You have sent ${own.started.length} queries within a minute, the maximum.`,
      ((own.started[0] ?? now) + MINUTE_MS - now) / 1000,
    )
  if (own.running >= AT_ONCE) throw rateLimited(`You have ${AT_ONCE} queries that run. Wait until one of them ends.`, 2)
  if (state.all >= AT_ONCE_ALL) throw rateLimited('Other queries are running. Try again in a few seconds.', 3)
  if (state.members.size > MAX_MEMBERS) state.members.clear()
  state.members.set(key, own)
  if (quota > 0) own.started.push(now)
  own.running++
  state.all++
  try {
    return await work()
  } finally {
    own.running--
    state.all--
  }
}
