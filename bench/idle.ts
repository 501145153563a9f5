import { setTimeout as delay } from 'node:timers/promises'
import type { BenchArgs, BenchResult } from './bench.ts'
import { eventsOfSize, feedAndWatch, waitUntilDrained } from './feed.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { memoryOfTree } from './process-tree.ts'
import { startService } from './service.ts'
import { setUpProject } from './setup-project.ts'

export const summary =
  'P11: memory of the whole process tree, 30 s after the start, without requests (--seconds=30, --traffic=<seconds>: after so long a load of 20 kB events, all of them digested)'

export async function run({ options }: BenchArgs): Promise<BenchResult> {
  const seconds = Number(options['seconds'] ?? 30)
  const trafficMs = Number(options['traffic'] ?? 0) * 1_000
  const service = await startService(trafficMs > 0 ? { env: { RATE_LIMIT_SCALE: '0' } } : {})
  try {
    if (trafficMs > 0) {
      const project = await setUpProject(service.url)
      await feedAndWatch(service, project, { events: eventsOfSize(20_000, 1_000) }, trafficMs)
      await waitUntilDrained(service)
    }
    await delay(seconds * 1000)
    const shares = memoryOfTree(service.pid)
    const sum = (isMeant: (command: string) => boolean) =>
      shares.filter(({ command }) => isMeant(command)).reduce((total, { pssMiB }) => total + pssMiB, 0)
    const isDatabase = (command: string) => /postgres/.test(command)
    return {
      figures: {
        'whole tree (PSS)': { value: sum(() => true), unit: 'MiB', goal: '≤256 MiB (P11)' },
        service: { value: sum((command) => !isDatabase(command)), unit: 'MiB' },
        database: { value: sum(isDatabase), unit: 'MiB' },
        processes: { value: shares.length, unit: '' },
      },
      durability: 'fsync and synchronous_commit on',
      postgres: embeddedPostgresVersion(),
      notes: [
        `read ${seconds} s after it was ${trafficMs > 0 ? 'drained' : 'ready'}, without \`npm\` itself, from smaps_rollup`,
      ],
    }
  } finally {
    await service.stop()
  }
}
