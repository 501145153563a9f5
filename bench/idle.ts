import { setTimeout as delay } from 'node:timers/promises'
import type { BenchArgs, BenchResult } from './bench.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { memoryOfTree } from './process-tree.ts'
import { startService } from './service.ts'

export const summary = 'P11: memory of the whole process tree, 30 s after the start, without requests (--seconds=30)'

export async function run({ options }: BenchArgs): Promise<BenchResult> {
  const seconds = Number(options['seconds'] ?? 30)
  const service = await startService()
  try {
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
      notes: [`read ${seconds} s after it was ready, without \`npm\` itself, from smaps_rollup`],
    }
  } finally {
    await service.stop()
  }
}
