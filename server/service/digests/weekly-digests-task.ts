import { dueDigests, sendDigest, type DueDigest } from '../../alerts/alert-mails/digest-mails.ts'
import { selectMemberships } from '../../identity/auth/auth.queries.ts'
import type { JobActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { isDatabaseAway } from '../../platform/storage/pool.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { digestMail, type ProjectWeek } from './digest-mail.ts'
import { readWeek } from './read-week.ts'

/** Sends the digests that are due in their members' zones. A run that is cut off is continued by the next one. */
export const weeklyDigestsTask = defineTask({
  name: 'weekly-digests',
  payload: NoPayload,
  // Zones differ by quarters of an hour.
  cron: '1,16,31,46 * * * *',
  isSlow: true,
  run: async (app, _payload, signal) => {
    const sent = await sendDigests(app, signal)
    if (sent > 0) app.log.info({ sent }, 'digests.sent')
  },
})

/** @returns how many were sent */
export async function sendDigests(app: App, signal: AbortSignal): Promise<number> {
  let sent = 0
  // Members of an organisation follow each other: its week is read once.
  const read: { orgId: string; weeks: readonly ProjectWeek[] } = { orgId: '', weeks: [] }
  for (const due of await dueDigests(app)) {
    signal.throwIfAborted()
    try {
      const reader = await readerOf(app, due)
      if (reader === null) continue
      if (read.orgId !== due.org_id) {
        read.weeks = await readWeek(app, reader.actor, signal)
        read.orgId = due.org_id
      }
      const weeks = read.weeks.filter(({ id }) => !due.silentProjects.has(id))
      const mail = digestMail({ name: reader.orgName, publicUrl: app.config.publicUrl }, weeks)
      if (await sendDigest(app, due, mail)) sent += 1
    } catch (error) {
      if (signal.aborted || isDatabaseAway(error)) throw error
      // Others get theirs; the next run tries this one again.
      app.log.error({ org_id: due.org_id, err: error }, 'digests.failed')
    }
  }
  return sent
}

/** Reads as the member, with the least role that may. */
async function readerOf(app: App, due: DueDigest): Promise<{ actor: JobActor; orgName: string } | null> {
  const membership = (await selectMemberships(app.db, due.user_id)).find(({ org_id }) => org_id === due.org_id)
  if (membership === undefined) return null
  return {
    orgName: membership.org_name,
    actor: {
      kind: 'user',
      userId: due.user_id,
      name: due.name,
      orgId: due.org_id,
      role: 'viewer',
      sessionId: null,
      origin: { kind: 'system', operation: 'weekly-digests' },
      requestId: null,
    },
  }
}
