import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type HostedIssue, HOST_TOKEN, githubDelivery, githubHost, githubIssue } from '#test/kit/code-host-github.ts'
import { gitlabDelivery, gitlabHost, gitlabIssue } from '#test/kit/code-host-gitlab.ts'
import type { TestProject } from '#test/kit/founder.ts'
import type { Founder } from '#test/kit/product.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import type { IssueDetail } from '../../issues/triage/issues.api.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import { hastenLane } from '../../platform/outbox/hasten-lane.ts'
import { connected, deliver } from '../code-host/code-host.fixture.ts'
import { escapeTicketText, withoutReferences } from './ticket-markdown.ts'
import type { TrackerView } from './trackers.api.ts'

/** Issues of a repository as tickets, on a real database, against servers that speak the wire formats of GitHub and GitLab. */

const hosts = { github: await githubHost(), gitlab: await gitlabHost() }
// Before the app: they are closed after it.
afterAll(() => Promise.all([hosts.github.close(), hosts.gitlab.close()]))
const t = await testServer({ deliveries: true, jobs: true, realTime: true })
const { app } = t

let owner: Founder
let project: TestProject
let issueId: string
beforeEach(async () => {
  for (const host of Object.values(hosts)) Object.assign(host, { mood: 'well', hasIssues: true, lostAnswers: 0 })
  owner = await t.founder()
  project = await t.project(owner)
  await t.events(project, [{ error: '@meadowlark/all see #101, GH-7, !3 and /close' }])
  const { items } = (await owner.get(`/api/issues?projectId=${project.id}`)).as<{ items: { id: string }[] }>()
  issueId = items[0]?.id ?? ''
})

type Provider = keyof typeof hosts
const connectHost = (provider: Provider, token: string | undefined = HOST_TOKEN): Promise<string> =>
  connected(owner, project.id, { repository_url: hosts[provider].repositoryUrl, provider, access_token: token })
const path = (): string => `/api/projects/${project.id}/integrations/tracker`
const connectTracker = () => owner.post(path(), { provider: 'codehost' })
const view = async (): Promise<TrackerView> => (await owner.get(path())).as<TrackerView>()
const ask = () => owner.post(`/api/issues/${issueId}/tracker-ticket`)
const readIssue = async (): Promise<IssueDetail> => (await owner.get(`/api/issues/${issueId}`)).as<IssueDetail>()

function ticketOf(provider: Provider): HostedIssue {
  const ticket = hosts[provider].issues.at(-1)
  if (ticket === undefined) throw new Error('no ticket')
  return ticket
}

const sendClosed = (provider: Provider, secret: string, number: number) =>
  deliver(
    t.url,
    project.id,
    provider === 'github'
      ? githubDelivery(secret, 'issues', githubIssue(number, 'closed'))
      : gitlabDelivery(secret, 'issue', gitlabIssue(number, 'close')),
  )

describe('connecting', () => {
  test('needs a code host with a token that reads issues', async () => {
    const refused = async (): Promise<string> => {
      const answer = await connectTracker()
      expect(answer.status).toBe(400)
      return answer.as<{ error: string }>().error
    }
    expect(await refused()).toContain('not connected to a code host')
    await connected(owner, project.id, { repository_url: hosts.github.repositoryUrl, provider: 'github' })
    expect(await refused()).toContain('without an access token')
    await connectHost('github')
    hosts.github.hasIssues = false
    expect(await refused()).toContain('Issues are switched off')
    hosts.github.hasIssues = true
    hosts.github.mood = 'forbidden'
    expect(await refused()).toContain('Resource not accessible')
    expect((await view()).state).toBe('not_connected')
    const extra = await owner.post(path(), { provider: 'codehost', api_key: 'key' })
    expect(extra.as<{ error: string }>().error).toContain('api_key must be left out')
  })

  test.each(['github', 'gitlab'] as const)(
    'takes repository, token and webhook of the code host (%s)',
    async (provider) => {
      await connectHost(provider)
      const answer = await connectTracker()
      expect(answer.status, answer.text).toBe(201)
      const { pathname, host } = new URL(hosts[provider].repositoryUrl)
      expect(answer.as<unknown>()).toMatchObject({
        state: 'works',
        webhook: null,
        integration: { provider: 'codehost', account: `${pathname.slice(1)} at ${host}`, webhook_path: null },
      })
    },
  )
})

