import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { evaluateRules } from '#server/alerts/evaluation/evaluate-rules.ts'
import { AlertMessage } from '#server/alerts/rules/alert-message.ts'
import { createApp } from '#server/service/app.ts'
import { createRule } from '#server/alerts/rules/create-rule.ts'
import { NewRule } from '#server/alerts/rules/rule.api.ts'
import { migrateDatabase } from '#server/service/cli/database.ts'
import { readConfig } from '#server/config/config.ts'
import type { App } from '#server/platform/context/app.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { record, transactionFact } from '#server/telemetry/performance/performance.fixture.ts'
import { fakeClock } from '#test/kit/fake-clock.ts'
import { aPerson } from '#test/kit/members.ts'
import { startReceiver } from '#test/kit/receiver.ts'
import { insertProject } from '#test/kit/route-examples.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { type BenchArgs, type BenchResult, percentile } from './bench.ts'
import { waitUntilDrained } from './feed.ts'
import { describe, target } from './intake.ts'
import { runLoad } from './load.ts'
import { makeEvents, STANDARD_SHAPE } from './payloads.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { startService } from './service.ts'
import { addProject, type BenchProject, setUpProject } from './setup-project.ts'

export const summary =
  'P6: from the acknowledgement of an event to the request of its alert, while 500/s arrive; 1,000 rules over 100 projects evaluated for a minute (--seconds=30, --rate=500, --long)'

const WARM_UP_MS = 5_000
const PROBE_EVERY_MS = 250
/** A rule sends ten alerts in a minute one by one: each probe is of the next project. */
const PROJECTS = 30
const GIVE_UP_MS = 20_000

export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  const seconds = Number(options['seconds'] ?? (long ? 300 : 30))
  const ratePerSecond = Number(options['rate'] ?? 500)
  const events = makeEvents(STANDARD_SHAPE)
  const arrivals = new Map<string, number>()
  const receiver = await startReceiver({
    keepRequests: false,
    respond({ body }) {
      const message = AlertMessage.parse(JSON.parse(body.toString()))
      arrivals.set(message.data.issue?.title ?? '', performance.now())
      return 200
    },
  })
  const service = await startService({ env: { RATE_LIMIT_SCALE: '0' } })
  try {
    const project = await setUpProject(service.url)
    const probed: BenchProject[] = []
    for (let n = 0; n < PROJECTS; n++) {
      const one = await addProject(service.url, project.cookie, `Probed ${n}`)
      await addRule(service.url, one, receiver.url)
      probed.push(one)
    }
    const load = (durationMs: number) =>
      runLoad({ ...target(service.url, project), events, connections: 32, ratePerSecond, durationMs })
    await load(WARM_UP_MS)
    await waitUntilDrained(service)
    const loading = load(seconds * 1_000)
    const sent = new Map<string, number>()
    const until = performance.now() + seconds * 1_000
    for (let n = 0; performance.now() < until; n++) {
      const one = probed[n % PROJECTS]
      if (one !== undefined) await probe(service.url, one, `Probe${n}Error`, sent)
      await delay(PROBE_EVERY_MS)
    }
    const { accepted, elapsedMs } = await loading
    const arrivalOf = (type: string): number | undefined =>
      [...arrivals].find(([title]) => title.startsWith(`${type}:`))?.[1]
    const deadline = performance.now() + GIVE_UP_MS
    while ([...sent.keys()].some((type) => arrivalOf(type) === undefined) && performance.now() < deadline)
      await delay(50)
    const times = [...sent].map(([type, atMs]) => Math.max(0, (arrivalOf(type) ?? atMs + GIVE_UP_MS) - atMs))
    const evaluation = await measureEvaluation()
    return {
      figures: {
        'request after, p50': { value: percentile(times, 50), unit: 'ms' },
        'request after, p99': { value: percentile(times, 99), unit: 'ms', goal: '≤2,000 ms (P6)' },
        'request after, slowest': { value: Math.max(...times), unit: 'ms' },
        alerts: { value: times.length, unit: '' },
        'accepted meanwhile': { value: accepted / (elapsedMs / 1_000), unit: 'requests/s' },
        '1,000 rules, slowest minute': { value: evaluation, unit: 'ms', goal: '≤1,000 ms' },
      },
      payload: describe(events),
      durability: 'fsync and synchronous_commit on',
      postgres: embeddedPostgresVersion(),
      notes: [
        'a probe is an event of a new issue, of which a rule sends a signed webhook; from the answer of the intake to the request at the receiver',
        `evaluation: ${EVALUATED.projects} projects with ${EVALUATED.issues} issues that had an event in every minute of an hour; rules of all five measured triggers, two of each in every project; the slowest of ${EVALUATED.minutes} minutes`,
        'load generator, receiver, service and database on the same machine',
      ],
    }
  } finally {
    await service.stop()
    await receiver.close()
  }
}

