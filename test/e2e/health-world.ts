import { randomUUID } from 'node:crypto'
import { aFounder, aProject, type TestProject } from '../kit/founder.ts'
import { anEvent, dsnParts, sendEvent } from '../kit/sdk.ts'
import { waitFor } from '../kit/wait.ts'
import type { TestServer } from '../kit/test-server.ts'
import type { Person } from './dashboard.ts'

/** An app with sessions, errors and transactions of some days, sent as its SDK sends them. */

const HOUR_MS = 3_600_000
const NAME = 'com.meadowlark.shopper'
export const OLD = `${NAME}@4.11.3+41103`
export const NEW = `${NAME}@4.12.0+41200`
/** When the newer release came out. */
const RELEASED_HOURS_AGO = 20
const HOURS = 100
const USERS = 120

const MODELS = [
  ['Galaxy A02', 'low'],
  ['Redmi Note 12', 'medium'],
  ['Pixel 7a', 'high'],
] as const

const ANR = {
  type: 'ApplicationNotResponding',
  value: 'ANR for at least 5000 ms.',
  mechanism: { type: 'ANR', handled: false },
  stacktrace: {
    frames: [
      { module: 'com.meadowlark.SessionStore', function: 'save', lineno: 40, in_app: true },
      { module: 'android.app.SharedPreferencesImpl$EditorImpl', function: 'commit', lineno: 12, in_app: false },
    ],
  },
}

export type HealthWorld = { person: Person; project: TestProject }

export async function aHealthWorld(server: TestServer): Promise<HealthWorld> {
  const person = await aFounder(server.url)
  const project = await aProject(person, { name: 'shopper-android', platform: 'android' })
  const now = Date.now()
  const at = (hoursAgo: number) => new Date(now - hoursAgo * HOUR_MS)
  for (const [version, released] of [
    [OLD, at(10 * 24)],
    [NEW, at(RELEASED_HOURS_AGO)],
  ] as const)
    await person.post('/api/releases', { projectId: project.id, version, released_at: released.toISOString() })

  const send = envelopes(server, project)
  // Users are known by their installation: an event has the device of their sessions.
  for (let user = 0; user < USERS; user++) {
    const [model, deviceClass] = MODELS[user % MODELS.length] ?? MODELS[0]
    const isCrash = user % 9 === 0
    const isAnr = user % 10 === 1
    const event = anEvent({
      platform: 'android',
      release: user % 3 === 0 ? NEW : OLD,
      level: isCrash ? 'fatal' : 'error',
      timestamp: at(1 + (user % 40) * 2).getTime() / 1000,
      user: { id: `install-${user}` },
      contexts: {
        device: {
          model,
          manufacturer: 'Acme',
          processor_count: user % 3 === 0 ? 4 : 8,
          memory_size: classMemory(deviceClass),
        },
        os: { name: 'Android', version: '14' },
      },
      ...(isAnr
        ? { exception: { values: [ANR] } }
        : { error: { in: isCrash ? 'checkout' : 'banner', handled: !isCrash } }),
    })
    const { status } = await sendEvent(server.url, project.dsn, event)
    if (status !== 200) throw new Error(`the intake answered ${status} to an event`)
  }

  // Sessions of each hour: one aggregate of many, and one of each user some hours a day.
  for (const release of [OLD, NEW]) {
    const aggregates: Record<string, unknown>[] = []
    for (let hour = HOURS; hour >= 0; hour--) {
      const isOut = hour <= RELEASED_HOURS_AGO
      if (release === NEW && !isOut) continue
      const all = release === NEW ? 160 : isOut ? 260 : 400
      const crashed = release === NEW ? 4 : 1 + (hour % 2)
      const started = at(hour).toISOString()
      aggregates.push({ started, exited: all - crashed, crashed })
      for (let user = hour % 6; user < USERS; user += 6) {
        if ((user % 3 === 0) !== (release === NEW) && isOut) continue
        const isCrash = user % 40 === 0 && hour % 4 === 0
        aggregates.push({ started, did: `install-${user}`, exited: isCrash ? 0 : 1, crashed: isCrash ? 1 : 0 })
      }
    }
    for (let index = 0; index < aggregates.length; index += 500)
      await send([
        {
          header: { type: 'sessions' },
          item: { aggregates: aggregates.slice(index, index + 500), attrs: { release, environment: 'production' } },
        },
      ])
  }
  // ANRs come as updates of single sessions.
  for (let user = 1; user < USERS; user += 30)
    await send([
      {
        header: { type: 'session' },
        item: {
          sid: randomUUID(),
          did: `install-${user}`,
          init: true,
          started: at(3).toISOString(),
          timestamp: at(2.9).toISOString(),
          status: 'abnormal',
          abnormal_mechanism: 'anr_foreground',
          attrs: { release: OLD, environment: 'production' },
        },
      },
    ])

  const transactions = TRANSACTIONS.flatMap(({ screen, base, count }, kind) =>
    Array.from({ length: count }, (_, index) => {
      const hoursAgo = (index * 97 + kind * 13) % HOURS
      const isNew = hoursAgo < RELEASED_HOURS_AGO && index % 3 > 0
      // A spread with a long tail; the newer release is slower.
      const factor = (0.55 + ((index * 37) % 100) / 90) * (index % 19 === 0 ? 2.6 : 1) * (isNew ? 1.4 : 1)
      return aLoad({ screen, ms: base * factor, at: at(hoursAgo + 0.1), release: isNew ? NEW : OLD, index })
    }),
  )
  for (let index = 0; index < transactions.length; index += 20)
    await Promise.all(transactions.slice(index, index + 20).map((one) => send([one])))
  return { person, project }
}

