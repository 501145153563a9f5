import type { SessionActor } from '#server/platform/context/actor.ts'
import type { IssueDetail } from '#server/issues/triage/issues.api.ts'
import type { TestProject } from '#test/kit/founder.ts'
import { aSession } from '#test/kit/members.ts'
import { dsnParts, newEventId, type EventFields } from '#test/kit/sdk.ts'
import { indexNewTerms } from '#server/issues/search/index-documents.ts'
import { stayingIn } from '#test/kit/staying-in.ts'
import type { TestServer } from '#test/kit/test-server.ts'
import type { Founder } from '#test/kit/product.ts'

/** An organisation with two apps and ten days of data, for questions. It is Friday 2026-11-20, 12:00 UTC. */

export const NOW = new Date('2026-11-20T12:00:00.000Z')

/** Sessions of a release that were sent, by the time of their start. */
export type Run = {
  readonly project: 'shop' | 'kiosk'
  readonly release: string
  readonly at: Date
  readonly sessions: number
  readonly crashed: number
  /** Their user, whose device is known by an event. */
  readonly did?: string
}

export type Start = { readonly release: string; readonly at: Date; readonly ms: number }
export type Load = { readonly screen: string; readonly release: string; readonly at: Date; readonly ms: number }

export type World = {
  readonly owner: Founder
  readonly actor: SessionActor
  readonly shop: TestProject
  readonly kiosk: TestProject
  /** By the function that fails. */
  readonly issues: Readonly<Record<'alpha' | 'beta' | 'gamma' | 'delta', IssueDetail>>
  readonly sent: readonly Sent[]
  readonly runs: readonly Run[]
  readonly starts: readonly Start[]
  readonly loads: readonly Load[]
}

const at = (day: number, hour = 10, minute = 0): Date => new Date(Date.UTC(2026, 10, day, hour, minute))

const ANDROID = { os: { name: 'Android', version: '15' }, device: { model: 'Pixel 8', family: 'Pixel 8' } }
const OLD_ANDROID = { os: { name: 'Android', version: '12' }, device: { model: 'SM-G991B', family: 'SM-G991B' } }
const IOS = { os: { name: 'iOS', version: '18' }, device: { model: 'iPhone17,3', family: 'iPhone' } }

export type Sent = { readonly at: Date; readonly project: 'shop' | 'kiosk'; readonly event: EventFields }

function events(): Sent[] {
  const sent: Sent[] = []
  const add = (project: Sent['project'], when: Date, event: EventFields, times = 1): void => {
    for (let index = 0; index < times; index += 1) sent.push({ project, at: when, event })
  }
  for (let day = 11; day <= 19; day += 1)
    for (const user of ['1', '2', `${day}`])
      add('shop', at(day), {
        error: { in: 'alpha', handled: false },
        level: 'fatal',
        release: day < 18 ? 'shop@4.11.0' : 'shop@4.12.0',
        user: { id: user },
        contexts: user === '2' ? OLD_ANDROID : ANDROID,
        platform: 'java',
      })
  // A spike.
  add(
    'shop',
    at(19, 9, 10),
    {
      error: { in: 'alpha', handled: false },
      level: 'fatal',
      release: 'shop@4.12.0',
      user: { id: '1' },
      contexts: ANDROID,
    },
    40,
  )
  for (const user of ['1', '3', '4'])
    add('shop', at(18, 14), { error: 'beta', release: 'shop@4.12.0', user: { id: user }, contexts: ANDROID }, 2)
  add('shop', at(19, 14), { error: 'beta', release: 'shop@4.12.0', environment: 'staging', user: { id: '5' } })
  add('shop', at(11, 15), { error: 'gamma', release: 'shop@4.10.0', user: { id: '7' }, contexts: ANDROID }, 3)
  add('shop', at(19, 16), { error: 'gamma', release: 'shop@4.12.0', user: { id: '7' }, contexts: ANDROID }, 2)
  add('shop', at(20, 8), { error: 'gamma', release: 'shop@4.12.0', user: { id: '8' }, contexts: ANDROID })
  for (const user of ['17', '18'])
    add(
      'kiosk',
      at(20, 9),
      {
        error: 'delta',
        platform: 'cocoa',
        release: 'kiosk@2.0.0',
        user: { id: user, email: `kim${user}@example.com` },
        contexts: IOS,
      },
      4,
    )
  add('shop', at(19, 11), {
    platform: 'java',
    release: 'shop@4.12.0',
    user: { id: '2' },
    contexts: OLD_ANDROID,
    exception: {
      values: [
        {
          type: 'ApplicationNotResponding',
          value: 'ANR for at least 6000 ms.',
          mechanism: { type: 'ANR', handled: false },
          stacktrace: {
            frames: [
              { module: 'com.acme.Store', function: 'open', in_app: true },
              { module: 'android.os.BinderProxy', function: 'transactNative', in_app: false },
            ],
          },
        },
      ],
    },
  })
  return sent.toSorted((a, b) => a.at.getTime() - b.at.getTime())
}

