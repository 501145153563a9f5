import { random } from '#bench/payloads.ts'
import type { Evaluator, Measured } from '#server/alerts/evaluation/evaluator.ts'
import { CALM_MS, evaluateRules } from '#server/alerts/evaluation/evaluate-rules.ts'
import { createRule } from '#server/alerts/rules/create-rule.ts'
import { NewRule } from '#server/alerts/rules/rule.api.ts'
import { fakeClock } from '#test/kit/fake-clock.ts'
import { aPerson } from '#test/kit/members.ts'
import { insertProject } from '#test/kit/route-examples.ts'
import { onNewDatabase } from './on-new-database.ts'
import { type Claim, claim, none, print, type TortureArgs } from './torture.ts'

const MINUTE_MS = 60_000
const START = '2026-11-20T12:00:00.000Z'
const COOLDOWN_MINUTES = 60

/**
 * Rules whose condition flaps: it holds in random minutes, with stretches of calm. Two workers evaluate every minute at
 * the same time. What fires is what one alert per cool-down means, minute by minute.
 */
export const flappingAlerts = ({ seed, full }: TortureArgs): Promise<Claim[]> =>
  onNewDatabase(async ({ openApp }) => {
    const [ruleCount, minutes] = full ? [60, 2_880] : [20, 300]
    const clock = fakeClock(START)
    const [one, two] = [await openApp({ clock }), await openApp({ clock })]
    const owner = await aPerson(one)
    const projectId = await insertProject(one, owner)
    const rules: string[] = []
    for (let n = 0; n < ruleCount; n++) {
      const rule = NewRule.parse({ projectId, name: `Flapping ${n}`, trigger_type: 'performance_threshold' })
      rules.push((await createRule(one, owner.actor, { ...rule, cooldown_minutes: COOLDOWN_MINUTES })).id)
    }
    const holds = flapping(random(seed), rules, minutes)
    let minute = 0
    const evaluator: Evaluator = {
      measure: (_app, measured) =>
        Promise.resolve(new Map(measured.map(({ id }) => [id, [measuredOf(holds.get(id)?.[minute] === true)]]))),
      history: () => Promise.resolve([]),
    }
    const evaluators = new Map([['performance_threshold', evaluator] as const])
    for (; minute < minutes; minute++) {
      await Promise.all([evaluateRules(one, undefined, evaluators), evaluateRules(two, undefined, evaluators)])
      clock.advance(MINUTE_MS)
    }
    const { rows } = await one.db.query<{ rule_id: string; minute: number }>(
      `select rule_id, (extract(epoch from fired_at - $1::timestamptz) / 60)::int as minute from fired_alerts order by 2`,
      [START],
    )
    const fired = Map.groupBy(rows, ({ rule_id }) => rule_id)
    let [expected, differing, early] = [0, 0, 0]
    for (const id of rules) {
      const actual = (fired.get(id) ?? []).map((row) => row.minute)
      const asked = expectedOf(holds.get(id) ?? [])
      expected += asked.length
      if (asked.join() !== actual.join()) differing++
      early += actual.filter((at, index) => index > 0 && at - (actual[index - 1] ?? 0) < COOLDOWN_MINUTES).length
    }
    const held = [...holds.values()].flat().filter(Boolean).length
    print(`    ${ruleCount} rules, ${minutes} minutes, held in ${held} of them; ${rows.length} alerts`)
    return [
      none('alerts within the cool-down of the one before', early),
      claim('every rule fires in exactly the minutes of a model', `${rows.length} of ${expected}`, differing === 0),
    ]
  })

/** Minutes in which each condition holds. */
function flapping(rand: () => number, rules: readonly string[], minutes: number): Map<string, boolean[]> {
  return new Map(
    rules.map((id) => {
      const shares = Array.from({ length: Math.ceil(minutes / 30) }, () => (rand() < 0.4 ? 0 : rand()))
      return [id, Array.from({ length: minutes }, (_, minute) => rand() < (shares[Math.floor(minute / 30)] ?? 0))]
    }),
  )
}

const measuredOf = (holds: boolean): Measured => ({
  subject: '',
  value: holds ? 5_001 : 4_999,
  holds,
  title: 'Cold start P95 over 5 s',
  explanation: 'P95 of cold starts around 5 s.',
})

/** When a condition fires: it holds, the last alert has ended or none was open, and the cool-down is over. */
function expectedOf(holds: readonly boolean[]): number[] {
  const fired: number[] = []
  let heldAt: number | null = null
  for (const [minute, isHeld] of holds.entries()) {
    const last = fired.at(-1) ?? -Infinity
    if (heldAt !== null) {
      if (isHeld) heldAt = minute
      else if ((minute - heldAt) * MINUTE_MS >= CALM_MS) heldAt = null
    } else if (isHeld && minute - last >= COOLDOWN_MINUTES) {
      fired.push(minute)
      heldAt = minute
    }
  }
  return fired
}
