import { expect, test } from 'vitest'
import { client } from '#test/kit/client.ts'
import { testServer } from '#test/kit/test-server.ts'
import { contract } from '../api/contract.ts'
import { createOwner } from '../../identity/accounts/create-owner.ts'
import { verifyChains } from '../../history/audit/verify-chains.ts'
import { rotateDataKeys } from '../cli/account-commands.ts'
import {
  CANARY_ACTION_ID,
  CANARY_ORG_ID,
  CANARY_PROJECT_ID,
  CANARY_PROJECT_NUMBER,
  CANARY_RULE_ID,
} from '../../platform/kernel/ids.ts'
import type { RouteSpec } from '../../platform/kernel/contract.ts'
import { verifyDomainByOperator } from '../../identity/external-identity/verify-domain.ts'
import { canaryOf, deliver, wholeRun } from './canary.fixture.ts'

/** Closed: only the first visitor may sign up. The canary was there before. */
const t = await testServer({ env: { FAULTLINE_CANARY_MINUTES: '60', FAULTLINE_SIGNUP: 'closed' } })
const { app } = t
const methods = async () => (await client(t.url).get('/api/auth/methods')).body
const firstRun = await wholeRun(t)
const methodsBefore = await methods()
const owner = await t.founder()
const project = await t.project(owner, { name: 'Canary' })
await t.event({ project, error: 'alpha' })

test('the first visitor founds the installation also after the canary, and their project has the number 1', async () => {
  expect(firstRun).toMatchObject({ state: 'ok' })
  expect(methodsBefore).toMatchObject({ first: true })
  expect(await methods()).toMatchObject({ first: false })
  expect(project).toMatchObject({ number: 1, slug: 'canary' })
})

/** Everything a member can list or count. */
const LISTS = Object.values<RouteSpec>(contract)
  .filter(({ method, path, stream }) => method === 'GET' && !path.includes(':') && stream === undefined)
  .map(({ path }) => path)
  .filter((path) => path !== '/api/alerts/canary')
/** Queries without which lists refuse to answer. */
const QUERIES: Readonly<Record<string, string>> = {
  '/api/issues/search': 'q=EndToEndTest',
  '/api/metrics': 'metrics=events',
}

const answers = () =>
  Promise.all(
    LISTS.map(async (path) => {
      const { status, body } = await owner.get(`${path}?${QUERIES[path] ?? ''}`)
      return { path, status, body }
    }),
  )
/** Figures of the parts that the canary passes through, without the free space of the disk. */
const figures = async (): Promise<string[]> =>
  (await client(t.url).get('/-/metrics')).text
    .split('\n')
    .filter((line) => /^faultline_(?:intake|spool_(?!disk)|digest|deliver)/.test(line))

test('no list, count, quota, overview, metric or audit log changes with a run, and no figure of Prometheus', async () => {
  await answers()
  const before = { answers: await answers(), figures: await figures() }
  expect(before.answers.filter(({ status }) => status === 200).length).toBeGreaterThan(25)
  expect(before.figures.length).toBeGreaterThan(25)
  await app.db.query(`update canary_runs set started_at = started_at - interval '1 hour'`)
  await canaryOf(t).tick()
  // It waits on the spool; then its alert waits in the outbox.
  expect((await app.db.query('select 1 from spool')).rows).toHaveLength(1)
  expect(await figures()).toEqual(before.figures)
  await t.service.drain()
  expect((await app.db.query('select 1 from outbox_deliveries where due_at is not null')).rows).toHaveLength(1)
  expect(await figures()).toEqual(before.figures)
  expect(await answers()).toEqual(before.answers)
  expect(await deliver(t)).toMatchObject({ state: 'ok' })
  expect(await figures()).toEqual(before.figures)
  expect(await answers()).toEqual(before.answers)
})

test('a request that only claims to be the canary is counted', async () => {
  const counted = async () => (await figures()).find((line) => line.startsWith('faultline_intake_requests_total'))
  const before = await counted()
  const headers = {
    'x-faultline-canary': 'x'.repeat(32),
    'x-sentry-auth': 'Sentry sentry_key=0123456789abcdef0123456789abcdef',
  }
  const url = `${t.url}/api/${CANARY_PROJECT_NUMBER}/envelope/`
  expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(403)
  expect(await counted()).not.toBe(before)
})

test('a member reaches none of its ids', async () => {
  const [issue] = (
    await app.db.query<{ id: string }>('select id from issues where project_id = $1', [CANARY_PROJECT_ID])
  ).rows
  const [alert] = (
    await app.db.query<{ id: string }>('select id from fired_alerts where project_id = $1', [CANARY_PROJECT_ID])
  ).rows
  for (const path of [
    `/api/projects/${CANARY_PROJECT_ID}`,
    `/api/projects/${CANARY_PROJECT_ID}/settings`,
    `/api/projects/${CANARY_PROJECT_ID}/intake`,
    `/api/projects/${CANARY_PROJECT_ID}/issues`,
    `/api/alerts?projectId=${CANARY_PROJECT_ID}`,
    `/api/alerts/fired/${alert?.id}`,
    `/api/issues/${issue?.id}`,
    `/api/issues/${issue?.id}/events`,
  ])
    expect([path, (await owner.get(path)).status]).toEqual([path, 404])
  expect((await owner.patch(`/api/alerts/${CANARY_RULE_ID}`, { enabled: false })).status).toBe(404)
  expect((await owner.delete(`/api/alerts/${CANARY_RULE_ID}`)).status).toBe(404)
  expect((await owner.post(`/api/alerts/${alert?.id}/ack`)).status).toBe(404)
  expect((await owner.patch(`/api/projects/${CANARY_PROJECT_ID}/settings`, { name: 'Mine' })).status).toBe(404)
  const rule = { projectId: project.id, name: 'Mine', trigger_type: 'new_issue' }
  expect((await owner.post('/api/alerts', { ...rule, actions: [{ type: 'canary' }] })).status).toBe(400)
  expect((await owner.get(`/api/webhooks/${CANARY_ACTION_ID}/deliveries`)).status).toBe(404)
})

test('commands of the operator neither show nor change it', async () => {
  const lines: string[] = []
  expect(await verifyChains(app, (line) => void lines.push(line))).toMatchObject({ chains: 1, broken: 0 })
  expect(lines.join('\n')).not.toMatch(/canary\b.*ok|00000000/)
  expect(await verifyChains(app, () => {}, { slug: '.canary' })).toMatchObject({ chains: 0 })
  expect((await app.db.query('select 1 from audit_log where org_id = $1', [CANARY_ORG_ID])).rows).toEqual([])
  expect(await rotateDataKeys(app, () => {})).toMatchObject({ orgs: 1 })
  const root = { email: 'root@example.com', name: 'Root' }
  await expect(createOwner(app, { ...root, org: { slug: '.canary' } })).rejects.toMatchObject({ code: 'not_found' })
  expect(await createOwner(app, { ...root, org: { name: '.canary' } })).toMatchObject({ org: 'canary' })
  await expect(verifyDomainByOperator(app, { org: '.canary', domain: 'example.com' })).rejects.toMatchObject({
    code: 'not_found',
  })
})
