import { systemActor } from '../context/actor.ts'
import type { Tx } from '../storage/database.ts'
import type { App } from '../context/app.ts'
import { dayOf, dayPlus } from '../kernel/day.ts'
import { newId } from '../kernel/ids.ts'
import { publishLive } from '../live/publish.ts'
import { issueSettings } from '../issue-rules/issue-settings.ts'
import { selectAllSettings } from '../projects/projects.queries.ts'
import { rankOf } from '../issue-rules/impact.ts'
import { plural } from '../issue-rules/ignoring.ts'
import { severityName } from '../issue-rules/issue.ts'
import { lifeFrom } from '../issue-rules/life-columns.ts'
import { commitReleased, onTime, type Entry, type Transition } from '../issue-rules/life-cycle.ts'
import { writeEntries, writeLives } from '../issue-rows/life.queries.ts'
import { notificationKind, notifySubscribers } from './assign-and-notify.ts'
import type { IssueTransition } from './apply-events.ts'
import { eventSeverityFrom } from '../issue-rules/severity.ts'
import * as sql from './sweep.queries.ts'

/** What time alone does to issues. Every sweep may run twice, at once, and beside digestion. */

/** Changes that time alone makes are the system's. */
const SWEEP = systemActor('sweep-issues')

type Lock<Row extends sql.SweptRow = sql.SweptRow> = (tx: Tx) => Promise<Row[]>

/**
 * Ends ignoring whose time has come, calms escalated issues down, resolves what nobody met for long, names the releases
 * of commits that fixed something, and lets severity fall that was high because of many users. In pieces, each a transaction.
 * @returns what alerts fire on
 */
export async function sweepIssues(app: App, signal?: AbortSignal): Promise<IssueTransition[]> {
  const now = app.clock.now()
  const transitions: IssueTransition[] = []
  const byTime = (days: (projectId: string) => number) => (row: sql.SweptRow) =>
    onTime(lifeFrom(row), { now, lastSeen: row.last_seen, autoResolveDays: days(row.project_id) })
  const sweep = <Row extends sql.SweptRow>(lock: Lock<Row>, step: (row: Row) => Transition) =>
    inBatches(signal, () => applyBatch(app, now, lock, step, transitions))

  await sweep(
    (tx) => sql.lockIgnoredUntil(tx, now),
    byTime(() => 0),
  )
  for (const { projects, days } of await autoResolvingProjects(app, now)) {
    await sweep(
      (tx) => sql.lockQuiet(tx, projects),
      byTime((id) => days.get(id) ?? 0),
    )
  }
  await sweep(
    (tx) => sql.lockCalm(tx, now),
    byTime(() => 0),
  )
  await settleReleased(app, signal)
  await inBatches(signal, () => endHighImpact(app, now))
  return transitions
}

/** Issues resolved in a commit some release has by now are fixed in that release; asked also when one gets commits. */
export async function settleReleased(app: App, signal?: AbortSignal): Promise<void> {
  const step = (row: sql.SweptRow & { readonly versions: string[] }) => commitReleased(lifeFrom(row), row.versions)
  // Dated piece by piece: after whoever resolved an issue since this began.
  await inBatches(signal, () => applyBatch(app, app.clock.now(), sql.lockReleased, step, []))
}

/** Runs a piece again and again until one is not full. */
async function inBatches(signal: AbortSignal | undefined, piece: () => Promise<number>): Promise<void> {
  do signal?.throwIfAborted()
  while ((await piece()) === sql.BATCH)
}

/** Moves one piece; returns how many moved, so that rows that stay as they are never keep it running. */
async function applyBatch<Row extends sql.SweptRow>(
  app: App,
  now: Date,
  lock: Lock<Row>,
  decide: (row: Row) => Transition,
  transitions: IssueTransition[],
): Promise<number> {
  return app.tx(async (tx) => {
    const steps = (await lock(tx))
      .map((row) => ({ row, step: decide(row) }))
      .filter(({ step }) => step.entries.length > 0)
    await writeLives(
      tx,
      steps.map(({ row, step }) => ({
        id: row.id,
        life: step.life,
        severity: row.severity_pinned
          ? null
          : rankOf(
              { eventSeverity: eventSeverityFrom(row.event_severity), highImpactDay: row.high_impact_day },
              step.life.status,
              now,
            ),
      })),
    )
    await writeEntries(
      tx,
      now,
      SWEEP,
      steps.flatMap(({ row, step }) => step.entries.map((entry) => ({ ...entry, issueId: row.id }))),
    )
    await notifySubscribers(
      tx,
      now,
      SWEEP,
      steps.flatMap(({ row, step }) =>
        step.entries.flatMap((entry) => {
          const kind = notificationKind(entry)
          return kind === null ? [] : [{ issueId: row.id, orgId: row.org_id, kind, sentence: entry.sentence }]
        }),
      ),
    )
    await tell(
      tx,
      steps.map(({ row }) => row),
    )
    transitions.push(
      ...steps.flatMap(({ row, step }) =>
        step.facts.map((fact) => ({ issueId: row.id, projectId: row.project_id, fact })),
      ),
    )
    return steps.length
  })
}

