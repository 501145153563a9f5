import type { App } from '../../platform/context/app.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import type { MailContent } from '../../platform/mails/mail-content.ts'
import { digestWeek } from '../notifications/digest-week.ts'
import { computeHoldMs, DEFAULTS, heldUntil } from '../notifications/preferences.ts'
import { selectProjectChannels } from '../notifications/projects.queries.ts'
import { readMemberPreferences } from '../notifications/read-preferences.ts'
import { claimDigest, selectDigestReaders, type DigestReader } from './digests.queries.ts'
import { unsubscribeLinks } from './enqueue-alert-mails.ts'
import { DIGEST, makeUnsubscribeToken } from './unsubscribe-token.ts'

export type DueDigest = DigestReader & {
  readonly week: string
  /** Projects that the member muted. */
  readonly silentProjects: ReadonlySet<string>
}

/** A digest that is later than this is left out: the next one follows. */
const MAX_LATE_MS = DAY_MS

/** Members whose digest of this week is due and was not sent. */
export async function dueDigests(app: App): Promise<DueDigest[]> {
  const now = app.clock.now()
  const due: DueDigest[] = []
  for (const reader of await selectDigestReaders(app.db)) {
    const { week, at } = digestWeek(now, reader.digest_time_zone)
    if (now.getTime() - at.getTime() > MAX_LATE_MS || (reader.digest_week ?? '') >= week) continue
    const channels = await selectProjectChannels(app.db, reader.org_id, reader.user_id)
    due.push({
      ...reader,
      week,
      silentProjects: new Set(channels.filter(({ email }) => !email).map((row) => row.project_id)),
    })
  }
  return due
}

/**
 * Mails a digest, once for its week, also when several processes try. The quiet hours of the member hold it.
 * @returns whether it was not sent before
 */
export function sendDigest(app: App, due: DueDigest, content: Omit<MailContent, 'name'>): Promise<boolean> {
  const { org_id: orgId, user_id: userId, week, email, name } = due
  const at = app.clock.now()
  return app.tx(async (tx) => {
    if (!(await claimDigest(tx, due, week))) return false
    const preferences = (await readMemberPreferences(tx, orgId, [userId])).get(userId) ?? DEFAULTS
    const token = makeUnsubscribeToken(app, { orgId, ruleId: DIGEST, receiver: { userId } })
    await enqueueMails(tx, app, orgId, [
      {
        ...content,
        to: email,
        name,
        userId,
        type: 'digest.weekly',
        unsubscribe: unsubscribeLinks(app.config.publicUrl, token),
        holdMs: computeHoldMs(heldUntil(preferences, 'low', at), at),
      },
    ])
    return true
  })
}
