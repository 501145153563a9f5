import { z } from 'zod'
import { systemActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { factContext } from '../context/fact-context.ts'
import { recordFacts } from '../facts/record-facts.ts'
import { countUsersOf, estimateUsersOf } from '../issue-rows/groups.queries.ts'
import { addJob, defineTask } from '../jobs/task.ts'
import type { Tx } from '../storage/database.ts'
import { lockShown, usersToCount } from './merging.queries.ts'
import { rateIssues } from './rate-issues.ts'

/** Counting takes about 1.4 µs for each user of a group: digestion of the project waits for the merge. */
export const MAX_COUNTED_AT_ONCE = 50_000
const COUNT_USERS = 'count-users'

/**
 * Counts the users of locked issues whose groups changed; {@link rateIssues} must follow. Issues with more users than
 * {@link MAX_COUNTED_AT_ONCE} have those of their largest group until a job has counted them.
 */
export async function recountUsers(tx: Tx, issueIds: readonly string[]): Promise<void> {
  const users = await usersToCount(tx, issueIds)
  const few = issueIds.filter((id) => (users.get(id) ?? 0) <= MAX_COUNTED_AT_ONCE)
  const many = issueIds.filter((id) => !few.includes(id))
  if (few.length > 0) await countUsersOf(tx, few)
  if (many.length > 0) await estimateUsersOf(tx, many)
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
    await countUsersOf(tx, [issueId])
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
