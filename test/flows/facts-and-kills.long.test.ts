import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { random } from '#bench/payloads.ts'
import { KINDS, factKind, type FactKind } from '#server/history/facts/kinds.ts'
import { client, type Answer, type Client } from '#test/kit/client.ts'
import { aProject } from '#test/kit/founder.ts'
import { aPerson, anOrg, type Person } from '#test/kit/members.ts'
import { endBy } from '#test/kit/processes.ts'
import { anEvent, sendEvent } from '#test/kit/sdk.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'

/**
 * A process is killed with SIGKILL at random moments while members change issues and digestion records events. Every
 * change has its facts exactly once, and every fact has its change.
 */

const KILLS = 3
/** Part of every token, so it stays when the port changes. */
const PUBLIC_URL = 'http://127.0.0.1:8000'
/** A process is killed a moment after this number of changes was answered, at most. */
const MAX_CHANGES = 50
const MAX_MOMENT_MS = 40
const rand = random(20_261_123)
const pick = <T>(values: readonly T[]): T | undefined => values[Math.floor(rand() * values.length)]

const t = await testApp({ realTime: true, env: { PUBLIC_URL } })
const { db } = t.app

let child: ChildProcess
let port = '0'

async function start(): Promise<string> {
  const script = fileURLToPath(new URL('fact-keeper.ts', import.meta.url))
  child = spawn(process.execPath, [script, t.connectionString, t.dataDir, PUBLIC_URL, port], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (child.stdout === null) throw new Error('no output')
  const printed: unknown[] = await once(child.stdout, 'data')
  port = String(printed[0]).trim()
  return `http://127.0.0.1:${port}`
}

/** As a browser of this person. */
function browserOf(url: string, person: Person): Client {
  const one = client(url)
  for (const pair of person.cookie.split('; ')) {
    const [name = '', value = ''] = pair.split('=')
    one.cookies.set(name, value)
  }
  return one
}

const ids = async (statement: string): Promise<string[]> =>
  (await db.query<{ id: string }>(statement)).rows.map(({ id }) => id).toSorted()

test('a kill at any moment neither loses nor repeats a fact', async () => {
  await db.query(
    'create table kept_facts (place bigserial, id uuid primary key, kind text not null, fact jsonb not null)',
  )
  const org = await anOrg(t.app)
  const ada = await aPerson(t.app, { org })
  const bob = await aPerson(t.app, { org })
  const url = await start()
  const members = [browserOf(url, ada), browserOf(url, bob)]
  const [founder] = members
  if (founder === undefined) throw new Error('no founder')
  const project = await aProject(founder)
  let sent = 0
  let answered = 0
  const refused: string[] = []
  const changes: ((issueId: string, member: Client) => Promise<Answer | undefined>)[] = [
    (id, member) =>
      member.patch(`/api/issues/${id}`, { status: 'resolved', assignee_id: pick([ada, bob])?.actor.userId }),
    (id, member) => member.patch(`/api/issues/${id}`, { status: 'unresolved', assignee_id: null }),
    (id, member) => member.patch(`/api/issues/${id}`, { status: 'ignored', severity: 'low' }),
    (id, member) => member.post(`/api/issues/${id}/comments`, { body: `Hello @${pick([ada, bob])?.email}` }),
    async (id, member) => {
      const { items } = (await member.get(`/api/issues/${id}/comments`)).as<{ items?: { id: string }[] }>()
      const comment = pick(items ?? [])
      return comment && member.delete(`/api/issues/${id}/comments/${comment.id}`)
    },
    (_id, member) => member.post('/api/releases', { projectId: project.id, version: `m-${++sent}` }),
    (_id, member) => member.patch(`/api/projects/${project.id}/settings`, { name: `Shop ${++sent}` }),
  ]
  const report = (): Promise<unknown> => {
    sent++
    return sendEvent(url, project.dsn, anEvent({ error: `f${sent % 30}`, release: `e-${sent % 40}` }))
  }
  for (let kill = 1; kill <= KILLS; kill++) {
    const stop = new AbortController()
    const until = async (work: () => Promise<unknown>): Promise<void> => {
      while (!stop.signal.aborted) {
        // A request fails when its process is killed: no response says whether the change was committed.
        await work().catch(() => sleep(5))
      }
    }
    const change = async (member: Client, issueIds: readonly string[]): Promise<void> => {
      const answer = await pick(changes)?.(pick(issueIds) ?? '', member)
      // Another member may have deleted the comment.
      if (answer !== undefined && answer.status >= 300 && answer.status !== 404) refused.push(answer.text)
      answered++
    }
    for (let event = 0; event < 5; event++) await report()
    const issueIds = await waitFor('issues', async () => {
      const found = await ids('select id from issues')
      return found.length >= 5 && found
    })
    const writers = [
      ...[...members, ...members].map((member) => until(() => change(member, issueIds))),
      until(() => Promise.all([report(), report(), sleep(10)])),
    ]
    const enough = answered + 20 + rand() * (MAX_CHANGES - 20)
    await waitFor('changes', () => answered > enough)
    await sleep(rand() * MAX_MOMENT_MS)
    expect(await endBy(child, 'SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
    stop.abort()
    await Promise.all(writers)
    await start()
  }
  await waitFor('everything to be counted', async () => {
    const waiting = await db.query('select from spool union all select from issue_journal')
    return waiting.rows.length === 0
  })
  const issues = (await founder.get('/api/issues?limit=100')).as<{
    items: { id: string; status: string; event_count: number; assignee_id: string | null }[]
  }>().items
  await endBy(child, 'SIGKILL')

  const { rows: facts } = await db.query<{
    kind: FactKind
    fact: Record<string, string> & { data: Record<string, unknown> }
  }>('select kind, fact from kept_facts order by place')
  const of = (kind: FactKind) => facts.filter((one) => one.kind === kind).map(({ fact }) => fact)
  const named = (kind: FactKind, id: string) =>
    of(kind)
      .map((fact) => fact[id] ?? '')
      .toSorted()
  const shown = facts.filter(({ kind }) => factKind(kind).activity !== undefined)
  expect(refused).toEqual([])
  expect(shown.length).toBeGreaterThan(50)
  expect(new Set(facts.map(({ kind }) => kind)).size).toBeGreaterThan(8)
  expect(facts.every(({ kind }) => kind in KINDS)).toBe(true)

  // Late events of an issue share one entry.
  expect(await ids('select id from issue_activity')).toEqual(
    [...new Set(shown.map(({ fact }) => fact['entryId'] ?? fact['id'] ?? ''))].toSorted(),
  )
  expect(named('issue.created', 'issueId')).toEqual(issues.map(({ id }) => id).toSorted())
  expect(await ids('select id from releases')).toEqual(named('release.created', 'releaseId'))
  const deleted = new Set(named('comment.deleted', 'commentId'))
  expect(await ids('select id from comments')).toEqual(
    named('comment.created', 'commentId').filter((id) => !deleted.has(id)),
  )
  const lastOf = (action: string) =>
    new Map(
      facts.flatMap(({ kind, fact }) =>
        factKind(kind).audit === action ? [[fact['issueId'], fact.data['to']] as const] : [],
      ),
    )
  const [statuses, assignees] = [lastOf('issue.status_changed'), lastOf('issue.assigned')]
  const events = Map.groupBy(of('issue.events_received'), (fact) => fact['issueId'])
  for (const { id, status, assignee_id: assigneeId, event_count: count } of issues) {
    expect(statuses.get(id) ?? 'unresolved').toBe(status)
    expect(assignees.get(id) ?? null).toBe(assigneeId)
    expect((events.get(id) ?? []).reduce((sum, { data }) => sum + Number(data['events']), 0)).toBe(count)
  }
})
