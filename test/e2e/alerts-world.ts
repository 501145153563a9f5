import { systemActor, factContext } from '#server/platform/context/actor.ts'
import { fireAlerts, type Firing } from '#server/alerts/rules/fire-alerts.ts'
import type { AlertRule } from '#server/alerts/rules/rule.api.ts'
import type { TestServer } from '../kit/test-server.ts'
import type { Person } from './dashboard.ts'

/** Rules and alerts for tests of the dashboard. */

export async function aRule(person: Person, fields: Record<string, unknown>): Promise<AlertRule> {
  const answer = await person.post('/api/alerts', fields)
  if (answer.status !== 201) throw new Error(`the rule: ${answer.status} ${answer.text}`)
  return answer.as<AlertRule>()
}

let causes = 0

/** Fires a rule as the evaluation of a minute does. Returns the alert's id. */
export async function fire(
  server: TestServer,
  rule: Pick<AlertRule, 'id'>,
  fields: Partial<Firing> = {},
): Promise<string> {
  causes += 1
  const { app } = server
  const [id] = await app.tx((tx) =>
    fireAlerts(tx, app, factContext(app, systemActor('alerts')), [
      {
        ruleId: rule.id,
        subject: '',
        issueId: null,
        cause: `cause ${causes}`,
        title: 'Cold start P95 over 5 s',
        severity: 'high',
        value: 5310,
        unit: 'ms',
        threshold: 5000,
        windowMinutes: 60,
        explanation:
          'P95 of the cold start was 5,310 ms in the last 60 minutes, over 412 starts; the limit is 5,000 ms.',
        ...fields,
      },
    ]),
  )
  if (id === undefined) throw new Error('the rule did not fire: it is in its quiet time')
  return id
}
