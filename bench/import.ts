import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { fakeSentry, SOURCE_ORG, wordOf } from '#test/kit/fake-sentry.ts'
import type { BenchArgs, BenchResult } from './bench.ts'
import { memoryOfTree } from './process-tree.ts'
import { startService } from './service.ts'
import { setUpProject } from './setup-project.ts'

export const summary =
  'an import of an organisation with many issues, each with three events and every tenth with a comment (--issues=5000, or 100000 with --long; --latency=20 ms of the source)'

const Import = z.object({
  id: z.string(),
  state: z.string(),
  problem: z.unknown(),
  counts: z.record(z.string(), z.object({ done: z.number() })),
})

/** The product in one process, and this process as the source. */
export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  const issues = Number(options['issues'] ?? (long ? 100_000 : 5_000))
  const latencyMs = Number(options['latency'] ?? 20)
  const source = await fakeSentry(
    new Date(),
    [
      {
        id: '4500000000000001',
        slug: 'shop',
        platform: 'javascript-react',
        publicKey: 'c'.repeat(32),
        issues: Array.from({ length: issues }, (_, index) => ({
          id: String(index + 1),
          title: `cart ${wordOf(String(index + 1))} is undefined`,
          count: 40,
          userCount: 12,
          events: 3,
          status: index % 5 === 0 ? ('resolved' as const) : ('unresolved' as const),
          ...(index % 10 === 0
            ? { comments: [{ id: `c${index}`, text: 'Seen on the tablet.', email: 'ada@example.com', name: 'Ada' }] }
            : {}),
        })),
      },
    ],
    { latencyMs },
  )
  const service = await startService()
  try {
    const { cookie } = await setUpProject(service.url)
    const call = async (method: string, path: string, body?: unknown) => {
      const answer = await fetch(service.url + path, {
        method,
        headers: { 'content-type': 'application/json', origin: service.url, cookie },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
      return Import.parse(await answer.json())
    }
    const { id } = await call('POST', '/api/org/imports', {
      url: source.url,
      organisation: SOURCE_ORG,
      token: source.token,
    })
    const startedMs = performance.now()
    await call('PATCH', `/api/org/imports/${id}`, { state: 'running' })
    let [peakMiB, now] = [0, await call('GET', `/api/org/imports/${id}`)]
    let shownMs = performance.now()
    while (now.state === 'running') {
      await delay(500)
      peakMiB = Math.max(
        peakMiB,
        memoryOfTree(service.pid).reduce((sum, { pssMiB }) => sum + pssMiB, 0),
      )
      now = await call('GET', `/api/org/imports/${id}`)
      if (performance.now() - shownMs < 10_000) continue
      shownMs = performance.now()
      process.stdout.write(`  ${now.counts['issues']?.done ?? 0} of ${issues} issues\n`)
    }
    const seconds = (performance.now() - startedMs) / 1_000
    const done = now.counts['issues']?.done ?? 0
    return {
      figures: {
        'issues imported': { value: done, unit: '' },
        'issues a second': { value: done / seconds, unit: '/s' },
        'events a second': { value: (now.counts['events']?.done ?? 0) / seconds, unit: '/s' },
        'whole import': { value: seconds / 60, unit: 'min' },
        'requests of an issue': { value: source.requests.length / done, unit: '' },
        'memory at most, with the database': { value: peakMiB, unit: 'MiB' },
      },
      payload: `${issues} issues with three events of 2 kB, every tenth with a comment, every fifth resolved; the source answers after ${latencyMs} ms`,
      notes: [`ended in the state ${now.state}`],
    }
  } finally {
    await service.stop()
    await source.close()
  }
}
