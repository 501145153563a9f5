import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { MAX_COMMENT_CHARACTERS } from '#shared/limits.ts'
import { groupsOfEvents } from '../../events/store/store.queries.ts'
import { selectMembersByEmail } from '../../identity/team/members.queries.ts'
import { addImported, isDigested } from '../../ingest/spool/add-imported.ts'
import { issuesOfGroups } from '../../issues/rows/groups.queries.ts'
import { adoptIssue, type AdoptedComment } from '../../issues/triage/adopt-issue.ts'
import type { PreparedChange } from '../../issues/triage/change-issues.ts'
import { resolveFix } from '../../issues/triage/update-issue.ts'
import type { IntegrationActor } from '../../platform/context/actor.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { readProjectKeys } from '../../projects/registry/projects.queries.ts'
import type { Difference } from './imports.api.ts'
import { saveThing, selectThings, type Thing } from './imports.queries.ts'
import { type ProjectHere, projectHere } from './project-here.ts'
import { eventFromIssue, readEvent, type ReadEvent } from './read-event.ts'
import type { Progress, Running } from './step.ts'
import { readAll, readList, SourceComment, SourceError, SourceIssue } from './source.ts'
import { z } from 'zod'

/** Issues of a page: a page is read again when the process is killed in the middle. */
const PAGE = 25
/** The newest events of an issue that are taken. */
const EVENTS_PER_ISSUE = 3
/** Sources name the limit of a page by one of both. Without it the answer has a hundred whole events. */
const NEWEST = `per_page=${EVENTS_PER_ISSUE}&limit=${EVENTS_PER_ISSUE}`
/** Issues that are read at a time: a source answers one request in a tenth of a second or so. */
const MAX_READS = 5
/** A longer wait is one of the whole import, which a member sees. */
const MAX_WAIT_MS = 10_000
const MAX_ATTEMPTS = 5
const MAX_COMMENTS = 500
const MAX_EVENT_BYTES = 1024 * 1024
const DIGESTION_TIMEOUT_MS = 60_000
const POLL_MS = 50

/** An issue of the source, with what is read of it. */
type Read = {
  readonly issue: SourceIssue
  readonly events: readonly ReadEvent[]
  readonly comments: readonly SourceComment[]
}

/** One page of the issues of a project: their newest events, then status, assignee, counts and comments. */
export async function takeIssues(running: Running): Promise<Progress> {
  const { app, source, position } = running
  const project = await projectHere(running)
  if (project === null) return { cursor: null }
  const path = `/api/0/projects/${source.org}/${project.sourceSlug}/issues/?query=&sort=date&limit=${PAGE}`
  const page = await readList(app, source, path, SourceIssue, position.cursor)
  const differences: Difference[] = []
  const read: Read[] = []
  for (let from = 0; from < page.items.length; from += MAX_READS) {
    running.signal.throwIfAborted()
    const some = page.items.slice(from, from + MAX_READS)
    read.push(...(await Promise.all(some.map((issue) => readIssue(running, issue, differences)))))
  }
  const before = await groupsOf(running, project, read)
  await record(running, project, read)
  const groups = await groupsOf(running, project, read)
  const issues = await issuesOfGroups(app.db, [...new Set(groups.values())])
  const context = { project, groups, issues, before, ...(await lookUp(running, read)) }
  const adopted = await prepare(running, read, context, differences)
  const comments = adopted.reduce((sum, one) => sum + one.comments.length, 0)
  return {
    cursor: page.next,
    done: {
      issues: page.items.length,
      comments,
      events: [...groups.keys()].filter((eventId) => !before.has(eventId)).length,
    },
    differences,
    write: (tx) => adoptAll(running, tx, adopted),
  }
}

async function readIssue(running: Running, issue: SourceIssue, differences: Difference[]): Promise<Read> {
  const { app, source, sourceName } = running
  const of = `/api/0/issues/${issue.id}`
  const list = await patiently(running, () =>
    readList(app, source, `${of}/events/?full=true&${NEWEST}`, z.unknown()),
  ).catch(noneIfMissing)
  const events = list.items.flatMap((item) => readEvent(item) ?? []).slice(0, EVENTS_PER_ISSUE)
  const fitting = events.filter(({ body }) => body.length <= MAX_EVENT_BYTES)
  if (fitting.length < events.length)
    differences.push(difference('events', 'Larger than 1 MiB.', 'Left out.', nameOf(issue)))
  const comments =
    issue.numComments === 0
      ? []
      : await patiently(running, () => readAll(app, source, `${of}/comments/`, SourceComment, MAX_COMMENTS)).catch(
          (error: unknown) => noneIfMissing(error).items,
        )
  if (fitting.length > 0) return { issue, events: fitting, comments }
  differences.push(
    difference(
      'issues',
      'Its events are gone at the source.',
      'Made from its title, without a stack trace.',
      nameOf(issue),
    ),
  )
  // The same id when the page is read again.
  const eventId = createHash('sha256').update(`${sourceName} ${issue.id}`).digest('hex').slice(0, 32)
  return { issue, events: [eventFromIssue(issue, eventId)], comments }
}

