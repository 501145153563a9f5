import { recordFacts } from '../../history/facts/record-facts.ts'
import { factContext, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { invalid, notFound } from '../../platform/kernel/errors.ts'
import { type MonitorConfig, readCrontab, readTimezone } from '../../events/protocol/check-in.ts'
import {
  changeMonitorRow,
  deleteMonitorRow,
  type LockedMonitor,
  lockMonitor,
} from '../../telemetry/monitors/check-ins.queries.ts'
import type { MonitorView } from '../../telemetry/monitors/monitors.api.ts'
import { readMonitor } from '../../telemetry/monitors/read-monitors.ts'
import { SCHEDULE, TIMEZONE } from './change-monitor.api.ts'

export type MonitorChange = {
  readonly state?: LockedMonitor['state'] | undefined
  readonly schedule?: MonitorConfig['schedule'] | undefined
  readonly timezone?: string | undefined
  readonly checkin_margin_minutes?: number | null | undefined
  readonly max_runtime_minutes?: number | null | undefined
  readonly failure_issue_threshold?: number | null | undefined
  readonly recovery_threshold?: number | null | undefined
}

/** @throws AppError not_found, invalid (a crontab, a time zone, or one without a schedule) */
export async function changeMonitor(
  app: App,
  actor: OrgActor,
  id: string,
  change: MonitorChange,
): Promise<MonitorView> {
  const { state, schedule, ...given } = change
  if (schedule?.type === 'crontab' && readCrontab(schedule.value) === null) throw invalid(SCHEDULE.error)
  if (given.timezone !== undefined && readTimezone(given.timezone) === null) throw invalid(TIMEZONE.error)
  await app.tx(async (tx) => {
    const before = await lockMonitor(tx, actor.orgId, id)
    if (before === undefined) throw notFound('Monitor')
    if (given.timezone !== undefined && schedule === undefined && before.schedule_type === null)
      throw invalid('timezone belongs to a schedule. Give one, too.')
    const now = app.clock.now()
    const wanted: Partial<LockedMonitor> = {
      ...given,
      ...(schedule === undefined
        ? {}
        : {
            schedule_type: schedule.type,
            schedule_value: schedule.type === 'crontab' ? readCrontab(schedule.value) : String(schedule.value),
            schedule_unit: schedule.type === 'interval' ? schedule.unit : null,
            timezone: given.timezone ?? before.timezone ?? 'UTC',
          }),
    }
    const isNew = ([name, value]: [string, unknown]): boolean =>
      value !== undefined && value !== before[name as keyof LockedMonitor]
    const config = Object.entries(wanted).filter(isNew)
    const isMoved = state !== undefined && state !== before.state
    if (config.length === 0 && !isMoved) return
    await changeMonitorRow(tx, id, {
      ...Object.fromEntries(config),
      // Nothing is expected by a schedule before it was set.
      ...(config.length === 0 ? {} : { updated_at: now }),
      ...(isMoved ? { state, state_at: now } : {}),
    })
    const fields = [...(isMoved ? ['state'] : []), ...config.map(([name]) => name)]
    await recordFacts(tx, factContext(app, actor, now), [
      {
        kind: 'monitor.changed',
        orgId: actor.orgId,
        projectId: before.project_id,
        targetId: id,
        label: before.slug,
        data: { fields, ...(isMoved ? { to: state } : {}) },
      },
    ])
  })
  return readMonitor(app, actor, id)
}

/** @throws AppError not_found */
export async function deleteMonitor(app: App, actor: OrgActor, id: string): Promise<void> {
  await app.tx(async (tx) => {
    const before = await lockMonitor(tx, actor.orgId, id)
    if (before === undefined) throw notFound('Monitor')
    await deleteMonitorRow(tx, id)
    await recordFacts(tx, factContext(app, actor), [
      {
        kind: 'monitor.deleted',
        orgId: actor.orgId,
        projectId: before.project_id,
        targetId: id,
        label: before.slug,
        data: {},
      },
    ])
  })
}
