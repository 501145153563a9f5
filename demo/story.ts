import { DAY_MS, HOUR_MS } from '#server/platform/kernel/day.ts'
import { type Client, client } from '#test/kit/client.ts'
import { waitFor } from '#test/kit/wait.ts'
import { APPS, type AppName, DAYS, MEMBERS, OWNER, REGRESSION } from './apps.ts'
import { envelope } from './envelope.ts'
import { type Sending, sendings } from './sendings.ts'
import type { Stage } from './stage.ts'

/** Thirty days of Meadowlark: its apps send, its members work on the issues, rules fire. */

export type Progress = { readonly share: number; readonly atMs: number; readonly sent: number }

type Project = { readonly id: string; readonly number: string; readonly key: string }
type Team = {
  /** A member with a fresh session: the clock leaves sessions behind. */
  as(email: string): Promise<Client>
  readonly ids: ReadonlyMap<string, string>
}
type World = {
  readonly stage: Stage
  readonly nowMs: number
  readonly team: Team
  readonly projects: ReadonlyMap<AppName, Project>
  /** Id of an issue by the type of its error. */
  readonly issue: (type: string) => Promise<string>
}

const [TOMO, ZOE, , IMANI] = MEMBERS

/** Requests at a time. */
const PARALLEL = 16
/** Within the time that the intake takes for a wrong clock. */
const STEP_MS = 0.75 * HOUR_MS
/** Longer where fewer events come, and at most so many times as long. */
const RECORD_EVERY_MS = 3 * HOUR_MS
const MAX_RECORD_FACTOR = 4

/** @param options.every 1 for all requests, 10 for each tenth of them */
export async function tell(
  stage: Stage,
  nowMs: number,
  { password, every }: { readonly password: string; readonly every: number },
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const team = await foundOrganisation(stage, password)
  const projects = new Map<AppName, Project>()
  const owner = await team.as(OWNER.email)
  for (const app of APPS) projects.set(app.name, await aProject(owner, app.name, app.platform))
  const world: World = { stage, nowMs, team, projects, issue: (type) => issueOf(team, type) }
  await prepare(world)

  const all = sendings(nowMs).filter(({ isFirst }, index) => isFirst === true || index % every === 0)
  const deeds = deedsOf(world).toSorted((a, b) => a.daysAgo - b.daysAgo)
  const recordEveryMs = RECORD_EVERY_MS * Math.min(every, MAX_RECORD_FACTOR)
  let recordedMs = 0
  let next = 0
  for (let atMs = nowMs - DAYS * DAY_MS; atMs < nowMs + STEP_MS; atMs += STEP_MS) {
    const endMs = Math.min(atMs, nowMs)
    stage.moveTo(endMs)
    const step: Sending[] = []
    for (let one = all[next]; one !== undefined && one.atMs <= endMs; one = all[++next]) step.push(one)
    await sendAll(world, step, endMs)
    const isRecent = nowMs - endMs < 2 * HOUR_MS
    const due = deeds.at(-1)
    const hasDeed = due !== undefined && nowMs - due.daysAgo * DAY_MS <= endMs
    if (hasDeed || isRecent || endMs - recordedMs >= recordEveryMs) {
      await stage.settle()
      recordedMs = endMs
    }
    for (let deed = deeds.at(-1); deed !== undefined && nowMs - deed.daysAgo * DAY_MS <= endMs; deed = deeds.at(-1)) {
      deeds.pop()
      await deed.run()
    }
    if (isRecent) await stage.evaluate()
    onProgress({ share: next / all.length, atMs: endMs, sent: next })
  }
}

async function sendAll({ stage, projects }: World, step: readonly Sending[], sentMs: number): Promise<void> {
  const left = [...step]
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) {
        const project = projects.get(one.app.name)
        const path = `/api/${project?.number}/envelope/?sentry_key=${project?.key}&sentry_version=7`
        const answer = await fetch(stage.url + path, { method: 'POST', body: envelope(sentMs, one.id, one.items) })
        const text = await answer.text()
        if (answer.status !== 200) throw new Error(`the intake answered ${answer.status}: ${text}`)
      }
    }),
  )
}

