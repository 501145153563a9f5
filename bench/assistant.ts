import { z } from 'zod'
import { guardStatement } from '#server/assistant/query/guard/guard-statement.ts'
import { BENIGN } from '#server/assistant/query/guard/statements.fixture.ts'
import { type BenchArgs, type BenchResult, type Figure, percentile } from './bench.ts'
import { waitUntilDrained } from './feed.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { affordable, seededData } from './read-data.ts'
import { startService } from './service.ts'
import { logIn } from './setup-project.ts'

export const summary =
  'the assistant: check of a statement, first words of an answer, questions as statements over 10 million events (--events=10000000, --rounds=3)'

const ASKED = [
  'How are we doing?',
  'What is new since yesterday?',
  'What is our crash-free rate?',
  'Which releases are the worst?',
  'How slow are transactions?',
  'Top 5 crashes in the last 7 days',
  'Which issues regressed this week?',
  'How many users were affected today?',
]

/** From one issue to every row of the project. */
const QUERIES = [
  'How many crashes were there in the last 24 hours?',
  'Top 10 issues by users since Tuesday',
  'Events by release in the last 7 days',
  'Events per hour in the last 24 hours',
  'Affected users by os in the last 3 days',
  'Crashes by device yesterday',
  'Events by exception type this week compared with last week',
  'Events by day in the last 30 days',
  'How many users were affected in the last 30 days?',
  'How many issues are unresolved?',
  'What is the crash-free rate by release in the last 7 days?',
  'How many sessions were there yesterday?',
  'Crash-free users this week compared with last week',
  'Slowest transactions in the last 7 days',
  'p95 of transactions by release',
  'Failure rate of transactions per day in the last 14 days',
]

const Refusal = z.object({ error: z.string() })

export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  const progress = (line: string): void => void process.stdout.write(`            ${line}\n`)
  const events = affordable(Number(options['events'] ?? 10_000_000))
  const rounds = Number(options['rounds'] ?? (long ? 10 : 3))
  progress('statements through the guard')
  const guarded = await timeGuard(long ? 20 : 5)
  const seeded = await seededData(events, Math.min(30_000, events), progress)
  const service = await startService({ env: { RATE_LIMIT_SCALE: '0' }, dataDir: seeded.dataDir })
  try {
    await waitUntilDrained(service)
    const headers = { cookie: await logIn(service.url), 'content-type': 'application/json' }
    const post = (path: string, body: object): Promise<Response> =>
      fetch(service.url + path, {
        method: 'POST',
        headers,
        body: JSON.stringify({ ...body, project_id: seeded.projectId }),
      })
    const firsts: number[] = []
    const answers: number[] = []
    const queries = new Map<string, number[]>()
    const broad = new Set<string>()
    for (let round = 0; round < rounds; round++) {
      progress(`round ${round + 1} of ${rounds}`)
      for (const content of ASKED) {
        const startedMs = performance.now()
        const answer = await post('/api/ask', { messages: [{ role: 'user', content }] })
        if (!answer.ok || answer.body === null) throw new Error(`"${content}" was answered with ${answer.status}`)
        const reader = answer.body.getReader()
        const { done } = await reader.read()
        firsts.push(performance.now() - startedMs)
        for (let isOver = done; !isOver;) isOver = (await reader.read()).done
        answers.push(performance.now() - startedMs)
      }
      for (const query of QUERIES) {
        const startedMs = performance.now()
        const answer = await post('/api/issues/nlq', { query })
        const body: unknown = await answer.json()
        const tookMs = performance.now() - startedMs
        if (answer.ok) queries.set(query, [...(queries.get(query) ?? []), tookMs])
        else if (answer.status === 400 && Refusal.parse(body).error.includes('too broad')) broad.add(query)
        else throw new Error(`"${query}" was answered with ${answer.status}: ${JSON.stringify(body)}`)
      }
    }
    const label = `${events / 1_000_000} M events`
    const slowest = [...queries].map(([query, times]) => [query, Math.max(...times)] as const)
    slowest.sort(([, a], [, b]) => b - a)
    const figures: Record<string, Figure> = {
      'guard of a statement, p50': { value: percentile(guarded, 50), unit: 'ms', goal: '≤1 ms' },
      'guard of a statement, p95': { value: percentile(guarded, 95), unit: 'ms' },
      'first words, p50': { value: percentile(firsts, 50), unit: 'ms' },
      'first words, p95': { value: percentile(firsts, 95), unit: 'ms', goal: '≤300 ms' },
      'whole answer, p95': { value: percentile(answers, 95), unit: 'ms' },
      [`${label}: question as a statement, p50`]: { value: percentile([...queries.values()].flat(), 50), unit: 'ms' },
      [`${label}: question as a statement, slowest`]: { value: slowest[0]?.[1] ?? 0, unit: 'ms', goal: '≤3,000 ms' },
      [`${label}: questions answered`]: { value: queries.size, unit: `of ${QUERIES.length}` },
    }
    return {
      figures,
      payload: `${events.toLocaleString('en')} events of 30 days in 100,000 issues; sessions and transactions of a week`,
      durability: 'fsync and synchronous_commit on',
      postgres: embeddedPostgresVersion(),
      notes: [
        ...slowest.slice(0, 5).map(([query, ms]) => `${Math.round(ms).toLocaleString('en')} ms: ${query}`),
        ...[...broad].map((query) => `too broad: ${query}`),
      ],
    }
  } finally {
    await service.stop()
  }
}

/** Times of benign statements, with the way to the thread and back. The first round starts the thread and is left out. */
async function timeGuard(rounds: number): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round <= rounds; round++)
    for (const statement of BENIGN) {
      const startedMs = performance.now()
      await guardStatement(statement, '01890000-0000-7000-8000-000000000000')
      if (round > 0) times.push(performance.now() - startedMs)
    }
  return times
}