const TRANSACTIONS = [
  { screen: 'Checkout', base: 1_900, count: 80 },
  { screen: 'ProductDetail', base: 1_050, count: 110 },
  { screen: 'Home', base: 560, count: 140 },
  { screen: 'Account', base: 360, count: 40 },
] as const

const classMemory = (deviceClass: string): number =>
  (deviceClass === 'low' ? 2 : deviceClass === 'medium' ? 4 : 8) * 1024 ** 3

type Load = { screen: string; ms: number; at: Date; release: string; index: number }

/** The load of a screen; every third is an app start. */
function aLoad({ screen, ms, at, release, index }: Load) {
  const end = at.getTime() / 1000
  const [model, deviceClass] = MODELS[index % MODELS.length] ?? MODELS[0]
  const hex = (value: number, length: number) => value.toString(16).padStart(length, '0')
  const traceId = randomUUID().replaceAll('-', '')
  return {
    header: { type: 'transaction' },
    item: {
      event_id: randomUUID().replaceAll('-', ''),
      type: 'transaction',
      platform: 'android',
      transaction: screen,
      transaction_info: { source: 'component' },
      start_timestamp: end - ms / 1000,
      timestamp: end,
      release,
      environment: 'production',
      user: { id: `install-${index % USERS}` },
      contexts: {
        trace: { trace_id: traceId, span_id: hex(index + 1, 16), op: 'ui.load', status: 'ok' },
        device: { model, memory_size: classMemory(deviceClass), battery_level: 80 - (index % 30) },
        os: { name: 'Android', version: '14' },
      },
      measurements: {
        time_to_initial_display: { value: ms, unit: 'millisecond' },
        time_to_full_display: { value: ms * 1.5, unit: 'millisecond' },
        frames_total: { value: 200, unit: 'none' },
        frames_slow: { value: screen === 'Checkout' ? 24 : 7, unit: 'none' },
        frames_frozen: { value: screen === 'Checkout' ? 3 : 0, unit: 'none' },
        ...(index % 3 === 0 ? { app_start_cold: { value: ms * 1.3 + 400, unit: 'millisecond' } } : {}),
        ...(index % 7 === 0 ? { app_start_warm: { value: 300 + ms / 4, unit: 'millisecond' } } : {}),
      },
      spans: [],
    },
  }
}

type Item = { header: Record<string, unknown>; item: Record<string, unknown> }

const envelopes =
  (server: TestServer, project: TestProject) =>
  async (items: readonly Item[]): Promise<void> => {
    const { key, projectNumber } = dsnParts(project.dsn)
    const lines = items.flatMap(({ header, item }) => [JSON.stringify(header), JSON.stringify(item)])
    const answer = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}&sentry_version=7`, {
      method: 'POST',
      body: `${['{}', ...lines].join('\n')}\n`,
    })
    if (answer.status !== 200) throw new Error(`the intake answered ${answer.status}`)
    await answer.text()
  }

/** Waits until everything that was sent is counted. */
export async function counted(server: TestServer): Promise<void> {
  await waitFor('the backlog to be digested', async () => {
    const { rows } = await server.app.db.query<{ n: number }>('select count(*)::int as n from spool')
    return rows[0]?.n === 0
  })
}
