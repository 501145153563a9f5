import type { AlertState } from '#shared/alert-rules.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { cutPage, readStart } from '../../platform/kernel/cursor.ts'
import { type Page, TOTAL_CAP } from '../../platform/kernel/page.api.ts'
import { decodeTimeCursor, encodeTimeCursor } from '../../platform/kernel/time-cursor.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import type { Alert } from './alerts.api.ts'
import { countAlerts, selectAlerts } from './fired.queries.ts'
import { viewAlerts } from './view-alert.ts'

type AlertsInput = {
  readonly projectId?: string | undefined
  readonly rule_id?: string | undefined
  readonly issue_id?: string | undefined
  readonly state?: readonly AlertState[] | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
}

const ANY = { projectId: null, ruleId: null, issueId: null, states: null, from: null, to: null }

/** Alerts of the organisation, newest first. @throws AppError not_found (project), invalid (cursor) */
export async function listFiredAlerts(app: App, actor: OrgActor, input: AlertsInput): Promise<Page<Alert>> {
  if (input.projectId !== undefined) await requireProject(app, actor, input.projectId)
  const { limit, offset, cursor } = input
  const after = readStart({ offset, cursor }, decodeTimeCursor)
  const filter = {
    projectId: input.projectId ?? null,
    ruleId: input.rule_id ?? null,
    issueId: input.issue_id ?? null,
    states: input.state ?? null,
    from: input.from === undefined ? null : new Date(input.from),
    to: input.to === undefined ? null : new Date(input.to),
  }
  const [rows, total] = await Promise.all([
    selectAlerts(app.db, actor, filter, { limit: limit + 1, offset, after }),
    countAlerts(app.db, actor, filter, TOTAL_CAP + 1),
  ])
  const { shown, figures } = cutPage(rows, { limit, offset, total }, (last) =>
    encodeTimeCursor({ at: last.fired_at, id: last.id }),
  )
  return {
    items: await viewAlerts(app.db, shown),
    ...figures,
  }
}

/** The newest alerts, for the bell. */
export async function listRecentAlerts(
  app: App,
  actor: OrgActor,
  limit: number,
): Promise<Page<Alert> & { unread_count: number }> {
  const [page, firing] = await Promise.all([
    listFiredAlerts(app, actor, { limit, offset: 0 }),
    countAlerts(app.db, actor, { ...ANY, states: ['firing'] }, TOTAL_CAP),
  ])
  return { ...page, unread_count: firing }
}