const RUNS: readonly Run[] = [
  ...[10, 11, 12].map((day) => ({
    project: 'shop' as const,
    release: 'shop@4.10.0',
    at: at(day),
    sessions: 400,
    crashed: 2,
  })),
  ...[12, 13, 14, 15, 16, 17].map((day) => ({
    project: 'shop' as const,
    release: 'shop@4.11.0',
    at: at(day),
    sessions: 500,
    crashed: 1,
  })),
  ...[18, 19, 20].map((day) => ({
    project: 'shop' as const,
    release: 'shop@4.12.0',
    at: at(day),
    sessions: 600,
    crashed: 12,
  })),
  { project: 'shop', release: 'shop@4.11.0', at: at(20, 9), sessions: 150, crashed: 0 },
  { project: 'kiosk', release: 'kiosk@2.0.0', at: at(20, 9), sessions: 80, crashed: 4 },
  { project: 'shop', release: 'shop@4.12.0', at: at(20, 11), sessions: 100, crashed: 3, did: '1' },
  { project: 'shop', release: 'shop@4.12.0', at: at(20, 11), sessions: 60, crashed: 6, did: '2' },
  { project: 'kiosk', release: 'kiosk@1.9.0', at: at(16), sessions: 120, crashed: 0 },
]

const RELEASED: Readonly<Record<string, Date>> = {
  'shop@4.10.0': at(10, 6),
  'shop@4.11.0': at(12, 6),
  'shop@4.12.0': at(18, 6),
  'kiosk@1.9.0': at(15, 6),
  'kiosk@2.0.0': at(20, 6),
}

const STARTS: readonly Start[] = [12, 13, 14, 15, 16, 17, 18, 19, 20].flatMap((day) =>
  [0, 1, 2, 3].map((n) => ({
    release: day < 18 ? 'shop@4.11.0' : 'shop@4.12.0',
    at: at(day, 10, n),
    ms: (day < 18 ? 900 : 1_800) + n * 100,
  })),
)
const LOADS: readonly Load[] = ['CheckoutScreen', 'HomeScreen', 'SearchScreen'].flatMap((screen, index) =>
  [16, 17, 18, 19].map((day) => ({
    screen,
    release: day < 18 ? 'shop@4.11.0' : 'shop@4.12.0',
    at: at(day, 11, index),
    ms: 400 * (3 - index) + day,
  })),
)

