import { type MonitorKind, TRIGGERS } from '#shared/alert-rules.ts'
import type { App } from '../../platform/context/app.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'
import { judgeActive, type JudgedEnvironment } from '../../telemetry/monitors/read-monitors.ts'
import { openSubjects } from '../rules/fired.queries.ts'
import { addEnded } from './add-ended.ts'
import type { Evaluator, Measured, RateRule } from './evaluator.ts'

/** `monitor`: runs of scheduled jobs that were missed, failed, came late or took too long. */

/** A check-in is on its way for a moment: a run that has just become due is not missed yet. */
const SETTLING_MS = MINUTE_MS / 2
/** Runs of all monitors together that a dry run looks at. */
const MAX_PAST_RUNS = 5_000

const kindsOf = ({ conditions }: RateRule): readonly string[] => conditions.kinds ?? TRIGGERS.monitor.defaults.kinds

const isAsked = ({ conditions }: RateRule, { monitor, environment }: JudgedEnvironment): boolean =>
  (conditions.monitor === undefined || conditions.monitor === monitor.slug) &&
  (conditions.environment === undefined || conditions.environment === environment)

const subjectOf = ({ monitor, environment }: JudgedEnvironment): string => `${monitor.slug} in ${environment}`

export const monitorRuns: Evaluator = {
  async measure(app, rules, at) {
    const measured = new Map<string, Measured[]>()
    for (const [projectId, same] of Map.groupBy(rules, (rule) => rule.projectId)) {
      const judged = await judgeProject(app, projectId, at)
      for (const rule of same)
        measured.set(
          rule.id,
          judged.filter((one) => isAsked(rule, one)).map((one) => view(rule, one)),
        )
    }
    // A monitor of an open alert that is paused, muted or deleted does not fail.
    const open = await openSubjects(
      app.db,
      rules.map(({ id }) => id),
    )
    return addEnded(measured, open)
  },

  async history(app, rule, from, to) {
    const judged = await judgeActive(app.db, rule.projectId, { now: to, max: MAX_PAST_RUNS })
    return judged
      .filter((one) => isAsked(rule, one))
      .flatMap((one) =>
        one.judged.states.map(({ at, inARow, problem }) => ({
          at,
          subject: subjectOf(one),
          value: problem === null ? 0 : inARow,
          holds: problem !== null && kindsOf(rule).includes(problem),
        })),
      )
      .filter(({ at }) => at >= from && at <= to)
      .toSorted((a, b) => a.at.getTime() - b.at.getTime())
  },
}

/** While digestion is behind, check-ins that were sent in time have not arrived. */
async function judgeProject(app: App, projectId: string, at: Date): Promise<JudgedEnvironment[]> {
  const now = new Date(at.getTime() - Math.max(SETTLING_MS, await app.lagMs(projectId)))
  return judgeActive(app.db, projectId, { now })
}

function view(rule: RateRule, one: JudgedEnvironment): Measured {
  const { judged } = one
  const { problem } = judged
  const holds = problem !== null && kindsOf(rule).includes(problem)
  return {
    subject: subjectOf(one),
    // Without a run nothing is known.
    value: judged.kind === null ? null : problem === null ? 0 : judged.inARow,
    holds,
    title: problem === null ? `${one.monitor.slug} runs as planned` : `${one.monitor.slug} ${TITLES[problem]}`,
    explanation: problem === null ? '' : explain(one, problem),
  }
}

const TITLES: Readonly<Record<MonitorKind, string>> = {
  missed: 'missed its run',
  failed: 'failed',
  late: 'is late',
  long: 'takes too long',
}

function explain({ monitor, environment, judged, timing }: JudgedEnvironment, problem: MonitorKind): string {
  const zone = timing.timezone
  const bad = judged.runs.findLast(({ kind }) => kind === problem)
  const grace = countedWord(timing.graceMinutes, 'minute')
  const limit = countedWord(timing.limitMinutes, 'minute')
  const planned =
    bad?.expectedAt === undefined || bad.expectedAt === null ? '' : ` planned for ${timeText(bad.expectedAt, zone)}`
  const what: Readonly<Record<MonitorKind, string>> = {
    missed: `No check-in of ${monitor.slug} (${environment}) came for the run${planned}, with a grace of ${grace}`,
    failed: `The run of ${monitor.slug} (${environment})${planned} reported an error`,
    late: `The run of ${monitor.slug} (${environment})${planned} began after its grace of ${grace}`,
    long: `The run of ${monitor.slug} (${environment})${planned} takes longer than its limit of ${limit}`,
  }
  // Older runs were not judged.
  const count = judged.inARow < judged.runs.length ? String(judged.inARow) : `At least ${judged.inARow}`
  const row = judged.inARow > 1 && judged.kind === problem ? ` ${count} runs in a row are like this.` : ''
  const last = judged.lastGoodAt === null ? '' : ` The last good run was at ${timeText(judged.lastGoodAt, zone)}.`
  return `${what[problem]}.${row}${last}`
}

const timeText = (at: Date, zone: string): string =>
  `${new Intl.DateTimeFormat('en-GB', { timeZone: zone, day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }).format(at)} (${zone})`
