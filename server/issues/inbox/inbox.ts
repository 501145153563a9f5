import { z } from 'zod'
import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { MAX_UNREAD } from '../../history/facts/inbox.queries.ts'
import { purgeTask } from '../../platform/jobs/purge.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { cutPage, readCursor, writeCursor } from '../../platform/kernel/cursor.ts'
import { TOTAL_CAP, type Page } from '../../platform/kernel/page.api.ts'
import { severityName, shortId } from '#shared/issue-values.ts'
import { viewPerson } from '../rows/view-issue.ts'
import {
  countInbox,
  markRead,
  selectInbox,
  publishInbox,
  type Cursor,
  type InboxOwner,
  type InboxRow,
} from './inbox.queries.ts'
import type { InboxEntry } from './inbox.api.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

type ListInboxInput = {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly unread: 'true' | 'false'
}

/**
 * Notifications of one member: unread first, then newest first.
 * @throws AppError invalid (cursor)
 */
export async function listInbox(
  app: App,
  actor: OrgActor,
  input: ListInboxInput,
): Promise<Page<InboxEntry> & { unread_count: number }> {
  const member = requireActingMember(actor)
  const after = input.cursor === undefined ? null : placeAfter(input.cursor)
  const offset = after === null ? input.offset : 0
  const unreadOnly = input.unread === 'true'
  const [rows, total, unread] = await Promise.all([
    selectInbox(app.db, member, { limit: input.limit + 1, offset, after, unreadOnly }),
    countInbox(app.db, member, unreadOnly, TOTAL_CAP),
    unreadOf(app, member),
  ])
  const { shown, figures } = cutPage(rows, { limit: input.limit, offset, total }, (last) =>
    writeCursor(last.read_at === null, last.created_at, last.id),
  )
  return {
    items: shown.map(viewEntry),
    ...figures,
    unread_count: unread,
  }
}

/** Marks notifications of one member as read and updates the member's other dashboards. */
export async function markInboxRead(
  app: App,
  actor: OrgActor,
  input: { ids?: readonly string[] | undefined; before?: string | undefined },
): Promise<{ read: number; unread_count: number }> {
  const member = requireActingMember(actor)
  const which = input.before === undefined ? { ids: input.ids ?? [] } : { before: new Date(input.before) }
  const read = await app.tx(async (tx) => {
    const marked = await markRead(tx, member, which, app.clock.now())
    if (marked > 0) await publishInbox(tx, member.orgId, [member.userId])
    return marked
  })
  return { read, unread_count: await unreadOf(app, member) }
}

const unreadOf = async (app: App, member: InboxOwner): Promise<number> =>
  Math.min(await countInbox(app.db, member, true, MAX_UNREAD), MAX_UNREAD)

const viewEntry = (row: InboxRow): InboxEntry => ({
  id: row.id,
  kind: row.kind,
  sentence: row.sentence,
  actor: viewPerson(row.actor_id, row.actor_name, row.actor_email),
  issue: {
    id: row.issue_id,
    short_id: shortId(row.project_slug, row.number),
    project_id: row.project_id,
    title: row.title,
    status: row.status,
    severity: severityName(row.severity),
  },
  comment_id: row.comment_id,
  created_at: row.created_at.toISOString(),
  read_at: row.read_at?.toISOString() ?? null,
})

const CursorParts = z.tuple([z.boolean(), z.iso.datetime(), z.uuid()])

function placeAfter(cursor: string): Cursor {
  const [unread, at, id] = readCursor(cursor, CursorParts)
  return { unread, at: new Date(at), id }
}

/** Notifications stay for 90 days, read or not. */
export const purgeInboxesTask = purgeTask('purge-inboxes', '17 3 * * *', [
  { rows: ownRows('inbox_entries'), column: 'created_at', kept: { ms: 90 * DAY_MS } },
])