/** Sends everything as SDKs do, in its order; the clock of the server ends at {@link NOW}. */
export async function seedWorld(t: TestServer): Promise<World> {
  t.clock.set(at(10, 6))
  const owner = stayingIn(await t.founder())
  const me = (await owner.get('/api/me')).as<{ user: { id: string; name: string }; org: { id: string } }>()
  const shop = await t.project(owner, { name: 'Shop', platform: 'android' })
  const kiosk = await t.project(owner, { name: 'Kiosk', platform: 'ios' })
  const projects = { shop, kiosk }
  const rule = await owner.post('/api/alerts', {
    projectId: kiosk.id,
    name: 'New crashes',
    trigger_type: 'new_issue',
    actions: [{ type: 'chat', webhook_url: 'https://hooks.example.com/services/T000/B000/XXXXsecretXXXX' }],
  })
  if (rule.status !== 201) throw new Error(`the alert rule: ${rule.text}`)

  // The service refuses sessions that started days ago: everything is sent when it happens.
  const steps = new Map<number, (() => Promise<unknown>)[]>()
  const plan = (when: Date, work: () => Promise<unknown>): void =>
    void steps.set(when.getTime(), [...(steps.get(when.getTime()) ?? []), work])
  for (const [name, all] of Map.groupBy(events(), ({ project }) => project))
    for (const [ms, of] of Map.groupBy(all, ({ at: when }) => when.getTime()))
      plan(new Date(ms), () =>
        t.events(
          projects[name],
          of.map(({ event }) => event),
        ),
      )
  for (const { project, at: started, sessions, crashed, ...run } of RUNS)
    plan(started, () =>
      t.sessions({ ...run, project: projects[project], started, exited: sessions - crashed, crashed }),
    )
  plan(at(14, 12), async () => {
    const { items } = (await owner.get('/api/issues?q=gamma')).as<{ items: { id: string }[] }>()
    await owner.patch(`/api/issues/${items[0]?.id ?? ''}`, { status: 'resolved' })
  })
  for (const [ms, works] of [...steps].toSorted(([a], [b]) => a - b)) {
    t.clock.set(new Date(ms))
    for (const work of works) await work()
  }
  t.clock.set(NOW)
  await sendTransactions(t, shop)
  await t.service.drain()
  await indexNewTerms(t.app)
  const { items: releases } = (await owner.get('/api/releases?limit=100')).as<{
    items: { id: string; version: string }[]
  }>()
  for (const { id, version } of releases)
    await owner.patch(`/api/releases/${id}`, { released_at: RELEASED[version]?.toISOString() ?? null })

  const issueOf = async (name: string): Promise<IssueDetail> => {
    const { items } = (await owner.get(`/api/issues?q=${name}`)).as<{ items: { id: string }[] }>()
    return (await owner.get(`/api/issues/${items[0]?.id ?? ''}`)).as<IssueDetail>()
  }
  return {
    owner,
    actor: aSession({ userId: me.user.id, name: me.user.name, orgId: me.org.id, role: 'owner' }),
    shop,
    kiosk,
    issues: {
      alpha: await issueOf('alpha'),
      beta: await issueOf('beta'),
      gamma: await issueOf('gamma'),
      delta: await issueOf('delta'),
    },
    sent: events(),
    runs: RUNS,
    starts: STARTS,
    loads: LOADS,
  }
}

async function sendTransactions({ url }: TestServer, shop: TestProject): Promise<void> {
  const { key, projectNumber } = dsnParts(shop.dsn)
  const base = (when: Date, release: string, durationMs: number) => ({
    event_id: newEventId(),
    type: 'transaction',
    release,
    environment: 'production',
    start_timestamp: (when.getTime() - durationMs) / 1000,
    timestamp: when.getTime() / 1000,
  })
  const trace = (op: string) => ({ trace_id: newEventId(), span_id: newEventId().slice(16), op, status: 'ok' })
  const items = [
    ...STARTS.map(({ release, at: when, ms }) => ({
      ...base(when, release, 2_000),
      transaction: 'HomeScreen',
      contexts: { trace: trace('ui.load'), os: { name: 'Android' } },
      measurements: {
        app_start_cold: { value: ms },
        frames_total: { value: 100 },
        frames_slow: { value: 5 },
        frames_frozen: { value: 1 },
      },
    })),
    ...LOADS.map(({ screen, release, at: when, ms }) => ({
      ...base(when, release, 1_500),
      transaction: screen,
      contexts: { trace: trace('ui.load'), os: { name: 'Android' } },
      measurements: { time_to_initial_display: { value: ms } },
    })),
    ...[1, 2, 3, 4].map((n) => ({
      ...base(at(19, 12, n), 'shop@4.12.0', 250 * n),
      transaction: 'POST /pay',
      contexts: { trace: { ...trace('http.server'), status: n === 1 ? 'internal_error' : 'ok' } },
    })),
  ]
  // An envelope has one.
  for (const item of items) {
    const answer = await fetch(`${url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
      method: 'POST',
      body: `{}\n{"type":"transaction"}\n${JSON.stringify(item)}\n`,
    })
    if (answer.status !== 200)
      throw new Error(`the intake answered ${answer.status} to a transaction: ${await answer.text()}`)
    await answer.text()
  }
}
