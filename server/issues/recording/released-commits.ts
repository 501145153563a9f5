import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { RELEASE_COMMITS_JOB } from '../../projects/releases/add-commits.ts'
import { settleReleased } from './sweep.ts'

/**
 * Resolves issues of a commit in the release that just got this commit. The sweep does the same minutes later, also for
 * issues that a member resolves at the same time.
 */
export const releasedCommitsTask = defineTask({
  name: RELEASE_COMMITS_JOB,
  payload: NoPayload,
  async run(app, _payload, signal) {
    await settleReleased(app, signal)
  },
})
