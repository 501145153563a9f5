import { purgeAttachments } from '../../events/attachments/purge-attachments.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { FEEDBACK_ROWS } from './feedback.queries.ts'
import { purgeRetained } from '../../projects/registry/project-rows.ts'

/** Every night, deletes files and feedback older than the retention of their project. */
export const purgeFilesTask = defineTask({
  name: 'purge-files',
  payload: NoPayload,
  cron: '41 3 * * *',
  async run(app, _payload, signal) {
    const feedback = await purgeRetained(app, FEEDBACK_ROWS, 'received_at', signal)
    app.log.info({ ...(await purgeAttachments(app, signal)), feedback }, 'files.purged')
  },
})
