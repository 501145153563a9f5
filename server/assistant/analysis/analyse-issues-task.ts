import type { JobActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { purgeBefore } from '../../platform/jobs/purge.ts'
import { defineTask, NoPayload, type Task } from '../../platform/jobs/task.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import { DAY_MS, HOUR_MS } from '../../platform/kernel/day.ts'
import { analyseIssue, type AnalysisParts } from './analyse-issue.ts'
import { deleteRequest, dueRequests, REQUESTS } from './analyses.queries.ts'

/** Analyses that Faultline makes by itself, per organisation and hour. */
export const MAX_PER_HOUR = 20
const MAX_PER_RUN = 20

/** Reads the owners of an organisation. */
type SelectOwners = (
  db: Connection,
  orgId: string,
) => Promise<readonly { readonly id: string; readonly name: string }[]>

/** How issues are analysed without a member who asks. */
export type OwnParts = AnalysisParts & { readonly selectOwners: SelectOwners }

/** Every minute: analyses what waits, within the bound of its organisation. What waited for a day is dropped. */
export const analyseIssuesTask = (parts: OwnParts): Task =>
  defineTask({
    name: 'analyse-issues',
    payload: NoPayload,
    cron: '* * * * *',
    run: (app, _payload, signal) => analyseWaiting(app, parts, signal),
  })

export async function analyseWaiting(app: App, parts: OwnParts, signal: AbortSignal): Promise<void> {
  const now = app.clock.now().getTime()
  await purgeBefore(app, REQUESTS, { before: ['asked_at', new Date(now - DAY_MS)] }, signal)
  const due = await dueRequests(app.db, { since: new Date(now - HOUR_MS), perOrg: MAX_PER_HOUR, max: MAX_PER_RUN })
  for (const { issueId, orgId } of due) {
    signal.throwIfAborted()
    const reader = await readerOf(app, parts.selectOwners, orgId)
    try {
      // Without the permission of the operator nothing leaves the service by itself.
      const own = app.config.analysesCritical ? parts : { askModel: null }
      if (reader !== null) await analyseIssue(app, reader, own, issueId, { isOwn: true, signal })
    } catch (error) {
      const isGone = error instanceof AppError && error.code === 'not_found'
      if (!isGone) app.log.warn({ issue_id: issueId, err: error }, 'an issue could not be analysed')
    }
    await deleteRequest(app.db, issueId)
  }
}

/** Facts are read as an owner of the organisation, who may read all of them, with the least role that may. */
async function readerOf(app: App, selectOwners: SelectOwners, orgId: string): Promise<JobActor | null> {
  const [owner] = await selectOwners(app.db, orgId)
  if (owner === undefined) return null
  return {
    kind: 'user',
    userId: owner.id,
    name: owner.name,
    orgId,
    role: 'viewer',
    sessionId: null,
    origin: { kind: 'system', operation: 'analyse-issues' },
    requestId: null,
  }
}