async function ok(answering: ReturnType<Client['get']>) {
  const answer = await answering
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`)
  return answer
}

async function foundOrganisation(stage: Stage, password: string): Promise<Team> {
  const clients = new Map<string, Client>()
  const as = async (email: string): Promise<Client> => {
    const one = clients.get(email) ?? client(stage.url)
    clients.set(email, one)
    await ok(one.post('/api/auth/login', { email, password }))
    return one
  }
  await ok(client(stage.url).post('/api/auth/signup', { ...OWNER, password }))
  const owner = await as(OWNER.email)
  for (const { name, email, role } of MEMBERS) {
    await ok(owner.post('/api/invites', { email, role }))
    const token = await waitFor(`the invitation of ${name}`, () => {
      const mail = stage.mails.find(({ to, text }) => to.includes(email) && text.includes('/invite?token='))
      return /\/invite\?token=([\w.-]+)/.exec(mail?.text ?? '')?.[1]
    })
    await ok(client(stage.url).post('/api/auth/accept-invite', { token, password, name }))
  }
  const members = (await ok(owner.get('/api/team'))).as<{ items: { id: string; email: string }[] }>()
  return { as, ids: new Map(members.items.map(({ id, email }) => [email, id])) }
}

async function aProject(owner: Client, name: string, platform: string): Promise<Project> {
  const { body } = await ok(owner.post('/api/projects', { name, platform, region: 'eu-central-1' }))
  const dsn = new URL(String(body['dsn']))
  return { id: String(body['id']), number: dsn.pathname.slice(1), key: dsn.username }
}

const projectOf = ({ projects }: Pick<World, 'projects'>, name: AppName): string => projects.get(name)?.id ?? ''

/** Releases that were out before, rules and views. */
async function prepare({ nowMs, team, projects }: World): Promise<void> {
  const owner = await team.as(OWNER.email)
  for (const app of APPS) {
    const projectId = projectOf({ projects }, app.name)
    for (const { version, daysAgo } of app.releases) {
      const released = new Date(nowMs - daysAgo * DAY_MS).toISOString()
      await ok(owner.post('/api/releases', { projectId, version, released_at: released }))
    }
  }
  const email = { type: 'email', to: [OWNER.email] }
  const rule = (name: AppName, fields: object) =>
    ok(owner.post('/api/alerts', { projectId: projectOf({ projects }, name), actions: [email], ...fields }))
  await rule('shopper-android', {
    name: 'A new crash of the app',
    trigger_type: 'new_issue',
    conditions: { severity: 'medium', environment: 'production' },
  })
  await rule('shopper-web', { name: 'An error is back', trigger_type: 'issue_regression', conditions: {} })
  await rule('shopper-android', {
    name: 'Screens are slow',
    trigger_type: 'performance_threshold',
    conditions: { metric: 'ttid', percentile: 'p75', threshold: 1_200, window_minutes: 720, min_count: 5 },
  })
  await ok(
    owner.patch(`/api/projects/${projectOf({ projects }, 'shopper-web')}/settings`, {
      ownership_rules: [
        { match: 'path', glob: 'src/checkout/*', user_id: team.ids.get(TOMO.email) },
        { match: 'path', glob: 'src/basket/*', user_id: team.ids.get(IMANI.email) },
      ],
    }),
  )
  await ok(owner.post('/api/views', { name: 'Checkout', query: 'screen:*heckout*', is_shared: true }))
}

async function issueOf(team: Team, type: string): Promise<string> {
  const { body } = await ok((await team.as(OWNER.email)).get('/api/issues?limit=100&range=30d'))
  const items = (body as { items: { id: string; type: string | null }[] }).items
  const found = items.find((one) => one.type === type)
  if (found === undefined) throw new Error(`there is no issue of ${type} yet`)
  return found.id
}

type Deed = { readonly daysAgo: number; readonly run: () => Promise<void> }

/** The work of the members. */
function deedsOf(world: World): Deed[] {
  const { team, issue } = world
  const say = async (email: string, type: string, body: string): Promise<void> => {
    await ok((await team.as(email)).post(`/api/issues/${await issue(type)}/comments`, { body }))
  }
  const change = async (email: string, type: string, fields: object): Promise<void> => {
    await ok((await team.as(email)).patch(`/api/issues/${await issue(type)}`, fields))
  }
  const assign = (by: string, type: string, to: string) => change(by, type, { assignee_id: team.ids.get(to) })
  const deed = (daysAgo: number, run: () => Promise<void>): Deed => ({ daysAgo, run })
  return [
    ...releaseDeeds(world),
    deed(22, async () => {
      const zoe = await team.as(ZOE.email)
      const { items } = (await ok(zoe.get('/api/alerts/fired?state=firing'))).as<{ items: { id: string }[] }>()
      for (const { id } of items) await ok(zoe.post(`/api/alerts/${id}/ack`))
    }),
    deed(21, () => change(ZOE.email, 'AbortError', { status: 'ignored' })),
    deed(14, () => assign(OWNER.email, REGRESSION.type, TOMO.email)),
    deed(13.8, () =>
      say(TOMO.email, REGRESSION.type, 'Two taps send the coupon twice. I disable the button meanwhile.'),
    ),
    deed(10.5, () =>
      change(TOMO.email, REGRESSION.type, { status: 'resolved', resolution: { in_release: 'shopper-web@2.30.0' } }),
    ),
    deed(8.6, () =>
      change(IMANI.email, 'TypeError', { status: 'resolved', resolution: { in_release: 'shopper-web@2.30.0' } }),
    ),
    deed(2.5, () => assign(ZOE.email, 'DeadlockError', IMANI.email)),
    deed(2.3, () =>
      say(
        IMANI.email,
        'DeadlockError',
        'Two orders reserve the same articles in different order. `ORDER BY sku` in `reserve` should do.\n\n- since **1.83.0**\n- only with more than one article',
      ),
    ),
    deed(0.4, () => assign(OWNER.email, 'IllegalStateException', TOMO.email)),
    deed(0.35, () =>
      say(
        OWNER.email,
        'IllegalStateException',
        `@${TOMO.name} can you take it before the rollout continues? It is the new sheet with delivery times.`,
      ),
    ),
    deed(0.3, () =>
      say(TOMO.email, 'IllegalStateException', 'The fragment is gone while the sheet is open. I am on it.'),
    ),
    deed(0.04, () => say(ZOE.email, 'ChunkLoadError', 'Only for pages that were open during the deploy?')),
  ]
}

/** Commits and deploys of the releases that came out in these days. */
function releaseDeeds({ nowMs, team, projects }: World): Deed[] {
  return APPS.flatMap((app) =>
    app.releases
      .filter(({ daysAgo }) => daysAgo < DAYS)
      .map(({ version, daysAgo }, index) => ({
        daysAgo: daysAgo - 0.02,
        async run() {
          const zoe = await team.as(ZOE.email)
          const list = `/api/releases?projectId=${projectOf({ projects }, app.name)}&limit=100`
          const { items } = (await ok(zoe.get(list))).as<{ items: { id: string; version: string }[] }>()
          const id = items.find((one) => one.version === version)?.id ?? ''
          const at = new Date(nowMs - daysAgo * DAY_MS)
          const commits = SUBJECTS.map((message, n) => ({
            id: `${index}${n}c0ffee${app.name.length}${n}`.padEnd(40, '0'),
            message,
            author_name: n % 2 === 0 ? TOMO.name : IMANI.name,
            timestamp: new Date(at.getTime() - (n + 1) * HOUR_MS).toISOString(),
          }))
          await ok(zoe.post(`/api/releases/${id}/commits`, { commits }))
          await ok(
            zoe.post(`/api/releases/${id}/deploys`, {
              environment: 'production',
              name: app.platform === 'web' ? 'all regions' : '20 %',
              started_at: at.toISOString(),
              finished_at: new Date(at.getTime() + 600_000).toISOString(),
            }),
          )
        },
      })),
  )
}

const SUBJECTS = ['Delivery times in a sheet', 'Prices with their unit', 'Reserve stock before payment'] as const
