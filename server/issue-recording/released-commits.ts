import { defineTask, NoPayload } from '../jobs/task.ts'
import { RELEASE_COMMITS_JOB } from '../releases/add-commits.ts'
import { settleReleased } from './sweep.ts'

/**
 * Issues resolved in a commit that came with a release just now are fixed in that release. The sweep does the same
 * minutes later, also for those somebody resolves at this very moment.
 */
export const releasedCommitsTask = defineTask({
  name: RELEASE_COMMITS_JOB,
  payload: NoPayload,
  async run(app, _payload, signal) {
    await settleReleased(app, signal)
  },
})
