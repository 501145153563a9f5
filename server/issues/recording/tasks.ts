import { z } from 'zod'
import { RENEW_TEXTS_JOB } from '../../symbols/files/announce-symbols.ts'
import { renewTexts } from './renew-texts.ts'
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

/** After files of symbols were indexed. */
export const renewTextsTask = defineTask({
  name: RENEW_TEXTS_JOB,
  payload: z.object({ project_id: z.uuid() }),
  async run(app, { project_id: projectId }, signal) {
    await renewTexts(app, projectId, signal)
  },
})
