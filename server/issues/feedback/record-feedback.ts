import { recordFacts } from '../../history/facts/record-facts.ts'
import type { App } from '../../platform/context/app.ts'
import type { FactSubscriber } from '../../platform/context/actor.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { boundOutsideMails, enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { findIssuesByEvent, type EventKey } from '../../events/store/store.queries.ts'
import { type NewFeedback, readReplyAddress } from './feedback.ts'
import { addEntries, lockWaitingAuthors, markNotified, type WaitingAuthor } from './inbox.queries.ts'
import { resolvedMail } from './author-mails.ts'
import { findAwaited, insertFeedback, linkFeedback } from './feedback.queries.ts'
import { ACCEPTED, DUPLICATE, type Recorder } from '../../events/items/recorder.ts'
import { recordItemsOfIssues } from '../rows/view-issue.ts'

/** Stores feedback once, with the issue of its event when that is stored already, also by this batch. */
export const recordFeedback: Recorder<NewFeedback> = async (tx, context, facts) => {
  const keys = facts.map(({ fact, context }) => `${context.projectId}/${fact.feedbackId}`)
  const first = new Map(facts.map((one, index) => [keys[index] ?? '', one] as const).toReversed())
  const issues = await findIssuesByEvent(
    tx,
    facts.flatMap(({ fact: { eventId }, context: { projectId } }) =>
      eventId === null ? [] : [{ projectId, eventId }],
    ),
  )
  // A fixed order, so that two transactions do not deadlock.
  const rows = [...first].sort(([a], [b]) => (a < b ? -1 : 1))
  const inserted = await insertFeedback(
    tx,
    rows.map(([, { fact, context }]) => ({
      projectId: context.projectId,
      receivedAt: context.receivedAt,
      feedback: fact,
      issueId: issues.get(`${context.projectId}/${fact.eventId}`) ?? null,
    })),
  )
  await recordItemsOfIssues(
    tx,
    context,
    'issue.feedback_received',
    rows.flatMap(([key, { fact, context: item }]) => {
      const issueId = issues.get(`${item.projectId}/${fact.eventId}`)
      return issueId === undefined || !inserted.has(key) ? [] : [{ context: item, issueId }]
    }),
  )
  await recordFacts(
    tx,
    context,
    rows.flatMap(
      ([
        key,
        {
          context: { orgId, projectId },
        },
      ]) =>
        inserted.has(key) ? [{ kind: 'feedback.received', orgId, projectId, targetId: key, label: '', data: {} }] : [],
    ),
  )
  return facts.map((one, index) => {
    const key = keys[index] ?? ''
    return first.get(key) === one && inserted.has(key) ? ACCEPTED : DUPLICATE
  })
}

/** Links feedback that waited for these events, which were just stored, to their issues. */
export async function linkWaitingFeedback(tx: Tx, events: readonly EventKey[]): Promise<void> {
  const awaited = await findAwaited(tx, events)
  if (awaited.length > 0) await linkFeedback(tx, await findIssuesByEvent(tx, awaited))
}

/** Authors who are notified of one resolution; further ones are notified of the next. */
const MAX_NOTIFIED = 200

/** Mails the authors who asked for it that their issue is resolved: each address once, within the bounds of mails. */
export const notifyAuthors =
  (parts: Pick<App, 'sealer' | 'auditKey'>): FactSubscriber =>
  async (tx, context, facts) => {
    const resolved = facts.filter(({ kind, data }) => kind === 'issue.status_changed' && data['to'] === 'resolved')
    if (resolved.length === 0 || context.isQuiet) return
    const authors = await lockWaitingAuthors(
      tx,
      resolved.flatMap(({ issueId }) => issueId ?? []),
      MAX_NOTIFIED,
    )
    for (const [orgId, ofOrg] of Map.groupBy(authors, (author) => author.org_id))
      await notify(tx, parts, orgId, ofOrg, context)
  }

async function notify(
  tx: Tx,
  parts: Pick<App, 'sealer' | 'auditKey'>,
  orgId: string,
  authors: readonly WaitingAuthor[],
  context: Parameters<FactSubscriber>[1],
): Promise<void> {
  const byAddress = Map.groupBy(authors, ({ email }) => readReplyAddress(email) ?? '')
  byAddress.delete('')
  const held = await boundOutsideMails(tx, parts, orgId, [...byAddress.keys()], context.at)
  const notified = [...byAddress].filter(([address]) => !held.has(address))
  await enqueueMails(
    tx,
    parts,
    orgId,
    notified.flatMap(([address, [first]]) =>
      first === undefined
        ? []
        : [
            {
              ...resolvedMail({ to: first, project: first.project_name }),
              to: address,
              // The erasure of the author's data empties the mail.
              userId: first.id,
              type: 'feedback.resolved',
            },
          ],
    ),
  )
  const entryOf = (kind: 'notified' | 'not_notified', { id }: WaitingAuthor, data: object) => ({
    id: newId(),
    message_id: id,
    kind,
    actor_id: null,
    data,
    created_at: context.at,
  })
  const ofNotified = notified.flatMap(([, messages]) => messages)
  await markNotified(
    tx,
    ofNotified.map(({ id }) => id),
    context.at,
  )
  await addEntries(tx, [
    ...notified.flatMap(([address, messages]) => messages.map((one) => entryOf('notified', one, { to: address }))),
    ...[...held].flatMap(([address, reason]) =>
      (byAddress.get(address) ?? []).map((one) => entryOf('not_notified', one, { reason })),
    ),
  ])
  await recordFacts(
    tx,
    context,
    ofNotified.map(({ id, project_id: projectId }) => ({
      kind: 'feedback.author_notified' as const,
      orgId,
      projectId,
      targetId: id,
      label: id,
      data: {},
    })),
  )
}