describe.each(['github', 'gitlab'] as const)('a ticket at %s', (provider) => {
  const host = hosts[provider]

  test('is created once under 20 calls at once, and nothing of its text mentions or commands', async () => {
    await connectHost(provider)
    await connectTracker()
    const before = host.issues.length
    const answers = await Promise.all(Array.from({ length: 20 }, ask))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([...Array<number>(19).fill(200), 201])
    expect(host.issues.length).toBe(before + 1)
    const { number, title, body, labels } = ticketOf(provider)
    expect(labels).toEqual(['faultline'])
    expect(body).toContain(`/issues/${issueId}`)
    // Code hosts look for neither in a block of code.
    for (const text of [title, body.replace(/```[^]*```/, '')])
      expect(text).not.toMatch(/@meadowlark|#101|GH-7|!3|^\s*\/close/m)
    expect((await readIssue()).ticket.ticket).toMatchObject({
      id: `#${number}`,
      url: expect.stringContaining(`/issues/${number}`) as string,
      provider: 'codehost',
      state: 'open',
    })
  })

  test('is found again after an answer that was lost', async () => {
    await connectHost(provider)
    await connectTracker()
    const before = host.issues.length
    host.lostAnswers = 1
    expect((await ask()).status).toBe(503)
    await app.db.query(
      `update tracker_tickets set lease_until = clock_timestamp() - interval '1 second'
                        where issue_id = $1`,
      [issueId],
    )
    const answer = await ask()
    expect(answer.status, answer.text).toBe(201)
    expect(host.issues.length).toBe(before + 1)
  })

  test('that is closed resolves its issue, and a regression reopens it with one comment', async () => {
    const secret = await connectHost(provider)
    await connectTracker()
    await ask()
    const ticket = ticketOf(provider)
    ticket.isClosed = true
    expect((await sendClosed(provider, secret, ticket.number)).status).toBe(200)
    await waitFor('the issue to be resolved', async () => (await readIssue()).status === 'resolved')
    expect((await view()).integration?.last_received_at).not.toBeNull()
    // The answer of the reopening is lost: the next attempt makes no second comment.
    host.lostAnswers = 2
    await regress()
    await waitFor('the ticket to be reopened', () => !ticket.isClosed)
    const laneId = (await view()).integration?.id ?? ''
    await waitFor('the comment', async () => {
      // A failed attempt waits half a minute.
      await app.tx((tx) => hastenLane(tx, laneId))
      return (await readIssue()).ticket.ticket?.state === 'open'
    })
    expect(ticket.comments).toHaveLength(1)
    expect(ticket.comments[0]).toContain('It came back')
  })

  test('of a repository that is no longer connected is not touched', async () => {
    await connectHost(provider)
    await connectTracker()
    await ask()
    const other: Provider = provider === 'github' ? 'gitlab' : 'github'
    await connectHost(other)
    const [requests] = [hosts[other].requests.length]
    await regress(true)
    const state = await waitFor('the tracker to be broken', async () => {
      const { state: is, integration } = await view()
      return is === 'broken' && integration
    })
    expect(state.last_error).toContain('no longer connected')
    expect(hosts[other].requests.slice(requests).filter((one) => one.includes('/issues'))).toEqual([])
  })

  test('that was deleted is marked, and limits are waited for', async () => {
    const secret = await connectHost(provider)
    await connectTracker()
    host.mood = 'limited'
    host.resetAt = new Date(Date.now() + 60_000)
    const limited = await ask()
    expect(limited.status).toBe(503)
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(20)
    host.mood = 'well'
    await ask()
    const ticket = ticketOf(provider)
    ticket.isDeleted = true
    await sendClosed(provider, secret, ticket.number)
    await waitFor('the mark', async () => (await readIssue()).ticket.ticket?.state === 'gone')
    expect((await ask()).status).toBe(201)
  })
})

/** @param isOpen the ticket is not closed: it counts as closed, so that it is reopened */
async function regress(isOpen = false): Promise<void> {
  if (isOpen) await app.db.query(`update tracker_tickets set remote_state = 'closed' where issue_id = $1`, [issueId])
  const { org_id: orgId } = await app.db
    .selectFrom('issues')
    .select('org_id')
    .where('id', '=', issueId)
    .executeTakeFirstOrThrow()
  await app.tx((tx) =>
    recordFacts(tx, factContext(app, systemActor('digestion')), [
      {
        kind: 'issue.regressed',
        orgId,
        projectId: project.id,
        issueId,
        sentence: 'It came back in shop@2.0.',
        data: { from: 'resolved', to: 'regressed' },
      },
    ]),
  )
}

test('no text holds a mention, a reference or a command', () => {
  const signs = fc.stringMatching(/^[@#!~%$&^/a-zG\-H0-9 \n]{0,40}$/)
  fc.assert(
    fc.property(signs, (text) => {
      const shown = escapeTicketText(withoutReferences(text)).replaceAll('\\', '')
      expect(shown).not.toMatch(/[@#!~%$&^][\w"]|GH-\d|^\s*\/[a-z]/i)
    }),
    { numRuns: 300 },
  )
})
