import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { readDeviceDays, readSessionDays, type HealthQuery } from './health-source.queries.ts'
import { anrUsers, NO_SESSIONS, type SessionFigures } from './figures.ts'
import { LIMITS } from './limits.ts'
import type { StoreGuard } from './metrics.api.ts'
import { readMetricsProject } from './projects-of.ts'
import { guard, guardDevices, guardedDays, MIN_USER_DAYS, WINDOW_DAYS, type GuardedRate } from './store-guard.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

const MAX_DEVICES = 50

/** @throws AppError not_found */
export async function readStoreGuard(app: App, actor: OrgActor, projectId: string): Promise<StoreGuard> {
  const projects = [await readMetricsProject(app, actor, projectId)]
  const [rates, devices] = await Promise.all([guardProjects(app, projects), guardedDevices(app, projects)])
  return {
    window_days: WINDOW_DAYS,
    limits: { crash_rate: LIMITS.crash.poor, anr_rate: LIMITS.anr.poor, device: LIMITS.device.poor },
    ...rates,
    devices,
  }
}

/** User-perceived crash and ANR rate of projects together, for the API and for alerts. */
export async function guardProjects(
  app: App,
  projects: HealthQuery['projects'],
): Promise<{ crash: GuardedRate; anr: GuardedRate }> {
  const days = guardedDays(app.clock.now())
  const figures = await readSessionDays(app.db, queryOf(app, projects, days))
  const usersOf = (affected: (of: SessionFigures) => number) =>
    days.map((day) => {
      const of = figures.get(Date.parse(day)) ?? NO_SESSIONS
      return { day, users: of.users, affected: affected(of) }
    })
  return {
    crash: guard(
      usersOf((of) => of.crashed_users),
      LIMITS.crash,
    ),
    anr: guard(usersOf(anrUsers), LIMITS.anr),
  }
}

/** The device models with the highest rate of the last window. */
async function guardedDevices(app: App, projects: HealthQuery['projects']): Promise<StoreGuard['devices']> {
  const days = guardedDays(app.clock.now()).slice(-WINDOW_DAYS)
  // A user-day has a session at least.
  return guardDevices(await readDeviceDays(app.db, queryOf(app, projects, days), MIN_USER_DAYS), MAX_DEVICES)
}

function queryOf(app: App, projects: HealthQuery['projects'], days: readonly string[]): HealthQuery {
  const from = Date.parse(days[0] ?? '')
  return { projects, filter: {}, from, to: from + days.length * DAY_MS, now: app.clock.now() }
}