const DAY_MS = 86_400_000
/** Projects asked for in one statement. */
const PROJECTS_PER_STATEMENT = 200

/** Projects that resolve by themselves, and after how many days. */
async function autoResolvingProjects(app: App, now: Date) {
  const rows = await selectAllSettings(app.db)
  const quiet = rows.flatMap((row) => {
    const days = issueSettings(row.settings).auto_resolve_days
    return days === 0
      ? []
      : [{ projectId: row.id, orgId: row.org_id, days, before: new Date(now.getTime() - days * DAY_MS) }]
  })
  const days = new Map(quiet.map((project) => [project.projectId, project.days]))
  const chunks = []
  for (let at = 0; at < quiet.length; at += PROJECTS_PER_STATEMENT)
    chunks.push({ projects: quiet.slice(at, at + PROJECTS_PER_STATEMENT), days })
  return chunks
}

/** Issues that reached many on a day that no longer counts. */
async function endHighImpact(app: App, now: Date): Promise<number> {
  const yesterday = dayPlus(dayOf(now), -1)
  return rateBatch(app, now, (tx) => sql.lockPastHighImpact(tx, yesterday), null)
}

/**
 * Issues of a project that reached a share of its active users today. Called by who knows how many were active
 * (metrics/): sessions stand below issues.
 * @param minUsers so many users are many
 * @returns how many issues it were
 */
export async function rateByShare(
  app: App,
  projectId: string,
  minUsers: number,
  signal?: AbortSignal,
): Promise<number> {
  const now = app.clock.now()
  const today = dayOf(now)
  let rated = 0
  await inBatches(signal, async () => {
    const piece = await rateBatch(app, now, (tx) => sql.lockHighImpact(tx, projectId, today, minUsers), today)
    rated += piece
    return piece
  })
  return rated
}

/** @param highImpactDay the day on which they reached many, or null when that is over */
async function rateBatch(app: App, now: Date, lock: Lock, highImpactDay: string | null): Promise<number> {
  return app.tx(async (tx) => {
    const rows = await lock(tx)
    if (rows.length === 0) return 0
    const rated = rows.map((row) => {
      const rank = (day: string | null) =>
        rankOf({ eventSeverity: eventSeverityFrom(row.event_severity), highImpactDay: day }, row.status, now)
      return {
        row,
        id: row.id,
        highImpactDay,
        // An event or a person may have let it fall since midnight: what is told is what that day had made of it.
        before: highImpactDay === null && !row.severity_pinned ? rank(dayOf(now)) : row.severity,
        severity: row.severity_pinned ? row.severity : rank(highImpactDay),
      }
    })
    await sql.writeRatings(tx, rated)
    const changed = rated.filter(({ before, severity }) => severity !== before)
    await writeEntries(
      tx,
      now,
      SWEEP,
      changed.map(({ row, before, severity }) => ({
        ...ratedEntry(row, before, severity, highImpactDay),
        issueId: row.id,
      })),
    )
    await tell(
      tx,
      changed.map(({ row }) => row),
    )
    return rows.length
  })
}

function ratedEntry(row: sql.SweptRow, before: number, severity: number, highImpactDay: string | null): Entry {
  const to = severityName(severity)
  return {
    id: newId(),
    kind: 'severity_changed',
    sentence:
      highImpactDay === null
        ? `Severity went back to ${to}: it no longer reaches many users.`
        : `Severity rose to ${to}: ${plural(row.users_today, 'user')} on ${highImpactDay}, a large share of those active.`,
    data: { from: severityName(before), to, users: row.users_today, day: highImpactDay ?? row.high_impact_day },
  }
}

/** News for open dashboards, one message per project. */
async function tell(tx: Tx, rows: readonly sql.SweptRow[]): Promise<void> {
  for (const ofProject of Map.groupBy(rows, (row) => row.project_id).values()) {
    const [first] = ofProject
    if (first === undefined) continue
    await publishLive(tx, first.org_id, {
      kind: 'issues',
      project_id: first.project_id,
      issue_ids: ofProject.map((row) => row.id),
      new_issue_ids: [],
      event_count: 0,
    })
  }
}
