import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'
import { purgeRows } from '../../platform/jobs/purge.ts'
import { DELIVERY_ROWS } from './code-hosts.queries.ts'
import { deleteOldCommits } from './commits.queries.ts'

/** Known commits of a project. */
const MAX_COMMITS = 20_000

/** Deletes deliveries after the time in which they are taken once, and commits beyond the bound of their project. */
export const purgeCodeHostsTask = defineTask({
  name: 'purge-code-hosts',
  payload: NoPayload,
  cron: '17 * * * *',
  async run(app, _payload, signal) {
    await purgeRows(app, [{ rows: DELIVERY_ROWS, column: 'received_at', kept: { ms: 3 * DAY_MS } }], signal)
    await deleteOldCommits(app.db, MAX_COMMITS)
  },
})
