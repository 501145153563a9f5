import { orgOpener } from '../../identity/auth/org-sealer.ts'
import { deleteEventAttachments } from '../../events/attachments/attachments.queries.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { isDeletionPending } from '../../events/store/bodies.ts'
import { deleteEventsOfUser, readEvent } from '../../events/store/store.queries.ts'
import { deleteUserFeedback } from '../../issues/feedback/feedback.queries.ts'
import {
  eraseUsersFromIssue,
  issuesOfUser,
  lockIssueForErasure,
  type IssueTexts,
} from '../../issues/triage/erase-user.queries.ts'
import { awaitFold } from '../../issues/recording/await-fold.ts'
import { listEventFacts, listIndexedTexts } from '../../issues/search/facts.ts'
import { readStoredEvent, type StoredEvent } from '../../events/store/event.ts'
import { RuleBudget } from '../../events/protocol/rule-budget.ts'
import { scrubEvent, type ScrubRules, withBudget } from '../../events/protocol/scrub.ts'
import { hashUser } from '../../events/protocol/user.ts'
import { eraseFromQuarantine, isDigestedUpTo } from '../../ingest/spool/erase-from-spool.ts'
import { scrubSettings, buildScrubbing } from '../../ingest/scrubbing/scrub-settings.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import { publish } from '../../platform/storage/bus.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { ERASERS, type UserToErase } from './erasers.ts'
import { countErased, finishErasure, readErasure, type ErasureRow } from './erasures.queries.ts'
import { keyPlace } from './key-place.ts'
import { mentionsUser } from './mentions-user.ts'

/** Events per transaction. Each is a row, its index entries and perhaps files. */
const MAX_EVENTS = 500
const MAX_ISSUES_PER_PAGE = 50

/**
 * Continues an erasure in small transactions. It is done when a full pass started after everything received before the
 * request was digested; until then it stays `running`, and the next call continues. Two may run in parallel.
 */
export async function continueErasure(app: App, erasureId: string, signal: AbortSignal): Promise<void> {
  const erasure = await readErasure(app.db, erasureId)
  if (erasure === undefined || erasure.state === 'done') return
  const user = await userToErase(app, erasure)
  if (user === null) return
  // Checked first: later digestion is covered by the next pass. Users of events are known, and their texts are in issues,
  // when they are folded. Deletions from a day that is being packed reach its copy when packing ends, and object storage a few minutes later.
  const isLastPass =
    (await isDigestedUpTo(app, erasure.requested_at)) &&
    (await awaitFold(app, signal)) &&
    !(await isDeletionPending(app.db))
  for (;;) {
    const issueIds = await issuesOfUser(app.db, user.projectId, user.userHashes, MAX_ISSUES_PER_PAGE)
    for (const issueId of issueIds) {
      await eraseInIssue(app, erasure.id, user, issueId, signal)
      if (signal.aborted) return
    }
    if (issueIds.length < MAX_ISSUES_PER_PAGE) break
  }
  for (const erase of ERASERS) {
    if (signal.aborted) return
    await countErased(app.db, erasure.id, await erase(app, user, signal))
  }
  if (signal.aborted) return
  const requests = await eraseFromQuarantine(app, user.projectId, (entry) => mentionsUser(entry, user.userKey))
  await countErased(app.db, erasure.id, { quarantined_requests: requests })
  // This pass itself may have left work for packing and for object storage.
  if (!isLastPass || (await isDeletionPending(app.db))) return
  await finishErasure(app.db, erasure.id, app.clock.now())
  // Digestion remembers what it wrote of the user, which is deleted now.
  await publish(app.db, 'project', { project_id: user.projectId })
  const erased = (await readErasure(app.db, erasure.id))?.erased
  app.log.info({ project_id: user.projectId, org_id: user.orgId, erasure_id: erasure.id, erased }, 'user.erased')
}

async function userToErase(app: App, erasure: ErasureRow): Promise<UserToErase | null> {
  const project = await readProject(app.db, erasure.org_id, erasure.project_id)
  if (project === null || erasure.user_key_sealed === null) return null
  const opener = await orgOpener(app, erasure.org_id)
  const userKey = opener
    .open(erasure.user_key_sealed, keyPlace(erasure.project_id, erasure.user_hash, erasure.org_id))
    .toString()
  const scrubbing = await buildScrubbing(app, project, scrubSettings(project.settings))
  const userKeys = [...new Set([userKey, ...scrubbedKeys(userKey, scrubbing)])]
  return {
    projectId: erasure.project_id,
    orgId: erasure.org_id,
    userKey,
    userKeys,
    userHashes: userKeys.map((key) => hashUser(erasure.project_id, key)),
  }
}

