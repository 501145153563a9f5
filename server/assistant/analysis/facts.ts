import { z } from 'zod'
import { isGranted, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { OperationInput } from '../../platform/context/operations.ts'

/** The facts that an analysis is made of, read by the operations of the API with the permissions of the caller. */

const text = z.string().nullable()
const Json = z.record(z.string(), z.unknown()).nullable()

const Frame = z.object({
  filename: text,
  abs_path: text,
  function: text,
  module: text,
  package: text,
  lineno: z.number().nullable(),
  in_app: z.boolean(),
  context_line: text,
  unreadable: z.string().optional(),
})
export type Frame = z.infer<typeof Frame>
const Stacktrace = z.object({ frames: z.array(Frame) }).nullable()

const Exception = z.object({
  type: text,
  value: text,
  module: text,
  mechanism: z
    .object({ type: text, handled: z.boolean().nullable(), description: text, data: Json, meta: Json })
    .nullable(),
  stacktrace: Stacktrace,
})
export type Exception = z.infer<typeof Exception>

const Thread = z.object({
  name: text,
  crashed: z.boolean(),
  current: z.boolean(),
  main: z.boolean(),
  stacktrace: Stacktrace,
})

const Crumb = z.object({
  timestamp: text,
  type: z.string(),
  category: text,
  level: z.string(),
  message: text,
  data: Json,
})
export type Crumb = z.infer<typeof Crumb>

const Event = z.object({
  event_id: z.string(),
  occurred_at: z.string(),
  type: z.string(),
  platform: z.string(),
  release: text,
  transaction: text,
  message: text,
  exceptions: z.array(Exception),
  threads: z.array(Thread),
  breadcrumbs: z.array(Crumb),
})
export type FactEvent = z.infer<typeof Event>

const Issue = z.object({
  id: z.string(),
  short_id: z.string(),
  project_id: z.string(),
  title: z.string(),
  culprit: z.string(),
  type: text,
  value: text,
  level: z.string(),
  platform: z.string(),
  status: z.string(),
  status_reason: text,
  status_changed_at: z.string(),
  severity: z.string(),
  first_seen: z.string(),
  last_seen: z.string(),
  event_count: z.number(),
  user_count: z.number(),
  first_release: text,
  last_release: text,
  is_unhandled: z.boolean(),
  event: Event.nullable(),
  feedback: z.array(z.object({ message: z.string(), received_at: z.string() })),
  activity: z.array(z.object({ kind: z.string(), data: z.record(z.string(), z.unknown()), created_at: z.string() })),
})

const Shared = z.object({
  events: z.number(),
  baseline_events: z.number(),
  items: z.array(
    z.object({
      key: z.string(),
      value: z.string(),
      count: z.number(),
      share: z.number(),
      baseline_share: z.number().nullable(),
      lift: z.number().nullable(),
    }),
  ),
})
export type SharedValue = z.infer<typeof Shared>['items'][number]

const ReleaseShares = z.object({
  items: z.array(z.object({ release: text, events: z.number(), share: z.number() })),
  complete: z.boolean(),
})
const Trend = z.object({ interval_seconds: z.number(), start: z.string(), counts: z.array(z.number()) })
export const EventIds = z.object({ items: z.array(z.object({ event_id: z.string() })) })
const OneEvent = z.object({ event: Event.nullable() })

const Commit = z.object({
  id: z.string(),
  message: text,
  author_name: text,
  timestamp: text,
  patch_set: z.array(z.object({ path: z.string() })),
})
export type Commit = z.infer<typeof Commit>
const Commits = z.object({ items: z.array(Commit) })
const Deploys = z.object({
  items: z.array(z.object({ environment: z.string(), finished_at: text, started_at: text, created_at: z.string() })),
})
const Releases = z.object({
  items: z.array(z.object({ id: z.string(), version: z.string(), first_seen: text })),
})

/** A release in which the issue began or came back. */
export type ReleaseFacts = {
  readonly id: string
  readonly version: string
  readonly commits: readonly Commit[]
  readonly deploys: z.infer<typeof Deploys>['items']
  /** Whether the project had a release before it: otherwise it says nothing that the issue began there. */
  readonly hasEarlier: boolean
}

export type Facts = {
  readonly issue: z.infer<typeof Issue>
  /** The newest events, in full. */
  readonly events: readonly FactEvent[]
  readonly shared: z.infer<typeof Shared>
  readonly releases: z.infer<typeof ReleaseShares>
  readonly trend: z.infer<typeof Trend>
  /** Null when it is not known, or the caller may not read releases. */
  readonly began: ReleaseFacts | null
  readonly regressed: ReleaseFacts | null
  /** The release of its newest events, when it is another one. */
  readonly latest: ReleaseFacts | null
}

/** Events whose breadcrumbs are compared. */
const MAX_EVENTS = 8
const MAX_COMMITS = 100

/**
 * Reads what is known about an issue.
 * @throws AppError not_found; forbidden when the caller may not read issues
 */
export async function gatherFacts(app: App, actor: OrgActor, issueId: string): Promise<Facts> {
  const read = async <T>(schema: z.ZodType<T>, operation: string, input: OperationInput): Promise<T> =>
    schema.parse(await app.operations.call(actor, operation, input))
  const issue = await read(Issue, 'readIssue', { params: { issueId } })
  const params = { issueId: issue.id }
  const [shared, releases, trend, { items }] = await Promise.all([
    read(Shared, 'readSharedValues', { params }),
    read(ReleaseShares, 'listIssueReleases', { params }),
    read(Trend, 'readIssueTrend', { params, query: { range: '14d' } }),
    read(EventIds, 'listIssueEvents', { params, query: { limit: String(MAX_EVENTS) } }),
  ])
  const opened = await Promise.all(
    items.map(({ event_id: eventId }) => read(OneEvent, 'readIssueEvent', { params: { ...params, eventId } })),
  )
  const events = opened.flatMap(({ event }) => event ?? [])
  const releaseOf = async (version: string | null): Promise<ReleaseFacts | null> => {
    if (version === null || !isGranted('releases.read', actor)) return null
    const project = { projectId: issue.project_id }
    const found = await read(Releases, 'listReleases', { query: { ...project, version } })
    const release = found.items[0]
    if (release === undefined) return null
    const of = { params: { releaseId: release.id } }
    const [commits, deploys, all] = await Promise.all([
      read(Commits, 'listReleaseCommits', { ...of, query: { limit: String(MAX_COMMITS) } }),
      read(Deploys, 'listDeploys', { ...of, query: {} }),
      read(Releases, 'listReleases', { query: { ...project, limit: '100' } }),
    ])
    return {
      id: release.id,
      version: release.version,
      commits: commits.items,
      deploys: deploys.items,
      hasEarlier: all.items.some(
        ({ id, first_seen }) => id !== release.id && first_seen !== null && first_seen < issue.first_seen,
      ),
    }
  }
  const { first_release: first, last_release: last } = issue
  const back = releaseOfRegression(issue)
  const [began, regressed, latest] = await Promise.all([
    releaseOf(first),
    releaseOf(back),
    releaseOf(last === first || last === back ? null : last),
  ])
  return { issue, events, shared, releases, trend, began, regressed, latest }
}

/** The release whose event reopened a fixed issue; null unless it is regressed now. */
function releaseOfRegression({ status, activity }: z.infer<typeof Issue>): string | null {
  if (status !== 'regressed') return null
  const newest = activity.find(({ kind, data }) => kind === 'status_changed' && data['to'] === 'regressed')
  const release = newest?.data['release']
  return typeof release === 'string' ? release : null
}
