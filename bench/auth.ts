import { client } from '#test/kit/client.ts'
import { median, type BenchArgs, type BenchResult } from './bench.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { startService } from './service.ts'
import { ACCOUNT, readMetric, setUpProject } from './setup-project.ts'

export const summary =
  'time of a log-in for a known and an unknown user, hashes of parallel wrong passwords, the authentication step inside the service (--pairs=200, --requests=3000, --parallel=500)'

const HASHES = 'faultline_password_hashes_total'
const STEP = 'faultline_http_authentication_seconds'
const WRONG = 'certainly the wrong one'

/**
 * Two services one after the other: limits end a series of wrong passwords after five, so the pairs and the requests run
 * against one whose limits count and allow a thousand times as much.
 */
export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  const pairs = Number(options['pairs'] ?? (long ? 1_000 : 200))
  const requests = Number(options['requests'] ?? 3_000)
  const parallel = Number(options['parallel'] ?? 500)
  const { logIns, step } = await unlimited(pairs, requests)
  const { hashes, refused, knownDevice } = await attacked(parallel)
  return {
    figures: {
      'log-in, known user, p50': { value: median(logIns.known), unit: 'ms' },
      'log-in, unknown user, p50': { value: median(logIns.unknown), unit: 'ms' },
      'medians apart': {
        value: Math.abs(median(logIns.known) - median(logIns.unknown)),
        unit: 'ms',
        goal: '≤5 ms',
      },
      'median difference of a pair': {
        value: median(logIns.known.map((ms, at) => ms - (logIns.unknown[at] ?? 0))),
        unit: 'ms',
      },
      [`hashes of ${parallel} wrong passwords`]: { value: hashes, unit: '', goal: '≤5' },
      'of them refused with 429': { value: refused, unit: '' },
      'right one of a known device meanwhile': { value: knownDevice, unit: 'status' },
      'authentication step, p50': { value: step(50), unit: 'ms', goal: '≤0.5 ms' },
      'authentication step, p99': { value: step(99), unit: 'ms' },
    },
    durability: 'fsync and synchronous_commit on',
    postgres: embeddedPostgresVersion(),
    notes: [
      `${pairs} pairs of wrong passwords, one after the other, the first of a pair in turns; argon2id with 64 MiB and three passes`,
      `${requests} requests of one session, one after the other, by the histogram ${STEP}: verifying the token, session, membership, permission; the session is read again after five seconds`,
    ],
  }
}

async function unlimited(pairs: number, requests: number) {
  const service = await startService({ env: { RATE_LIMIT_SCALE: '1000' } })
  try {
    const { cookie } = await setUpProject(service.url)
    const logIns = await comparedLogIns(service.url, pairs)
    const before = await stepBuckets(service.url)
    for (let n = 0; n < requests; n++) {
      const answer = await fetch(`${service.url}/api/projects`, { headers: { cookie } })
      await answer.arrayBuffer()
      if (!answer.ok) throw new Error(`the request answered ${answer.status}`)
    }
    const after = await stepBuckets(service.url)
    return { logIns, step: (p: number) => quantileOf(before, after, p) }
  } finally {
    await service.stop()
  }
}

/** In turns: the load of the machine is the same for both. */
async function comparedLogIns(url: string, pairs: number): Promise<{ known: number[]; unknown: number[] }> {
  const took = { known: [] as number[], unknown: [] as number[] }
  // The first log-ins of a process are slow.
  for (let n = -5; n < pairs; n++)
    for (const who of n % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)) {
      const email = who === 'known' ? ACCOUNT.email : `unknown-${n}@example.com`
      const startedMs = performance.now()
      const { status } = await client(url).post('/api/auth/login', { email, password: WRONG })
      if (status !== 401) throw new Error(`the log-in answered ${status}`)
      if (n >= 0) took[who].push(performance.now() - startedMs)
    }
  return took
}

async function attacked(parallel: number) {
  const service = await startService()
  try {
    await setUpProject(service.url)
    const device = client(service.url)
    await device.post('/api/auth/login', ACCOUNT)
    const before = await readMetric(service.url, HASHES)
    const answers = await Promise.all(
      Array.from({ length: parallel }, () =>
        client(service.url).post('/api/auth/login', { ...ACCOUNT, password: WRONG }),
      ),
    )
    const hashes = (await readMetric(service.url, HASHES)) - before
    const { status } = await device.post('/api/auth/login', ACCOUNT)
    return { hashes, refused: answers.filter((answer) => answer.status === 429).length, knownDevice: status }
  } finally {
    await service.stop()
  }
}

type Buckets = readonly { readonly leMs: number; readonly count: number }[]

async function stepBuckets(url: string): Promise<Buckets> {
  const text = await (await fetch(`${url}/-/metrics`)).text()
  return [...text.matchAll(new RegExp(`^${STEP}_bucket\\{le="([^"]+)"\\} (\\d+)$`, 'gm'))].map(([, le, count]) => ({
    leMs: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le) * 1_000,
    count: Number(count),
  }))
}

/** The quantile of what was counted between two readings, interpolated in its bucket. */
function quantileOf(before: Buckets, after: Buckets, p: number): number {
  const counts = after.map(({ leMs, count }, at) => ({ leMs, count: count - (before[at]?.count ?? 0) }))
  const wanted = ((counts.at(-1)?.count ?? 0) * p) / 100
  const at = counts.findIndex(({ count }) => count >= wanted)
  const [bucket, below] = [counts[at], counts[at - 1] ?? { leMs: 0, count: 0 }]
  if (bucket === undefined || wanted === 0) throw new Error('nothing was measured')
  return below.leMs + ((bucket.leMs - below.leMs) * (wanted - below.count)) / (bucket.count - below.count)
}