/** Repeats one read after short waits that the source asks for: a limit in the middle of a page must not begin it again. */
async function patiently<T>({ signal }: Running, read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read()
    } catch (error) {
      const waits = error instanceof SourceError && error.kind === 'wait' && error.waitMs <= MAX_WAIT_MS
      if (!waits || attempt === MAX_ATTEMPTS) throw error
      await delay(error.waitMs, undefined, { signal })
    }
  }
}

function noneIfMissing(error: unknown): { readonly items: readonly never[] } {
  if (error instanceof SourceError && error.kind === 'missing') return { items: [] }
  throw error
}

const groupsOf = ({ app }: Running, project: ProjectHere, read: readonly Read[]): Promise<Map<string, string>> =>
  groupsOfEvents(
    app.db,
    project.id,
    read.flatMap(({ events }) => events.map(({ eventId }) => eventId)),
  )

/** Passes the events through digestion, as if they arrived: scrubbed, made readable, grouped; events known here are left out. */
async function record({ app, signal }: Running, project: ProjectHere, read: readonly Read[]): Promise<void> {
  const [key] = await readProjectKeys(app.db, project.id)
  if (key === undefined) return
  const events = read.flatMap((one) => one.events)
  const now = app.clock.now()
  const target = { projectId: project.id, projectNumber: project.number, keyId: key.id }
  const ids = await app.tx((tx) => addImported(tx, target, events, now))
  const endMs = app.clock.monotonicMs() + DIGESTION_TIMEOUT_MS
  while (!(await isDigested(app.db, project.number, ids))) {
    if (app.clock.monotonicMs() > endMs)
      throw new SourceError('wait', 'Digestion is behind: the events of this import wait for it.', 10_000)
    await delay(POLL_MS, undefined, { signal })
  }
}

type Known = {
  readonly things: ReadonlyMap<string, Thing>
  readonly comments: ReadonlyMap<string, Thing>
  readonly members: ReadonlyMap<string, string>
}

/** Things of earlier imports, and who has an account here. */
async function lookUp({ app, actor, sourceName }: Running, read: readonly Read[]): Promise<Known> {
  const emails = read.flatMap(({ issue, comments }) => [
    issue.assignedTo?.email,
    ...comments.map(({ user }) => user?.email),
  ])
  const lower = [...new Set(emails.flatMap((email) => email?.toLowerCase() ?? []))]
  const thingsOf = (kind: 'issue' | 'comment', ids: readonly string[]) =>
    selectThings(app.db, actor.orgId, sourceName, kind, ids)
  const [things, comments, members] = await Promise.all([
    thingsOf(
      'issue',
      read.map(({ issue }) => issue.id),
    ),
    thingsOf(
      'comment',
      read.flatMap((one) => one.comments.map(({ id }) => id)),
    ),
    selectMembersByEmail(app.db, actor.orgId, lower),
  ])
  return { things, comments, members: new Map(members.map(({ id, email }) => [email, id])) }
}

type Context = Known & {
  readonly project: ProjectHere
  readonly groups: ReadonlyMap<string, string>
  readonly issues: ReadonlyMap<string, string>
  readonly before: ReadonlyMap<string, string>
}

type Prepared = {
  readonly issue: SourceIssue
  readonly groupId: string
  readonly issueId: string
  readonly projectId: string
  readonly events: number
  readonly change: PreparedChange
  readonly comments: readonly (AdoptedComment & { readonly sourceId: string })[]
}

async function prepare(
  running: Running,
  read: readonly Read[],
  context: Context,
  differences: Difference[],
): Promise<Prepared[]> {
  const prepared: Prepared[] = []
  for (const { issue, events, comments } of read) {
    const groupId = events.map(({ eventId }) => context.groups.get(eventId)).find((group) => group !== undefined)
    const issueId = groupId === undefined ? undefined : context.issues.get(groupId)
    if (groupId === undefined || issueId === undefined) {
      differences.push(
        difference(
          'issues',
          'A filter, a rule or a discarded issue here refused its events.',
          'Left out.',
          nameOf(issue),
        ),
      )
      continue
    }
    if (prepared.some((one) => one.issueId === issueId))
      differences.push(
        difference(
          'issues',
          'Two issues there are one here.',
          'Counts are added, and comments are together.',
          nameOf(issue),
        ),
      )
    const added = events.filter(({ eventId }) => context.groups.has(eventId) && !context.before.has(eventId)).length
    const thing = context.things.get(issue.id)
    // An issue or project that was deleted here since comes again as a whole. Its group stays when issues are merged.
    const isKnown = thing?.id === groupId
    const counted = isKnown ? thing.quantity : 0
    prepared.push({
      issue,
      groupId,
      issueId,
      projectId: context.project.id,
      events: Math.max(0, issue.count - counted - added),
      change: await changeOf(running, issue, context, differences),
      comments: comments
        .filter(({ id }) => !isKnown || !context.comments.has(id))
        .map((comment) => commentOf(comment, context.members, differences, nameOf(issue))),
    })
  }
  return prepared
}

