import fc from 'fast-check'
import { beforeAll, expect, test, vi } from 'vitest'
import type { SessionActor } from '#server/platform/context/actor.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { aPerson, aSession } from '#test/kit/members.ts'
import { anEvent, anException, sendEvent } from '#test/kit/sdk.ts'
import { cases, PROPERTY_TIMEOUT_MS } from '#test/kit/properties.ts'
import { testServer } from '#test/kit/test-server.ts'
import { ISSUE_SORTS, ISSUE_STATUSES, SEVERITIES } from '#shared/issue-values.ts'
import type { IssueSort } from '../rules/issue.api.ts'
import { issueIdsMatching, listIssues, searchIssues } from './list-issues.ts'
import { updateIssue } from '../triage/update-issue.ts'
import { indexNewTerms } from './index-documents.ts'
import { parseQuery } from './parse-query.ts'
import { printQuery } from './print-query.ts'
import {
  addressesOf,
  DEVICES,
  IPS,
  meant,
  type ModelEvent,
  RELEASES,
  TENANTS,
  USERS,
  WORDS,
  type World,
} from './search-model.fixture.ts'

/** Random issues and random queries: the database finds what the model finds. */

vi.setConfig({ testTimeout: PROPERTY_TIMEOUT_MS })
const server = await testServer({ realTime: true, env: { RATE_LIMIT_SCALE: '0' } })
const ISSUES = 40
const EVENTS = 160
const DAY_MS = 86_400_000

let actor: SessionActor
let world: Omit<World, 'now'>
/** Half past the last full hour. */
const start = Math.floor(Date.now() / 3_600_000) * 3_600_000
const halfPast = start - 1_800_000

