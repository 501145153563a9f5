import { alertFlood } from './alert-flood.ts'
import { alertOutage } from './alert-outage.ts'
import { flappingAlerts } from './flapping-alerts.ts'
import { print, type TortureArgs, type Verdict } from './torture.ts'

/**
 * T-39, each with two processes or workers on one database (T-44): very many events of one issue, receivers that are away
 * for an hour, and conditions that flap around their thresholds.
 */
export async function alerts(args: TortureArgs): Promise<Verdict> {
  const parts = [
    ['flapping', flappingAlerts],
    ['outage', alertOutage],
    ['flood', alertFlood],
  ] as const
  const claims = []
  for (const [name, run] of parts) {
    if (args.options['part'] !== undefined && args.options['part'] !== name) continue
    print(`  ${name}`)
    claims.push(...(await run(args)).map((claim) => ({ ...claim, asked: `${name}: ${claim.asked}` })))
  }
  return { claims }
}
