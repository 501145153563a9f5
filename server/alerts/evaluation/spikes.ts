import { openSubjects } from '../rules/fired.queries.ts'
import { usersOfIssues } from '../../events/store/store.queries.ts'
import { isClosed, severityRank, shortId } from '#shared/issue-values.ts'
import type { App } from '../../platform/context/app.ts'
import { addEnded } from './add-ended.ts'
import type { Evaluator, HistoryPoint, Measured, RateRule } from './evaluator.ts'
import { readHours, readSpikes, type SpikeRow } from './spikes.queries.ts'
import { HOUR_MS, DAY_MS, MINUTE_MS } from '../../platform/kernel/day.ts'

const USUAL_DAYS = 7

type Spike = {
  readonly threshold: number
  readonly windowMinutes: number
  readonly multiplier: number
  readonly minUsers: number
  readonly minSeverity: number
}

const spikeOf = ({ conditions }: RateRule): Spike => ({
  threshold: conditions.threshold ?? 100,
  windowMinutes: conditions.window_minutes ?? 60,
  multiplier: conditions.multiplier ?? 5,
  minUsers: conditions.min_users ?? 0,
  minSeverity: conditions.severity === undefined ? 0 : severityRank(conditions.severity),
})

/** An issue has as many events as the threshold, and as many times the usual number. */
export const spikes: Evaluator = {
  async measure(app, rules, at) {
    const open = await openSubjects(
      app.db,
      rules.map(({ id }) => id),
    )
    const keptOpen = new Set(
      open.flatMap(({ ruleId, subject, closesWithIssue }) => (closesWithIssue ? [] : [`${ruleId}/${subject}`])),
    )
    const byId = new Map(rules.map((rule) => [rule.id, spikeOf(rule)]))
    const rows = await readSpikes(
      app.db,
      rules.map((rule) => ({ ruleId: rule.id, projectId: rule.projectId, ...spikeOf(rule) })),
      open,
      at,
    )
    const users = await usersWhereAsked(app, byId, rows, at)
    const measured = new Map<string, Measured[]>()
    for (const row of rows) {
      const spike = byId.get(row.rule_id)
      if (spike === undefined) continue
      const ofRule = measured.get(row.rule_id) ?? []
      measured.set(row.rule_id, ofRule)
      const key = `${row.rule_id}/${row.issue_id}`
      const mayHold = !isClosed(row.status) || keptOpen.has(key)
      ofRule.push(measuredOf(row, spike, users.get(key), at, mayHold))
    }
    // An issue of an open alert that was deleted or merged, or whose severity fell, does not spike.
    return addEnded(measured, open)
  },

  async history(app, rule, from, to) {
    const spike = spikeOf(rule)
    const hours = Math.max(1, Math.ceil(spike.windowMinutes / 60))
    const rows = await readHours(app.db, rule.projectId, {
      min: 1,
      since: new Date(from.getTime() - USUAL_DAYS * DAY_MS - hours * HOUR_MS),
      from,
      to,
      minSeverity: spike.minSeverity,
    })
    const points: HistoryPoint[] = []
    for (const [issueId, ofIssue] of Map.groupBy(rows, ({ issue_id }) => issue_id)) {
      const byHour = new Map(ofIssue.map(({ hour, events }) => [hour.getTime(), events]))
      const sumAt = (hourMs: number): number => {
        let sum = 0
        for (let back = 0; back < hours; back++) sum += byHour.get(hourMs - back * HOUR_MS) ?? 0
        return sum
      }
      for (let at = Math.floor(from.getTime() / HOUR_MS) * HOUR_MS; at < to.getTime(); at += HOUR_MS) {
        const value = sumAt(at)
        if (value === 0) continue
        const days = Array.from({ length: USUAL_DAYS }, (_, day) => sumAt(at - (day + 1) * DAY_MS))
        points.push({
          at: new Date(at),
          subject: issueId,
          issueId,
          value,
          holds: value >= spike.threshold && value >= spike.multiplier * median(days),
        })
      }
    }
    return points.toSorted((a, b) => a.at.getTime() - b.at.getTime())
  },
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

async function usersWhereAsked(
  app: App,
  rules: ReadonlyMap<string, Spike>,
  rows: readonly SpikeRow[],
  at: Date,
): Promise<Map<string, number>> {
  const users = new Map<string, number>()
  for (const [ruleId, ofRule] of Map.groupBy(rows, ({ rule_id }) => rule_id)) {
    const spike = rules.get(ruleId)
    if (spike === undefined || spike.minUsers === 0) continue
    const since = new Date(at.getTime() - spike.windowMinutes * MINUTE_MS)
    const found = await usersOfIssues(
      app.db,
      ofRule.map(({ issue_id }) => issue_id),
      since,
      at,
    )
    for (const [issueId, n] of found) users.set(`${ruleId}/${issueId}`, n)
  }
  return users
}

const round = (n: number): string => n.toLocaleString('en', { maximumFractionDigits: 1 })

/** @param mayHold false for an issue that is resolved or ignored: it spikes only after its own condition opens it again */
function measuredOf(row: SpikeRow, spike: Spike, users: number | undefined, at: Date, mayHold: boolean): Measured {
  const isMore = row.events >= spike.threshold && row.events >= spike.multiplier * row.usual
  const name = shortId(row.slug, row.number)
  const times =
    row.usual === 0 ? 'usually there are none' : `${round(row.events / row.usual)} times the usual ${round(row.usual)}`
  const affected = spike.minUsers === 0 ? '' : ` They affected ${round(users ?? 0)} users.`
  const sinceChangeMs = at.getTime() - row.status_changed_at.getTime()
  const changed =
    row.status_reason !== null && sinceChangeMs < spike.windowMinutes * MINUTE_MS ? ` ${row.status_reason}` : ''
  return {
    subject: row.issue_id,
    issueId: row.issue_id,
    value: row.events,
    holds: mayHold && isMore && (spike.minUsers === 0 || (users ?? 0) >= spike.minUsers),
    title: `Spike: ${row.title}`,
    explanation: `${name} received ${round(row.events)} events in the last ${spike.windowMinutes} minutes; ${times} at this time of day. The rule fires at ${round(spike.threshold)} events and ${round(spike.multiplier)} times the usual.${affected}${changed}`,
  }
}