/** Hashes of the user's id by the project's hashing rules: events received since the rule have only these hashes. */
function scrubbedKeys(userKey: string, rules: ScrubRules): string[] {
  const scrubbing = withBudget(rules, new RuleBudget())
  return ['id', 'username', 'email', 'ip_address'].flatMap((field) => {
    const name = `user.${field}`
    const probe: { user?: Record<string, unknown>; attributes?: Record<string, unknown> } = {
      user: { [field]: userKey },
      attributes: { [name]: userKey },
    }
    scrubEvent(probe, scrubbing)
    // Only a hash identifies the user: other replacements are the same for every user.
    return [probe.user?.[field], probe.attributes?.[name]].filter(
      (left) => typeof left === 'string' && /^hash:[0-9a-f]{24}$/.test(left),
    ) as string[]
  })
}

async function eraseInIssue(
  app: App,
  erasureId: string,
  user: UserToErase,
  issueId: string,
  signal: AbortSignal,
): Promise<void> {
  let read: StoredEvent | null | undefined
  while (!signal.aborted) {
    const erased = await erasePart(app, erasureId, user, issueId, read)
    if (erased === null) return
    // Only the last part needs it. Also from object storage, which a transaction cannot read.
    read = erased < MAX_EVENTS ? await readEvent(app.db, issueId, 'latest') : undefined
  }
}

/**
 * Erases events of a user from an issue, at most {@link MAX_EVENTS}, or, when there are none, its texts.
 * @param read the newest event, as it was before; without it, no texts
 * @returns how many events; null when it is done
 */
async function erasePart(
  app: App,
  erasureId: string,
  user: UserToErase,
  issueId: string,
  read: StoredEvent | null | undefined,
): Promise<number | null> {
  return app.tx(async (tx) => {
    const issue = await lockIssueForErasure(tx, user.projectId, issueId)
    if (issue === null) return null
    const events = await deleteEventsOfUser(tx, issueId, user.userHashes, MAX_EVENTS)
    const eventIds = events.map(({ eventId }) => eventId)
    const feedbackIds: string[] = []
    for (const userHash of eventIds.length === 0 ? [] : user.userHashes)
      feedbackIds.push(...(await deleteUserFeedback(tx, user.projectId, { userHash, eventIds })))
    // Files are stored under the id of their event or feedback.
    const files = await deleteEventAttachments(tx, user.projectId, [...eventIds, ...feedbackIds])
    await countErased(tx, erasureId, { events: events.length, attachments: files, feedback: feedbackIds.length })
    // The event that was read may be theirs.
    if (events.length > 0 || read === undefined) return events.length
    const texts = await remainingTexts(tx, issueId, issue.errorType, read)
    await eraseUsersFromIssue(tx, issueId, user.userHashes, texts)
    await countErased(tx, erasureId, { issues: 1 })
    await recordFacts(tx, factContext(app, systemActor('erase-user')), [
      { kind: 'issue.user_erased', orgId: user.orgId, projectId: user.projectId, issueId, data: {} },
    ])
    return null
  })
}

/**
 * Title and texts of the issue from its newest remaining event; without one, or with one that cannot be read, only the error
 * type.
 * @param read the newest event, as it was before
 */
async function remainingTexts(
  tx: Tx,
  issueId: string,
  errorType: string | null,
  read: StoredEvent | null,
): Promise<IssueTexts> {
  const last = await readEvent(tx, issueId, 'latest')
  const newest = last?.isAway === true && read?.eventId === last.eventId ? read : last
  if (newest === null || newest.isAway === true) {
    const title = errorType ?? 'Erased'
    return {
      title,
      culprit: '',
      errorType,
      errorValue: null,
      texts: [title],
      facts: [],
      eventId: null,
    }
  }
  const event = readStoredEvent(newest)
  return {
    title: event.title,
    culprit: event.culprit,
    errorType: event.error_type,
    errorValue: event.error_value,
    texts: listIndexedTexts(event),
    facts: listEventFacts(event),
    eventId: newest.eventId,
  }
}
