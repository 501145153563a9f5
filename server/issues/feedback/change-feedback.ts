import { lockMember } from '../../identity/team/members.queries.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { factContext, memberBehind, requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'
import { conflict, invalid, notFound, rateLimited } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { boundOutsideMails, enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { selectIssue } from '../rows/issues.queries.ts'
import { replyMail } from './author-mails.ts'
import type { FeedbackDetail, FeedbackStatus } from './feedback.api.ts'
import type { FeedbackRow } from './feedback.queries.ts'
import { readReplyAddress } from './feedback.ts'
import {
  addEntries,
  changeMessage,
  countEntries,
  lockMessage,
  type NewEntry,
  newestReplyId,
  selectMessage,
} from './inbox.queries.ts'
import { readFeedback } from './read-inbox.ts'

type Change = {
  readonly status?: FeedbackStatus | undefined
  readonly assignee_id?: string | null | undefined
  readonly is_read?: boolean | undefined
  readonly notify_on_resolved?: boolean | undefined
}

/** Replies to one message in a day: more than members write by hand. */
const MAX_REPLIES_PER_DAY = 20
/** Notes and replies of one message. */
const MAX_WRITTEN = 500

/** @throws AppError not_found */
async function requireMessage(tx: Tx, actor: OrgActor, id: string): Promise<FeedbackRow> {
  const row = await lockMessage(tx, actor.orgId, id)
  if (row === undefined) throw notFound('Feedback')
  return row
}

const aboutMessage = (actor: OrgActor, row: FeedbackRow) => ({
  orgId: actor.orgId,
  projectId: row.project_id,
  targetId: row.id,
  // Never the author or the text: the audit log outlives both.
  label: row.id,
})

/**
 * Assigns, resolves or reopens a message, marks it as spam or as read. Values that it has already leave no trace.
 * @throws AppError not_found, invalid (assignee), conflict (no address, no open issue)
 */
export async function updateFeedback(app: App, actor: OrgActor, id: string, change: Change): Promise<FeedbackDetail> {
  await app.tx(async (tx) => {
    const row = await requireMessage(tx, actor, id)
    const context = factContext(app, actor)
    const fields: string[] = []
    const entries: NewEntry[] = []
    const entry = (kind: NewEntry['kind'], data: object): NewEntry => ({
      id: newId(),
      message_id: id,
      kind,
      actor_id: memberBehind(actor)?.userId ?? null,
      data,
      created_at: context.at,
    })
    const { status = row.status, assignee_id: assigneeId = row.assignee_id } = change
    if (status !== row.status) {
      fields.push('status')
      entries.push(entry('status_changed', { from: row.status, to: status }))
    }
    if (assigneeId !== row.assignee_id) {
      const member = assigneeId === null ? null : await lockMember(tx, actor.orgId, assigneeId)
      if (member === undefined) throw invalid('assignee_id is not a member of this organisation.')
      const before =
        row.assignee_id === null ? null : ((await selectMessage(tx, actor.orgId, id))?.assignee_name ?? null)
      fields.push('assignee_id')
      entries.push(entry('assigned', { from: before, to: member?.name ?? null }))
    }
    const { notify_on_resolved: notifies = row.notify_on_resolved } = change
    if (notifies !== row.notify_on_resolved) {
      if (notifies) await requireNotifiable(tx, actor, row)
      fields.push('notify_on_resolved')
    }
    const isRead = change.is_read ?? (row.read_at !== null || fields.length > 0)
    const isReadChanged = isRead !== (row.read_at !== null)
    if (fields.length === 0 && !isReadChanged) return
    await changeMessage(tx, id, {
      status,
      assignee_id: assigneeId,
      notify_on_resolved: notifies,
      ...(isReadChanged ? { read_at: isRead ? context.at : null } : {}),
    })
    await addEntries(tx, entries)
    const about = aboutMessage(actor, row)
    await recordFacts(tx, context, [
      fields.length === 0
        ? { kind: 'feedback.read', ...about, data: {} }
        : {
            kind: 'feedback.changed',
            ...about,
            data: { fields, ...(fields.includes('status') ? { to: status } : {}) },
          },
    ])
  })
  return readFeedback(app, actor, id)
}

/** @throws AppError conflict */
async function requireNotifiable(tx: Tx, actor: OrgActor, row: FeedbackRow): Promise<void> {
  if (readReplyAddress(row.email) === null) throw conflict('This person left no address that mail can be sent to.')
  const issue = row.shown_as === null ? undefined : await selectIssue(tx, actor, row.shown_as)
  if (issue === undefined) throw conflict('This message belongs to no issue whose resolution could be notified.')
  if (issue.status === 'resolved') throw conflict('The issue is resolved already. Write a reply instead.')
  if (row.notified_at !== null) throw conflict('This person has been notified already. Write a reply instead.')
}

/**
 * Adds a note that only members see.
 * @throws AppError not_found, conflict (too many)
 */
export async function addFeedbackNote(app: App, actor: OrgActor, id: string, body: string): Promise<FeedbackDetail> {
  await app.tx(async (tx) => {
    const row = await requireMessage(tx, actor, id)
    await requireRoom(tx, id)
    const context = factContext(app, actor)
    const { userId } = requireActingMember(actor)
    await addEntries(tx, [
      { id: newId(), message_id: id, kind: 'note', actor_id: userId, body, created_at: context.at },
    ])
    await recordFacts(tx, context, [{ kind: 'feedback.noted', ...aboutMessage(actor, row), data: {} }])
  })
  return readFeedback(app, actor, id)
}

/** @throws AppError conflict */
async function requireRoom(tx: Tx, id: string): Promise<void> {
  if ((await countEntries(tx, id, ['note', 'reply'], new Date(0))) >= MAX_WRITTEN)
    throw conflict(`This message has ${MAX_WRITTEN} notes and replies, which is the maximum.`)
}

type Reply = {
  readonly body: string
  readonly to: string
  readonly last_reply_id: string | null
  readonly notify_on_resolved?: boolean | undefined
}

/**
 * Mails an answer to the author of a message, once, when the transaction commits.
 * @throws AppError not_found; conflict without an address, with another one than the caller saw, or when another member
 * answered meanwhile; rate_limited
 */
export async function replyToFeedback(app: App, actor: OrgActor, id: string, reply: Reply): Promise<FeedbackDetail> {
  await app.tx(async (tx) => {
    const row = await requireMessage(tx, actor, id)
    const { userId } = requireActingMember(actor)
    const address = readReplyAddress(row.email)
    if (address === null)
      throw conflict('This person left no address that mail can be sent to. Write a note for the team instead.')
    if (reply.to !== address) throw conflict(`The address of this message is ${address}. Look at it and send again.`)
    if (row.status === 'spam') throw conflict('This message is marked as spam. Take it out of spam before you answer.')
    if ((await newestReplyId(tx, id)) !== reply.last_reply_id)
      throw conflict('Another reply was sent meanwhile. Read it, then send yours if it is still needed.')
    await requireRoom(tx, id)
    const context = factContext(app, actor)
    const since = new Date(context.at.getTime() - DAY_MS)
    if ((await countEntries(tx, id, ['reply'], since)) >= MAX_REPLIES_PER_DAY)
      throw rateLimited(
        `This person got ${MAX_REPLIES_PER_DAY} replies within a day. Send the next one tomorrow.`,
        3_600,
      )
    const held = (await boundOutsideMails(tx, app, actor.orgId, [address], context.at)).get(address)
    if (held !== undefined) throw rateLimited(held, 600)
    const notifies = reply.notify_on_resolved === true && !row.notify_on_resolved
    if (notifies) await requireNotifiable(tx, actor, row)
    const message = await selectMessage(tx, actor.orgId, id)
    await enqueueMails(tx, app, actor.orgId, [
      {
        ...replyMail({
          body: reply.body,
          by: requireActingMember(actor).name,
          to: row,
          project: message?.project_name ?? '',
        }),
        to: address,
        // The erasure of the author's data empties the mail.
        userId: id,
        type: 'feedback.reply',
      },
    ])
    await addEntries(tx, [
      {
        id: newId(),
        message_id: id,
        kind: 'reply',
        actor_id: userId,
        body: reply.body,
        data: { to: address },
        created_at: context.at,
      },
    ])
    await changeMessage(tx, id, {
      ...(notifies ? { notify_on_resolved: true } : {}),
      ...(row.read_at === null ? { read_at: context.at } : {}),
    })
    await recordFacts(tx, context, [{ kind: 'feedback.replied', ...aboutMessage(actor, row), data: {} }])
  })
  return readFeedback(app, actor, id)
}
