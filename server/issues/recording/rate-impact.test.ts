import { expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { rateImpact } from './tasks.ts'
import { recordSessions } from '../../telemetry/app-health/record-sessions.ts'
import { anUpdate, sessionFact, sidOf } from '../../telemetry/app-health/sessions.fixture.ts'

const { app } = await testApp()
const { actor } = await aPerson(app)

async function aProject(settings: Record<string, unknown> = {}): Promise<string> {
  const id = newId()
  const now = app.clock.now()
  await app.db
    .insertInto('projects')
    .values({
      id,
      org_id: actor.orgId,
      name: 'Impact',
      slug: `i-${id}`,
      platform: 'web',
      region: 'eu-central-1',
      settings: JSON.stringify(settings),
      created_at: now,
      last_event_at: now,
    })
    .execute()
  return id
}

/** An issue of handled errors that affected so many users today. */
async function issueAffecting(projectId: string, users: number): Promise<string> {
  const [id = ''] = await seedIssues(app, projectId, 1)
  await app.db.query(
    `update issues set event_severity = 2, severity = 1, last_seen = $2, users_day = $2::timestamptz::date, users_today = $3 where id = $1`,
    [id, app.clock.now(), users],
  )
  return id
}

const severityOf = async (id: string): Promise<number | undefined> =>
  (await app.db.selectFrom('issues').select('severity').where('id', '=', id).executeTakeFirst())?.severity

/** Records so many active users of the app today. */
async function active(projectId: string, users: number): Promise<void> {
  const updates = Array.from({ length: users }, (_, user) =>
    sessionFact(projectId, anUpdate({ sid: sidOf(`${projectId}${user}`), isInit: true, did: `user ${user}` })),
  )
  await app.tx((tx) => recordSessions(tx, app.clock.now(), updates))
}

test('an issue that affects 1 % of the active users is rated higher; projects without sessions are skipped', async () => {
  const [busy, silent, strict] = [
    await aProject(),
    await aProject(),
    await aProject({ severity_rules: { user_share: 0.5 } }),
  ]
  await active(busy, 200)
  await active(strict, 4)
  const issues = {
    two: await issueAffecting(busy, 2),
    one: await issueAffecting(busy, 1),
    silent: await issueAffecting(silent, 24),
    half: await issueAffecting(strict, 2),
    third: await issueAffecting(strict, 1),
  }
  await rateImpact(app)
  expect({
    two: await severityOf(issues.two),
    one: await severityOf(issues.one),
    silent: await severityOf(issues.silent),
    half: await severityOf(issues.half),
    third: await severityOf(issues.third),
  }).toEqual({ two: 2, one: 1, silent: 1, half: 2, third: 1 })
})
