import { deleteAlertsOfIssues } from '../../alerts/rules/fired.queries.ts'
import { systemActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { removeIssue } from '../../issues/merging/delete-issue.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { CANARY_ORG_ID } from '../../platform/kernel/ids.ts'
import { deleteOldRuns, markRemoved, selectIssuesOfRun, selectToRemove } from './canary.queries.ts'

const ACTOR = { ...systemActor('canary'), orgId: CANARY_ORG_ID }

/** Deletes issues and alerts of runs that have served. May be interrupted at any time. */
export async function removeRuns(app: App, signal: AbortSignal): Promise<void> {
  for (const runId of await selectToRemove(app.db)) {
    if (signal.aborted) return
    const issueIds = await selectIssuesOfRun(app.db, runId)
    await app.tx((tx) => deleteAlertsOfIssues(tx, CANARY_ORG_ID, issueIds))
    for (const issueId of issueIds) await removeIssue(app, ACTOR, issueId, { within: () => Promise.resolve() })
    await markRemoved(app.db, runId)
  }
  await deleteOldRuns(app.db)
}

export const removeCanaryRunsTask = defineTask({
  name: 'remove-canary-runs',
  payload: NoPayload,
  cron: '*/10 * * * *',
  run: (app, _payload, signal) => removeRuns(app, signal),
})