async function addRule(url: string, { projectId, cookie }: BenchProject, receiverUrl: string): Promise<void> {
  const answer = await fetch(`${url}/api/alerts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url, cookie },
    body: JSON.stringify({
      projectId,
      name: 'New issues',
      trigger_type: 'new_issue',
      actions: [{ type: 'webhook', webhook_url: `${receiverUrl}/hook` }],
    }),
  })
  if (answer.status !== 201) throw new Error(`a rule was answered ${answer.status}: ${await answer.text()}`)
  await answer.arrayBuffer()
}

/** Sends an event of a new issue, and notes when it was acknowledged. */
async function probe(url: string, project: BenchProject, type: string, sent: Map<string, number>): Promise<void> {
  const frames = [{ function: type, filename: `${type}.js` }]
  const event = {
    timestamp: Date.now() / 1_000,
    platform: 'node',
    exception: { values: [{ type, value: 'sent?', stacktrace: { frames } }] },
  }
  const answer = await fetch(`${url}/api/${project.number}/envelope/?sentry_key=${project.publicKey}`, {
    method: 'POST',
    body: `{}\n{"type":"event"}\n${JSON.stringify(event)}`,
  })
  if (!answer.ok) throw new Error(`a probe was answered ${answer.status}: ${await answer.text()}`)
  await answer.arrayBuffer()
  sent.set(type, performance.now())
}

const EVALUATED = { projects: 100, issues: 20, minutes: 5 }
const TRIGGERS = [
  'issue_spike',
  'pre_crash_state',
  'battery_drain_threshold',
  'performance_threshold',
  'critical_path',
] as const
const RULES_OF_EACH = 2
const MINUTE_MS = 60_000

/** Milliseconds of the slowest minute. */
async function measureEvaluation(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-'))
  chmodSync(folder, 0o755)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'database'), log: () => {} })
  try {
    await migrateDatabase(postgres.connectionString, () => {}, new AbortController().signal)
    const clock = fakeClock(new Date())
    const config = readConfig({ FAULTLINE_DATA_DIR: join(folder, 'service'), LOG_LEVEL: 'warn' })
    const app = await createApp(config, postgres.connectionString, 4, 'bench', { clock })
    try {
      await seed(app)
      const times: number[] = []
      for (let minute = 0; minute < EVALUATED.minutes; minute++) {
        const startedMs = performance.now()
        await evaluateRules(app)
        times.push(performance.now() - startedMs)
        clock.advance(MINUTE_MS)
      }
      return Math.max(...times)
    } finally {
      await app.close()
    }
  } finally {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** None of the conditions holds: an ordinary minute. */
async function seed(app: App): Promise<void> {
  const owner = await aPerson(app)
  const now = app.clock.now()
  for (let n = 0; n < EVALUATED.projects; n++) {
    const projectId = await insertProject(app, owner)
    const issueIds = await seedIssues(app, projectId, EVALUATED.issues)
    await app.db.query(
      `insert into alert_issue_minutes (project_id, issue_id, minute, events)
       select $1, i, date_trunc('minute', $3::timestamptz) - m * interval '1 minute', 1
       from unnest($2::uuid[]) i, generate_series(0, 59) m`,
      [projectId, issueIds, now],
    )
    const starts = Array.from({ length: 60 }, () =>
      transactionFact(projectId, { measurements: { app_start_cold: { value: 900 } } }, now),
    )
    await record(app.db, starts, now)
    for (let rule = 0; rule < TRIGGERS.length * RULES_OF_EACH; rule++)
      await createRule(
        app,
        owner.actor,
        NewRule.parse({ projectId, name: `Rule ${rule}`, trigger_type: TRIGGERS[rule % TRIGGERS.length] }),
      )
  }
  for (const table of ['alert_rules', 'alert_issue_minutes', 'issues']) await app.db.query(`vacuum analyze ${table}`)
}
