import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { Issue } from '#server/issues/rules/issue.api.ts'
import type { IssueDetail } from '#server/issues/triage/issues.api.ts'

/** The published SDKs, unmodified, in separate processes; only the DSN is ours. */

const server = await testServer({ realTime: true, digestion: 'inline' })
const APP = fileURLToPath(new URL('./apps/node-app.mjs', import.meta.url))

/** DSNs contain the configured address; tests listen on another port. */
const localDsn = (dsn: string): string => {
  const url = new URL(dsn)
  url.host = new URL(server.url).host
  return url.toString()
}

function runApp(packageName: string, action: string, dsn: string): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [APP, packageName, action], {
      env: { PATH: '/usr/bin:/bin', SENTRY_DSN: dsn },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString()
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stderr }))
  })
}

async function onlyIssue(person: Client): Promise<IssueDetail> {
  const issue = await waitFor('the issue', async () => {
    const { items } = (await person.get('/api/issues')).as<{ items: Issue[] }>()
    return items.length > 0 ? items : false
  })
  expect(issue).toHaveLength(1)
  return (await person.get(`/api/issues/${issue[0]?.id}`)).as<IssueDetail>()
}

describe.each(['sentry-node-10', 'sentry-node-11'])('%s', (sdk) => {
  test('a handled error with tags, user, breadcrumbs and a cause', async () => {
    const person = await aFounder(server.url)
    const project = await aProject(person)
    expect(await runApp(sdk, 'handled', localDsn(project.dsn))).toMatchObject({ code: 0 })
    const issue = await onlyIssue(person)
    expect(issue).toMatchObject({
      title: 'PaymentError: charge failed',
      type: 'PaymentError',
      value: 'charge failed',
      level: 'error',
      platform: 'node',
      is_unhandled: false,
      user_count: 1,
      first_release: 'orders@2.4.0',
      event: { environment: 'staging', user: { id: '42', email: 'ann@example.com' } },
    })
    expect(issue.culprit).toContain('chargeCard')
    expect(issue.event?.exceptions.map((one) => one.type)).toEqual(['TypeError', 'PaymentError'])
    const frames = issue.event?.exceptions[1]?.stacktrace?.frames ?? []
    expect(frames.at(-1)).toMatchObject({ function: 'chargeCard', in_app: true })
    expect(frames.at(-1)?.context_line).toContain("throw new PaymentError('charge failed'")
    expect(issue.event?.breadcrumbs.at(-1)).toMatchObject({ category: 'ui.click', message: 'Pay now' })
    expect(issue.event?.tags).toContainEqual({ key: 'checkout', value: 'express' })
  })

  test('an unhandled error that ends the process', async () => {
    const person = await aFounder(server.url)
    const project = await aProject(person)
    const { code, stderr } = await runApp(sdk, 'unhandled', localDsn(project.dsn))
    expect(code).not.toBe(0)
    expect(stderr).toContain('charge failed')
    expect(await onlyIssue(person)).toMatchObject({
      title: 'PaymentError: charge failed',
      is_unhandled: true,
      level: 'fatal',
      severity: 'high',
    })
  })

  test('a message', async () => {
    const person = await aFounder(server.url)
    const project = await aProject(person)
    await runApp(sdk, 'message', localDsn(project.dsn))
    expect(await onlyIssue(person)).toMatchObject({
      title: 'stock is low',
      type: null,
      level: 'warning',
      severity: 'medium',
    })
  })

  test('an error with an attachment', async () => {
    const person = await aFounder(server.url)
    const project = await aProject(person)
    await runApp(sdk, 'attachment', localDsn(project.dsn))
    expect(await onlyIssue(person)).toMatchObject({ title: 'Error: with attachment' })
    const { rows } = await server.app.db.query(
      `select category, outcome, reason from outcomes_hourly where project_id = $1 and category in ('error', 'attachment') order by category`,
      [project.id],
    )
    expect(rows).toEqual([
      { category: 'attachment', outcome: 'accepted', reason: '' },
      { category: 'error', outcome: 'accepted', reason: '' },
    ])
  })
})

test('the same error sent by SDK 10 and SDK 11 is one issue', async () => {
  const person = await aFounder(server.url)
  const project = await aProject(person)
  await runApp('sentry-node-10', 'handled', localDsn(project.dsn))
  await runApp('sentry-node-11', 'handled', localDsn(project.dsn))
  await waitFor(
    'both events',
    async () =>
      (await person.get('/api/issues'))
        .as<{ items: Issue[] }>()
        .items.reduce((sum, issue) => sum + issue.event_count, 0) === 2,
  )
  expect(await onlyIssue(person)).toMatchObject({ event_count: 2, user_count: 1 })
})
