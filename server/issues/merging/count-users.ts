import { z } from 'zod'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { recountGroupUsers, estimateUsers } from '../rows/groups.queries.ts'
import { addJob, defineTask } from '../../platform/jobs/task.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { lockShown, usersToCount } from './merging.queries.ts'
import { rateIssues } from './rate-issues.ts'

/** Users counted in one merge or unmerge. A user of a group takes about 1.4 µs, and digestion of the shard waits. */
export const MAX_COUNTED_AT_ONCE = 50_000
const COUNT_USERS = 'count-users'

/**
 * Counts the users of locked issues whose groups changed; {@link rateIssues} must follow. Issues that together have more
 * users than {@link MAX_COUNTED_AT_ONCE}, the largest first, have those of their largest group until a job has counted them.
 */
export async function recountUsers(tx: Tx, issueIds: readonly string[]): Promise<void> {
  const users = await usersToCount(tx, issueIds)
  const usersOf = (id: string): number => users.get(id) ?? 0
  const [few, many]: [string[], string[]] = [[], []]
  let counted = 0
  for (const id of issueIds.toSorted((a, b) => usersOf(a) - usersOf(b))) {
    counted += usersOf(id)
    if (counted <= MAX_COUNTED_AT_ONCE) few.push(id)
    else many.push(id)
  }
  if (few.length > 0) await recountGroupUsers(tx, few)
  if (many.length > 0) await estimateUsers(tx, many)
  for (const id of many) await addJob(tx, COUNT_USERS, { issue_id: id }, { key: `${COUNT_USERS}:${id}` })
}

/**
 * Counts the users of an issue under its lock, which digestion needs to add users: the count is exact whenever this runs.
 * Does nothing for a merged or deleted issue.
 */
export async function countUsers(app: App, issueId: string): Promise<void> {
  await app.tx(async (tx) => {
    const issue = await lockShown(tx, issueId)
    if (issue === undefined) return
    await recountGroupUsers(tx, [issueId])
    await rateIssues(tx, [issueId], app.clock.now())
    await recordFacts(tx, factContext(app, systemActor(COUNT_USERS)), [
      { kind: 'issue.users_counted', orgId: issue.org_id, projectId: issue.project_id, issueId, data: {} },
    ])
  })
}

export const countUsersTask = defineTask({
  name: COUNT_USERS,
  payload: z.object({ issue_id: z.uuid() }),
  run: (app, { issue_id: issueId }) => countUsers(app, issueId),
})
