import { markSkipped } from '../rules/fired.queries.ts'
import { writeActionHealth } from '../rules/rules.queries.ts'
import type { App } from '../../platform/context/app.ts'
import { publishLive } from '../../platform/live/publish.ts'
import type { SettledAttempt } from '../../platform/outbox/channel.ts'
import { hastenLane } from '../../platform/outbox/hasten-lane.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { OUTDATED } from './prepare-alerts.ts'
import { readMessage } from './read-message.ts'

/** Records how actions are, and why messages were not sent. An action that works sends at once what waits for it. */
export async function settleAlerts(tx: Tx, _app: App, attempts: readonly SettledAttempt[]): Promise<void> {
  const [outdated, made] = [attempts.filter(isOutdated), attempts.filter((attempt) => !isOutdated(attempt))]
  await markSkipped(
    tx,
    outdated.map(({ delivery, result }) => ({ deliveryId: delivery.id, reason: result.errorText ?? OUTDATED })),
  )
  const newest = [...Map.groupBy(made, ({ delivery }) => delivery.laneId)].map(([id, ofAction]) => {
    const { result, endedAt } = ofAction.reduce((a, b) => (b.endedAt > a.endedAt ? b : a))
    return { id, status: result.status, at: endedAt, isOk: result.outcome === 'delivered' }
  })
  if (newest.length > 0) await writeActionHealth(tx, newest)
  for (const { id, isOk } of newest) if (isOk) await hastenLane(tx, id)
  await publishLive(tx, liveMessages(attempts))
}

const isOutdated = ({ result }: SettledAttempt): boolean => result.errorCode === OUTDATED

/** Messages for dashboards: they read the alerts again, with their deliveries. */
function liveMessages(attempts: readonly SettledAttempt[]) {
  const alerts = attempts.flatMap(({ delivery: { orgId, body } }) => {
    const message = readMessage(body)
    return message === null || message.data.alert.is_test
      ? []
      : [{ orgId, projectId: message.app_id, id: message.data.alert.id }]
  })
  return [...Map.groupBy(alerts, ({ projectId }) => projectId).values()].flatMap((ofProject) =>
    ofProject.slice(0, 1).map(({ orgId, projectId }) => ({
      orgId,
      message: { kind: 'alerts' as const, project_id: projectId, ids: [...new Set(ofProject.map(({ id }) => id))] },
    })),
  )
}
