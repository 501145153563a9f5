import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { utcDay, dayPlus, DAY_MS } from '../../platform/kernel/day.ts'
import { issueSettings } from '../rules/issue-settings.ts'
import { selectAllSettings } from '../../projects/registry/projects.queries.ts'
import { computeSeverityRank, eventSeverityFrom } from '../rules/impact.ts'
import { severityName } from '#shared/issue-values.ts'
import { lifeFrom } from '../rules/life-columns.ts'
import { commitReleased, onTime, type Transition } from '../rules/life-cycle.ts'
import { aboutIssue } from '../rows/view-issue.ts'
import { awaitFold } from './await-fold.ts'
import * as sql from './sweep.queries.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'
import { writeRatings, writeLives } from '../rows/issues.queries.ts'

/** Transitions by time. Sweeps may run twice, concurrently, and while digestion runs. */
const SWEEP = systemActor('sweep-issues')

type Lock<Row extends sql.SweptRow = sql.SweptRow> = (tx: Tx) => Promise<Row[]>

/**
 * Reopens issues ignored until a time that has passed, ends escalations, resolves issues without recent events, sets the
 * releases of commits with fixes, and ends high-impact days. In batches, each in its own transaction.
 */
export async function sweepIssues(app: App, signal?: AbortSignal): Promise<void> {
  const now = app.clock.now()
  const byTime = (days: (projectId: string) => number) => (row: sql.SweptRow) =>
    onTime(lifeFrom(row), { now, lastSeen: row.last_seen, autoResolveDays: days(row.project_id) })
  const sweep = <Row extends sql.SweptRow>(lock: Lock<Row>, step: (row: Row) => Transition) =>
    inBatches(signal, () => applyBatch(app, now, lock, step))

  await sweep(
    (tx) => sql.lockIgnoredUntil(tx, now),
    byTime(() => 0),
  )
  // An issue is not quiet while events of it are not counted yet.
  const isCounted = await awaitFold(app, signal)
  for (const { projects, days } of isCounted ? await autoResolvingProjects(app, now) : []) {
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
}

/** Sets the releases of issues that are resolved in a commit; also called when a release gets commits. */
export async function settleReleased(app: App, signal?: AbortSignal): Promise<void> {
  const step = (row: sql.SweptRow & { readonly versions: string[] }) => commitReleased(lifeFrom(row), row.versions)
  // Each batch has its own time, so that it is after the resolution of its issues.
  await inBatches(signal, () => applyBatch(app, app.clock.now(), sql.lockReleased, step))
}

/** Runs batches until one is not full. */
async function inBatches(signal: AbortSignal | undefined, batch: () => Promise<number>): Promise<void> {
  do signal?.throwIfAborted()
  while ((await batch()) === sql.BATCH)
}

/** Applies the transitions of one batch. Returns the number of changed issues, so that unchanged rows do not cause a loop. */
async function applyBatch<Row extends sql.SweptRow>(
  app: App,
  now: Date,
  lock: Lock<Row>,
  decide: (row: Row) => Transition,
): Promise<number> {
  return app.tx(async (tx) => {
    const steps = (await lock(tx))
      .map((row) => ({ row, step: decide(row) }))
      .filter(({ step }) => step.facts.length > 0)
    await writeLives(
      tx,
      steps.map(({ row, step }) => ({
        id: row.id,
        life: step.life,
        severity: row.severity_pinned
          ? null
          : computeSeverityRank(
              { eventSeverity: eventSeverityFrom(row.event_severity), highImpactDay: row.high_impact_day },
              step.life.status,
              now,
            ),
      })),
    )
    await recordFacts(
      tx,
      factContext(app, SWEEP, now),
      steps.flatMap(({ row, step }) => step.facts.map((fact) => ({ ...aboutIssue(row), ...fact }))),
    )
    return steps.length
  })
}

const PROJECTS_PER_STATEMENT = 200

/** Projects that resolve issues automatically, with their number of days. */
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

/** Ends high-impact days before yesterday. */
async function endHighImpact(app: App, now: Date): Promise<number> {
  const yesterday = dayPlus(utcDay(now), -1)
  return rateBatch(app, now, (tx) => sql.lockPastHighImpact(tx, yesterday), null)
}

/**
 * Starts the high-impact day of issues that affected a share of the project's active users today. `metrics/` calls it,
 * which counts active users.
 * @returns the number of issues
 */
export async function rateByShare(
  app: App,
  projectId: string,
  minUsers: number,
  signal?: AbortSignal,
): Promise<number> {
  const now = app.clock.now()
  const today = utcDay(now)
  let rated = 0
  await inBatches(signal, async () => {
    const count = await rateBatch(app, now, (tx) => sql.lockHighImpact(tx, projectId, today, minUsers), today)
    rated += count
    return count
  })
  return rated
}

/** @param highImpactDay the new high-impact day, or null to end it */
async function rateBatch(app: App, now: Date, lock: Lock, highImpactDay: string | null): Promise<number> {
  return app.tx(async (tx) => {
    const rows = await lock(tx)
    if (rows.length === 0) return 0
    const rated = rows.map((row) => {
      const rank = (day: string | null) =>
        computeSeverityRank(
          { eventSeverity: eventSeverityFrom(row.event_severity), highImpactDay: day },
          row.status,
          now,
        )
      return {
        row,
        id: row.id,
        highImpactDay,
        // An event or a member may have lowered it since midnight: the entry starts from the severity of that day.
        before: highImpactDay === null && !row.severity_pinned ? rank(utcDay(now)) : row.severity,
        severity: row.severity_pinned ? row.severity : rank(highImpactDay),
      }
    })
    await writeRatings(tx, rated)
    await recordFacts(
      tx,
      factContext(app, SWEEP, now),
      rated
        .filter(({ before, severity }) => severity !== before)
        .map(({ row, before, severity }) => ratedFact(row, before, severity, highImpactDay)),
    )
    return rows.length
  })
}

function ratedFact(row: sql.SweptRow, before: number, severity: number, highImpactDay: string | null): Fact {
  const to = severityName(severity)
  return {
    kind: 'issue.severity_changed',
    ...aboutIssue(row),
    sentence:
      highImpactDay === null
        ? `Severity fell to ${to}: the issue no longer affects many users.`
        : `Severity rose to ${to}: ${countedWord(row.users_today, 'user')} on ${highImpactDay}, a large share of the active users.`,
    data: { from: severityName(before), to, users: row.users_today, day: highImpactDay ?? row.high_impact_day },
  }
}