async function changeOf(
  { app, actor }: Running,
  issue: SourceIssue,
  { project, members }: Context,
  differences: Difference[],
): Promise<PreparedChange> {
  const { assignedTo, status, statusDetails } = issue
  const assigneeId = assignedTo?.email == null ? undefined : members.get(assignedTo.email.toLowerCase())
  if (assignedTo != null && assigneeId === undefined) {
    const reason = assignedTo.type === 'team' ? 'Assigned to a team there.' : 'The assignee has no account here.'
    differences.push(
      difference('assignees', reason, 'The issue has no assignee.', `${nameOf(issue)}: ${assignedTo.name ?? ''}`),
    )
  }
  const assignee = assigneeId === undefined ? {} : { assignee_id: assigneeId }
  if (status === 'resolved') {
    const { inRelease, inNextRelease } = statusDetails
    const asked =
      inRelease !== undefined && inRelease !== ''
        ? { in_release: inRelease }
        : inNextRelease === true
          ? { in_next_release: true as const }
          : { now: true as const }
    return {
      ...assignee,
      status: 'resolved',
      resolution: { asked, fix: await resolveFix(app, actor, project.id, asked) },
    }
  }
  if (status !== 'ignored') return assignee
  const { ignoreUntil, ignoreCount, ignoreUserCount, ignoreWindow } = statusDetails
  const until = {
    ...(ignoreUntil !== undefined && ignoreUntil > app.clock.now() ? { time: ignoreUntil.toISOString() } : {}),
    ...(ignoreCount === undefined ? {} : { count: ignoreCount }),
    ...(ignoreUserCount === undefined ? {} : { users: ignoreUserCount }),
  }
  const window =
    ignoreWindow === undefined || (ignoreCount ?? ignoreUserCount) === undefined ? {} : { window: ignoreWindow }
  const isEscalating = issue.substatus === 'archived_until_escalating'
  const condition = isEscalating ? { escalating: true as const } : { ...until, ...window }
  return { ...assignee, status: 'ignored', ignore_until: Object.keys(condition).length === 0 ? null : condition }
}

function commentOf(
  { id, data, user, dateCreated }: SourceComment,
  members: ReadonlyMap<string, string>,
  differences: Difference[],
  of: string,
): AdoptedComment & { readonly sourceId: string } {
  const authorId = user?.email == null ? null : (members.get(user.email.toLowerCase()) ?? null)
  const authorName = user?.name ?? user?.email ?? 'Someone'
  const whole = authorId === null ? `**${authorName}** wrote:\n\n${data.text}` : data.text
  if (whole.length > MAX_COMMENT_CHARACTERS)
    differences.push(difference('comments', 'Longer than 10,000 characters.', 'Cut at the end.', of))
  return {
    sourceId: id,
    body: whole.slice(0, MAX_COMMENT_CHARACTERS).toWellFormed(),
    authorId,
    authorName,
    at: dateCreated,
  }
}

/** With the position of the import: all of the page, or nothing. */
async function adoptAll(running: Running, tx: Tx, prepared: readonly Prepared[]): Promise<void> {
  const { app, actor, importId, source, sourceName } = running
  const importer: IntegrationActor = {
    kind: 'integration',
    integrationId: importId,
    name: `Import from ${new URL(source.url).host}`,
    orgId: actor.orgId,
    origin: actor.origin,
    requestId: null,
  }
  const of = { org_id: actor.orgId, source: sourceName }
  // One order for all transactions that lock issues.
  for (const one of prepared.toSorted((a, b) => (a.issueId < b.issueId ? -1 : 1))) {
    const { issue, comments } = one
    const { firstSeen, lastSeen, userCount: users } = issue
    const ids = await adoptIssue(app, tx, importer, { ...one, users, firstSeen, lastSeen }, importId)
    await saveThing(tx, { ...of, kind: 'issue', source_id: issue.id, id: one.groupId, quantity: issue.count })
    for (const [index, { sourceId }] of comments.entries())
      await saveThing(tx, { ...of, kind: 'comment', source_id: sourceId, id: ids?.[index] ?? null })
  }
}

const nameOf = ({ shortId, title, id }: SourceIssue): string => `${shortId ?? id}: ${title.slice(0, 80)}`

const difference = (kind: string, reason: string, instead: string, example: string): Difference => ({
  kind,
  count: 1,
  reason,
  instead,
  examples: [example],
})