/** Returns a generator of pseudo-random numbers, the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

beforeAll(async () => {
  const next = numbers(7)
  const pick = <T>(values: readonly T[]): T => values[next(values.length)] as T
  const maybe = <T>(value: T): T | undefined => (next(3) > 0 ? value : undefined)
  const ada = await aFounder(server.url)
  const eve = await aFounder(server.url)
  const projects = [await aProject(ada, { name: 'Big Shop' }), await aProject(ada, { name: 'Site' })]
  const elsewhere = await aProject(eve, { name: 'Site' })
  const { user, org } = (await ada.get('/api/me')).as<{
    user: { id: string; email: string; name: string }
    org: { id: string; slug: string }
  }>()
  const ben = await aPerson(server.app, { org, role: 'member', name: 'Ben Ö' })
  actor = aSession({ userId: user.id, name: user.name, orgId: org.id, role: 'owner' })
  const events = new Map<string, ModelEvent[]>()
  for (let i = 0; i < EVENTS; i++) {
    const kind = i < ISSUES ? i : next(ISSUES)
    const [type, value] = [`Kind${kind}Error`, `${pick(WORDS)} ${pick(WORDS)}`]
    const [name, file] = [`${pick(WORDS)}${pick(WORDS)}`, `src/${pick(WORDS)}.ts`]
    const [release, environment, tenant] = [
      maybe(pick(RELEASES)),
      pick(['production', 'staging']),
      maybe(pick(TENANTS)),
    ]
    const [appUser, device, medal] = [maybe(pick(USERS)), maybe(pick(DEVICES)), maybe(pick(['gold', 'tin']))]
    // Without an id, the address identifies the user.
    const hasId = next(4) > 0
    const [address, ip] = [pick(addressesOf(appUser ?? '')), pick(IPS)]
    const appName = hasId ? maybe(`Name ${appUser}`) : undefined
    const email = hasId ? maybe(address) : address
    const event = anEvent({
      timestamp: (halfPast - next(30 * 24) * 3_600_000 - next(600) * 1_000) / 1_000,
      level: pick(['fatal', 'error', 'warning', 'info', 'debug']),
      fingerprint: [type],
      release,
      environment,
      tags: { tenant, level: medal },
      user:
        appUser === undefined
          ? undefined
          : { id: hasId ? appUser : undefined, username: appName, email, ip_address: ip },
      contexts: { ...(device === undefined ? {} : { device: { model: device } }), os: { name: 'Android' } },
      exception: {
        values: [
          anException({
            type,
            value,
            mechanism: { type: 'generic', handled: next(4) > 0 },
            stacktrace: { frames: [{ filename: file, function: name, lineno: 1, in_app: true }] },
          }),
        ],
      },
    })
    await sendEvent(server.url, projects[kind % 2]?.dsn ?? '', event)
    if (i % 4 === 0) await sendEvent(server.url, elsewhere.dsn, { ...event, event_id: undefined })
    // In batches of different issues.
    if (i % 25 === 0) await server.service.drain()
    const facts: [string, string | undefined][] = [
      ['type', type],
      ['release', release],
      ['environment', environment],
      ['tenant', tenant],
      ['tag.level', medal],
      ['device.model', device],
      ['os.name', 'Android'],
    ]
    const identities: [string, string | undefined][] =
      appUser === undefined
        ? [['user.ip', '127.0.0.1']]
        : [
            ['user.email', email],
            ['user.username', appName],
            ['user.ip', ip],
          ]
    const known = (all: [string, string | undefined][]) =>
      all.flatMap(([key, said]) => (said === undefined ? [] : [[key, said] as const]))
    const modelEvent = {
      // The last one is the culprit.
      texts: [type, value, `${name} in ${file}`],
      facts: known(facts),
      identities: known(identities),
      user: appUser === undefined ? '127.0.0.1' : hasId ? appUser : address,
    }
    events.set(type, [...(events.get(type) ?? []), modelEvent])
  }
  await server.service.drain()
  await indexNewTerms(server.app)
  const listed = async () => await server.issues(ada, 'limit=100')
  for (const { id } of await listed())
    await updateIssue(server.app, actor, {
      issueId: id,
      status: pick(ISSUE_STATUSES),
      severity: maybe(pick(SEVERITIES)),
      assignee_id: pick([undefined, user.id, ben.actor.userId]),
    })
  const issues = (await listed()).map((row) => ({ row, events: events.get(row.type ?? '') ?? [] }))
  world = {
    issues,
    projects,
    me: user,
    ben: { id: ben.actor.userId, email: ben.email, name: 'Ben Ö' },
  }
}, 120_000)

test('every query finds exactly its matches, in every list', async () => {
  expect(world.issues).toHaveLength(ISSUES)
  expect(world.issues.flatMap((issue) => issue.events)).toHaveLength(EVENTS)
  let found = 0
  await fc.assert(
    fc.asyncProperty(
      meant(world, start),
      fc.constantFrom<IssueSort>(...ISSUE_SORTS),
      fc.integer({ min: 7, max: 30 }),
      async (query, sort, limit) => {
        const now = { ...world, now: server.app.clock.now().getTime() }
        const expected = world.issues.filter((issue) => query.holds(issue, now)).map(({ row }) => row)
        const ids = expected.map(({ id }) => id).toSorted()
        found += ids.length > 0 && ids.length < ISSUES ? 1 : 0
        const pages: string[] = []
        let cursor: string | undefined
        do {
          const page = await listIssues(server.app, actor, {
            q: query.text,
            sort,
            limit,
            offset: 0,
            cursor,
            range: '30d',
          })
          expect(page.total, query.text).toBe(ids.length)
          const counts = Object.fromEntries(
            ISSUE_STATUSES.map((status) => [status, expected.filter((row) => row.status === status).length]),
          )
          expect(page.status_counts, query.text).toEqual(counts)
          pages.push(...page.items.map(({ id }) => id))
          cursor = page.next_cursor ?? undefined
        } while (cursor !== undefined)
        expect(pages.toSorted(), query.text).toEqual(ids)
        const printed = printQuery(parseQuery(query.text))
        const again = await searchIssues(server.app, actor, { q: printed, sort, limit: 100, offset: 0, range: '30d' })
        expect(
          again.items.map(({ id }) => id),
          printed,
        ).toEqual(pages)
        expect((await issueIdsMatching(server.app, actor, { q: query.text }, 100)).toSorted(), query.text).toEqual(ids)
      },
    ),
    { numRuns: cases(120, 2_400) },
  )
  // Queries that find all or no issues prove little.
  expect(found).toBeGreaterThan(40)
})

test('a query and the filters of the list apply together', async () => {
  await fc.assert(
    fc.asyncProperty(
      meant(world, start),
      fc.subarray([...ISSUE_STATUSES]),
      fc.subarray([...SEVERITIES]),
      fc.constantFrom<string[] | undefined>(undefined, ['me'], ['none'], ['none', world.ben.id]),
      fc.nat(30),
      async (query, status, severity, assignees, days) => {
        const now = { ...world, now: server.app.clock.now().getTime() }
        const since = start - days * DAY_MS
        const expected = world.issues
          .filter((issue) => query.holds(issue, now))
          .map(({ row }) => row)
          .filter((row) => status.length === 0 || status.includes(row.status))
          .filter((row) => severity.length === 0 || severity.includes(row.severity))
          .filter((row) => Date.parse(row.last_seen) >= since)
          .filter(
            (row) =>
              assignees === undefined ||
              assignees.includes(row.assignee_id === actor.userId ? 'me' : (row.assignee_id ?? 'none')),
          )
        const page = await searchIssues(server.app, actor, {
          q: query.text,
          sort: '-last_seen',
          limit: 100,
          offset: 0,
          seen_since: new Date(since).toISOString(),
          ...(status.length === 0 ? {} : { status }),
          ...(severity.length === 0 ? {} : { severity }),
          ...(assignees === undefined ? {} : { assignee_id: assignees }),
        })
        expect(page.items.map(({ id }) => id).toSorted(), query.text).toEqual(expected.map(({ id }) => id).toSorted())
        expect(page.total).toBe(expected.length)
      },
    ),
    { numRuns: cases(80, 1_600) },
  )
})
