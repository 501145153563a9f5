import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { pruneCounts } from './prune-counts.ts'
import { sweepIssues } from './sweep.ts'

/** Transitions by time, a few minutes late at most. */
export const sweepIssuesTask = defineTask({
  name: 'sweep-issues',
  payload: NoPayload,
  cron: '*/5 * * * *',
  async run(app, _payload, signal) {
    await sweepIssues(app, signal)
  },
})

export const pruneCountsTask = defineTask({
  name: 'prune-issue-counts',
  payload: NoPayload,
  cron: '41 * * * *',
  async run(app, _payload, signal) {
    await pruneCounts(app, signal)
  },
})
