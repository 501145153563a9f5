import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { HOST_TOKEN, githubHost } from '#test/kit/code-host-github.ts'
import { JIRA_EMAIL, JIRA_TOKEN, startJira } from '#test/kit/tracker-jira.ts'
import { LINEAR_KEY, startLinear } from '#test/kit/tracker-linear.ts'
import { aPerson } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { App } from '../../platform/context/app.ts'
import { connected } from '../code-host/code-host.fixture.ts'
import { createTicket } from './create-ticket.ts'
import type { TrackerTicket } from './trackers.api.ts'

/**
 * The model of creating a ticket: callers at the same time, each of whose processes may be killed at any statement and at
 * any request, before or after its effect. There is never a second ticket, and a caller that lives gets the one that is there.
 */

const linear = await startLinear()
const jira = await startJira('cloud')
const github = await githubHost()
afterAll(() => Promise.all([linear.receiver.close(), jira.receiver.close(), github.close()]))
const t = await testServer({ realTime: true })
const { app } = t

class Killed extends Error {}

/** The app of a process that ends at its nth step: from then on nothing that it does has an effect, clearing up neither. */
function mortal(diesAt: number): App {
  let steps = 0
  const step = (): void => {
    if (steps++ >= diesAt) throw new Killed('killed')
  }
  let nowMs = app.clock.monotonicMs()
  return {
    ...app,
    // It does not wait for the lease of another caller.
    clock: { ...app.clock, now: () => app.clock.now(), monotonicMs: () => (nowMs += 11_000) },
    db: new Proxy(app.db, {
      get(target, name) {
        step()
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    }),
    tx: async (work) => {
      step()
      const done = await app.tx(work)
      step()
      return done
    },
    egress: {
      ...app.egress,
      checkUrl: (url) => app.egress.checkUrl(url),
      request: async (request) => {
        step()
        const answer = await app.egress.request(request)
        step()
        return answer
      },
    },
  }
}

const NEVER = Number.MAX_SAFE_INTEGER
const round = fc.record({
  /** For each caller: the step at which its process is killed. */
  callers: fc.array(fc.oneof(fc.integer({ min: 0, max: 24 }), fc.constant(NEVER)), { minLength: 1, maxLength: 3 }),
  /** Whether the lease of a killed caller ends before the next round. */
  ends: fc.boolean(),
})

test.each([
  {
    name: 'Linear',
    count: () => linear.tickets.length,
    connect: { provider: 'tracker_a', base_url: linear.url, api_key: LINEAR_KEY },
  },
  {
    name: 'Jira',
    count: () => jira.tickets.length,
    connect: { provider: 'tracker_b', base_url: jira.url, email: JIRA_EMAIL, api_token: JIRA_TOKEN },
  },
  { name: 'GitHub', count: () => github.issues.length, connect: { provider: 'codehost' } },
])('kills at any step leave at most one ticket, and the next caller gets it ($name)', async ({ count, connect }) => {
  const owner = await t.founder()
  const { org } = (await owner.get('/api/me')).as<{ org: { id: string; slug: string } }>()
  const { actor } = await aPerson(app, { org, role: 'member' })
  const project = await t.project(owner)
  if (connect.provider === 'codehost')
    await connected(owner, project.id, {
      repository_url: github.repositoryUrl,
      provider: 'github',
      access_token: HOST_TOKEN,
    })
  const answer = await owner.post(`/api/projects/${project.id}/integrations/tracker`, connect)
  expect(answer.status, answer.text).toBe(201)
  await t.events(project, [{ error: 'Payment' }])
  const { items } = (await owner.get(`/api/issues?projectId=${project.id}`)).as<{ items: { id: string }[] }>()
  const issueId = items[0]?.id ?? ''
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 4 }), async (rounds) => {
      await app.db.query('delete from tracker_tickets where issue_id = $1', [issueId])
      const before = count()
      const endLease = () =>
        app.db.query(
          `update tracker_tickets set lease_until = clock_timestamp() - interval '1 second'
                      where issue_id = $1 and state = 'creating'`,
          [issueId],
        )
      for (const { callers, ends } of rounds) {
        const results = await Promise.allSettled(callers.map((diesAt) => createTicket(mortal(diesAt), actor, issueId)))
        const keys = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.ticket.key] : []))
        expect(new Set(keys).size).toBeLessThanOrEqual(1)
        expect(count() - before).toBeLessThanOrEqual(1)
        if (ends) await endLease()
      }
      await endLease()
      const last = await owner.post(`/api/issues/${issueId}/tracker-ticket`)
      expect([200, 201]).toContain(last.status)
      expect(last.as<TrackerTicket>().state).toBe('open')
      expect(count() - before).toBe(1)
    }),
    { numRuns: 30 },
  )
})
