import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { z } from 'zod'
import { random } from '#bench/payloads.ts'
import { type Service, startService } from '#bench/service.ts'
import { addProject, type BenchProject, logIn, setUpProject } from '#bench/setup-project.ts'
import { readConfig } from '#server/config/config.ts'
import { openSoundBlock } from '#server/events/store/blocks.ts'
import { ANY_DAY } from '#server/events/store/event-places.queries.ts'
import { newestEvents } from '#server/events/store/store.queries.ts'
import type { App } from '#server/platform/context/app.ts'
import { runningEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { addJob } from '#server/platform/jobs/task.ts'
import { DAY_MS } from '#server/platform/kernel/day.ts'
import { createApp } from '#server/service/app.ts'
import { openStage } from '../../demo/stage.ts'
import { type Fault, type S3Server, startS3Server } from '../kit/s3-server.ts'
import { waitFor } from '../kit/wait.ts'
import { killNow } from './kill-intake.ts'
import { atLeast, claim, none, print, type TortureArgs, type Verdict } from './torture.ts'

const [SHORT_ROUNDS, FULL_ROUNDS] = [8, 60]
const BLOCKS_URL = 's3://bucket/cold'
/** Days ago; each is more than an object when it is packed. */
const DAYS = [4, 3]
const EVENTS_PER_DAY = 600
const LINES = 30
const ISSUES = 8
const USERS = 60
const PATIENCE_MS = 90_000

/** Where the process ends: at a request of the mover, which then has its effect or not, or at any time. */
const ENDS = ['PUT with effect', 'PUT', 'GET', 'DELETE with effect', 'DELETE', 'any time'] as const
/** Answers to a part of the requests meanwhile. */
const FAULTS: readonly (Fault | null)[] = [null, { status: 503, code: 'SlowDown' }, 'cut', 'lost']

type Sent = {
  readonly id: string
  readonly body: string
  readonly project: BenchProject
  readonly issue: number
  readonly user: string
}
/** A deletion that was asked for, and the events that it deletes. */
type Deletion = {
  readonly what: string
  readonly ids: ReadonlySet<string>
  /** Whether its end says that the store has nothing of it. The end of an issue says so of the database only. */
  readonly includesStore: boolean
  ask(): Promise<'done' | 'running'>
}

/**
 * T-53. Days of events are packed and moved to a store that speaks S3, while `kill -9` ends the service at chosen requests of
 * the mover and at random, the store fails, and users, issues and projects are deleted. Claim: each event that was acknowledged
 * and not deleted has its bytes, none that was deleted is in the store when its deletion is done, and in the end the store holds
 * nothing else.
 */
export async function coldBlocks({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const rounds = Number(options['rounds'] ?? (full ? FULL_ROUNDS : SHORT_ROUNDS))
  const rand = random(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(rand() * from.length)] as T
  const folder = mkdtempSync(join(tmpdir(), 'faultline-torture-'))
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  const store = await startS3Server()
  const env = {
    BLOCKS_URL,
    BLOCKS_AFTER_DAYS: '1',
    S3_ENDPOINT: store.url,
    S3_REGION: store.settings.region,
    S3_ACCESS_KEY_ID: store.settings.accessKeyId,
    S3_SECRET_ACCESS_KEY: store.settings.secretAccessKey,
    RATE_LIMIT_SCALE: '0',
    FAULTLINE_CANARY_MINUTES: '0',
    LOG_LEVEL: 'silent',
  }
  let service: Service | null = null
  let app: App | null = null
  try {
    let running = await startService({ dataDir, env })
    service = running
    const kept = await setUpProject(running.url)
    const doomed: BenchProject[] = []
    for (const name of ['Doomed', 'Doomed as well']) doomed.push(await addProject(running.url, kept.cookie, name))
    await running.stop()
    const sent = await sendOldEvents(dataDir, kept, doomed, rand)
    print(`  ${sent.length} events acknowledged, of ${DAYS.length} days`)
    running = await startService({ dataDir, env })
    service = running
    const restart = async (): Promise<void> => {
      killNow(running.pid)
      // Its database continues: stopping the whole group would end it too.
      await waitFor('the end of the process', () => !existsSync(`/proc/${running.pid}`))
      await running.stop()
      running = await startService({ dataDir, env })
      service = running
    }
    const connectionString = runningEmbeddedPostgres(dataDir)?.connectionString ?? ''
    app = await createApp(readConfig({ ...env, FAULTLINE_DATA_DIR: dataDir }), connectionString, 4, 'torture')
    const { db } = app
    const issueOf = await issuesOf(db, sent)
    const bodiesOf = async (): Promise<Map<string, string | null>> => {
      const found = new Map<string, string | null>()
      for (const issueId of new Set(issueOf.values()))
        for (const one of await newestEvents(
          db,
          { issueIds: [issueId], oldestDay: ANY_DAY },
          { limit: sent.length, maxBytes: 1 << 30 },
        ))
          found.set(one.eventId, one.isAway === true ? null : one.body.toString('utf8', one.bodyStart, one.bodyEnd))
      return found
    }
    await addJob(db, 'pack-events')
    await waitFor(
      'the days to be packed',
      async () => (await count(db, `event_packings where stage = 'done'`)) === DAYS.length,
      PATIENCE_MS,
    )
    const packed = await bodiesOf()
    const changedByPacking = sent.filter(({ id, body }) => packed.get(id) !== body).length

    const open = new Set<Deletion>()
    const gone = new Set<string>()
    let [done, leftAtEnd, kills, faults] = [0, 0, 0, 0]
    /** Asks how far deletions are; what is done must not be in the store at that moment. */
    const follow = async (): Promise<void> => {
      for (const deletion of open) {
        if ((await deletion.ask().catch(() => 'running')) === 'running') continue
        open.delete(deletion)
        done++
        if (!deletion.includesStore) continue
        const left = eventsInStore(store).filter((id) => deletion.ids.has(id)).length
        if (left > 0)
          print(`  ${deletion.what} is done, and ${left} of its ${deletion.ids.size} events are in the store`)
        leftAtEnd += left
      }
    }
    let cookie = ''
    const api = { url: () => running.url, cookie: () => cookie }
    const deletions = deletionsOf(api, { sent, kept, doomed, issueOf, rand, rounds })
    const aims: Record<string, number> = {}
    for (let round = 1; round <= rounds; round++) {
      cookie = await logIn(running.url)
      const end = round % 4 === 0 ? null : round === 1 ? ENDS[0] : pick(ENDS)
      const fault = pick(FAULTS)
      const faultShare = rand() * 0.6
      const killing = { isOver: false }
      const reached = new Promise<void>((resolve) => {
        store.fault = ({ method }) => {
          if (!killing.isOver && end?.startsWith(method) === true && rand() < 0.6) {
            killing.isOver = true
            killNow(running.pid)
            resolve()
            return end.endsWith('with effect') ? null : 'silent'
          }
          if (fault === null || rand() > faultShare) return null
          faults++
          return fault
        }
      })
      const deletion = deletions[round - 1]
      const key = `torture ${round}`
      await addJob(db, 'move-blocks', {}, { key })
      const over = waitFor(
        'the mover to end',
        async () => killing.isOver || (await count(db, `graphile_worker.jobs where key = '${key}'`)) === 0,
        PATIENCE_MS,
      )
      await delay(rand() * 400)
      if (deletion !== undefined) {
        open.add(deletion)
        for (const id of deletion.ids) gone.add(id)
        void deletion.ask().catch(() => {})
      }
      await Promise.race([reached, over.catch(() => {}), ...(end === 'any time' ? [delay(rand() * 2_000)] : [])])
      const at = killing.isOver || end === null || end === 'any time' ? end : 'the end of its run'
      killing.isOver = true
      if (at !== null) {
        kills++
        aims[at] = (aims[at] ?? 0) + 1
        await restart()
        cookie = await logIn(running.url)
      }
      // A deletion may be done before the mover works again.
      await follow()
      print(
        `  round ${round}/${rounds}: ${at === null ? 'no kill' : `killed at ${at}`}, ${fault === null ? 'no fault' : JSON.stringify(fault)}, ${deletion?.what ?? 'no deletion'}; ${store.objects.size} objects, ${open.size} deletions run`,
      )
    }
    print(`  ends: ${JSON.stringify(aims)}`)
    store.fault = () => null
    cookie = await logIn(running.url)
    await waitFor(
      'deletions and moves to end',
      async () => {
        // Instead of waiting for two hours: what a killed mover left is old.
        await db.query(
          `update event_segments set changed_at = changed_at - interval '3 hours' where state = 'writing' and changed_at < now() - interval '15 seconds'`,
        )
        await addJob(db, 'move-blocks')
        await addJob(db, 'project-deletions')
        await delay(500)
        await follow()
        const [moved, unfinished] = [
          await count(db, 'event_packings where moved_at is not null'),
          await count(db, `event_segments where state <> 'stored'`),
        ]
        return (
          open.size === 0 &&
          moved === DAYS.length &&
          unfinished === 0 &&
          (await count(db, 'event_segment_removals')) === 0
        )
      },
      PATIENCE_MS,
    )
    const found = await bodiesOf()
    const alive = sent.filter(({ id }) => !gone.has(id))
    const inStore = eventsInStore(store)
    const { rows: named } = await db.query<{ key: string }>(
      `select 'cold/blocks/' || s.received_day || '/' || s.id as key from event_segments s
       where exists (select 1 from event_blocks b where b.received_day = s.received_day and b.segment_id = s.id)`,
    )
    const keys = new Set(named.map(({ key }) => key))
    const sample = alive.filter((_, index) => index % Math.ceil(alive.length / 25) === 0)
    let shown = 0
    for (const one of sample) if (await isShown(api, issueOf.get(one.id) ?? '', one)) shown++
    return {
      claims: [
        atLeast('kills of the mover', Math.floor(rounds / 2), kills),
        claim('requests of the store failed', faults, faults > 0),
        none('bodies changed by packing', changedByPacking),
        claim(
          'each event that is not deleted has its bytes',
          `${alive.filter(({ id, body }) => found.get(id) === body).length} of ${alive.length}`,
          alive.every(({ id, body }) => found.get(id) === body),
        ),
        claim(
          'all of them are in the store',
          `${alive.filter(({ id }) => inStore.includes(id)).length} of ${alive.length}`,
          new Set(inStore).size === alive.length,
        ),
        claim('the API shows them', `${shown} of ${sample.length}`, shown === sample.length),
        claim('deletions done', `${done}, of ${gone.size} events`, done === deletions.length && done > 0),
        none('deleted events in the store when their deletion is done', leftAtEnd),
        none(
          'deleted events readable or in the store at the end',
          [...gone].filter((id) => found.has(id)).length + inStore.filter((id) => gone.has(id)).length,
        ),
        none('objects that nothing refers to', [...store.objects.keys()].filter((key) => !keys.has(key)).length),
        none('objects missing', [...keys].filter((key) => !store.objects.has(key)).length),
      ],
    }
  } finally {
    await app?.close()
    await service?.stop()
    await store.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
  }
}

/** Sends events through the intake of a service whose clock is days behind. */
async function sendOldEvents(
  dataDir: string,
  kept: BenchProject,
  doomed: readonly BenchProject[],
  rand: () => number,
): Promise<Sent[]> {
  const noonMs = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2
  const stage = await openStage(dataDir, noonMs - Math.max(...DAYS) * DAY_MS, () => {})
  try {
    const sent: Sent[] = []
    for (const daysAgo of DAYS) {
      const atMs = noonMs - daysAgo * DAY_MS
      stage.moveTo(atMs)
      for (let index = 0; index < EVENTS_PER_DAY; index++) {
        const project = index % 5 === 4 ? (doomed[index % 2] ?? kept) : kept
        const [id, issue, user] = [
          randomBytes(16).toString('hex'),
          index % ISSUES,
          `user-${Math.floor(rand() * USERS)}`,
        ]
        const body = JSON.stringify({
          event_id: id,
          timestamp: new Date(atMs - index).toISOString(),
          platform: 'javascript',
          level: 'error',
          exception: { values: [{ type: `Cold${issue}Error`, value: 'cold' }] },
          fingerprint: [`cold ${issue}`],
          user: { id: user },
          extra: { lines: Array.from({ length: LINES }, () => takeLetters(rand)) },
        })
        sent.push({ id, body, project, issue, user })
      }
      const batch = sent.slice(-EVENTS_PER_DAY)
      let next = 0
      const send = async (): Promise<void> => {
        for (let one = batch[next++]; one !== undefined; one = batch[next++]) {
          const { number, publicKey } = one.project
          const answer = await fetch(`${stage.url}/api/${number}/envelope/?sentry_key=${publicKey}&sentry_version=7`, {
            method: 'POST',
            headers: { 'content-encoding': 'gzip' },
            body: gzipSync(`{"event_id":"${one.id}"}\n{"type":"event"}\n${one.body}\n`, { level: 1 }),
          })
          if (answer.status !== 200) throw new Error(`the intake answered ${answer.status}: ${await answer.text()}`)
        }
      }
      await Promise.all([send(), send(), send(), send()])
      await stage.settle()
    }
    return sent
  } finally {
    await stage.close()
  }
}

/** Text that does not become much smaller, and that no scrubbing takes for a secret. */
const LETTERS = Array.from(randomBytes(4_000_000), (byte) =>
  byte % 7 === 0 ? ' ' : String.fromCharCode(97 + (byte % 26)),
).join('')

function takeLetters(rand: () => number): string {
  const start = Math.floor(rand() * (LETTERS.length - 1_000))
  return LETTERS.slice(start, start + 1_000)
}

type Db = App['db']

async function count(db: Db, from: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>(`select count(*)::int as n from ${from}`)
  return rows[0]?.n ?? 0
}

/** The issue of each event. */
async function issuesOf(db: Db, sent: readonly Sent[]): Promise<Map<string, string>> {
  const { rows } = await db.query<{ id: string; issueId: string }>(
    `select replace(event_id::text, '-', '') as id, issue_id as "issueId" from events`,
  )
  const found = new Map(rows.map(({ id, issueId }) => [id, issueId]))
  if (sent.some(({ id }) => !found.has(id))) throw new Error('an event that was acknowledged is not stored')
  return found
}

type Api = { url(): string; cookie(): string }

function call({ url, cookie }: Api, method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(url() + path, {
    method,
    headers: { origin: url(), cookie: cookie(), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

const State = z.object({ state: z.enum(['running', 'done']) })
const Operation = State.extend({ id: z.string() })

/** One for each round: mostly users, some issues, each doomed project once. */
function deletionsOf(
  api: Api,
  {
    sent,
    kept,
    doomed,
    issueOf,
    rand,
    rounds,
  }: {
    sent: readonly Sent[]
    kept: BenchProject
    doomed: readonly BenchProject[]
    issueOf: ReadonlyMap<string, string>
    rand: () => number
    rounds: number
  },
): Deletion[] {
  const idsWhere = (isIt: (one: Sent) => boolean): Set<string> => new Set(sent.filter(isIt).map(({ id }) => id))
  const users = Array.from({ length: USERS }, (_, index) => `user-${index}`).sort(() => rand() - 0.5)
  const issues = [0, 1, 2]
  const projects = doomed.map((project, index) => ({ project, slug: index === 0 ? 'doomed' : 'doomed-as-well' }))
  return Array.from({ length: Math.min(rounds, USERS / 2) }, (_, round): Deletion => {
    const issue = round % 5 === 2 ? issues.shift() : undefined
    if (issue !== undefined) {
      const ids = idsWhere((one) => one.project === kept && one.issue === issue)
      const [first = ''] = ids
      const issueId = issueOf.get(first) ?? ''
      return {
        what: `issue ${issue}`,
        ids,
        includesStore: false,
        async ask() {
          const { status } = await call(api, 'DELETE', `/api/issues/${issueId}`)
          // Its answer says nothing about the store.
          return status === 404 ? 'done' : 'running'
        },
      }
    }
    const project = round % 4 === 3 ? projects.shift() : undefined
    if (project !== undefined) {
      let operation = ''
      return {
        what: `project ${project.slug}`,
        ids: idsWhere((one) => one.project === project.project),
        includesStore: true,
        async ask() {
          const answer =
            operation === ''
              ? await call(api, 'DELETE', `/api/projects/${project.project.projectId}`, { confirm: project.slug })
              : await call(api, 'GET', `/api/operations/${operation}`)
          const { id, state } = Operation.parse(await answer.json())
          operation = id
          return state
        },
      }
    }
    const user = users.pop() ?? ''
    return {
      what: user,
      ids: idsWhere((one) => one.project === kept && one.user === user),
      includesStore: true,
      async ask() {
        const answer = await call(api, 'DELETE', `/api/projects/${kept.projectId}/users/${user}/data`)
        return State.parse(await answer.json()).state
      },
    }
  })
}

const FRAME = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

/** Ids of all events whose bodies are in objects, whether a row refers to them or not: an object is a row of zstd frames. */
function eventsInStore({ objects }: S3Server): string[] {
  const ids: string[] = []
  for (const { body } of objects.values()) {
    for (let start = body.indexOf(FRAME); start !== -1;) {
      const next = body.indexOf(FRAME, start + 4)
      const text = openSoundBlock(body.subarray(start, next === -1 ? body.length : next))?.toString('latin1') ?? ''
      for (const [, id = ''] of text.matchAll(/"event_id":"([0-9a-f]{32})"/g)) ids.push(id)
      start = next
    }
  }
  return ids
}

async function isShown(api: Api, issueId: string, { id, body }: Sent): Promise<boolean> {
  const answer = await call(api, 'GET', `/api/issues/${issueId}/events/${id}`)
  const { payload } = z.object({ payload: z.unknown() }).parse(await answer.json())
  return JSON.stringify(payload) === body
}
