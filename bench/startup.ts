import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type BenchArgs, type BenchResult, median } from './bench.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { startService } from './service.ts'

export const summary = 'P12: `npm start` until /readyz says 200, very first and warm (--runs=5)'

const root = join(import.meta.dirname, '..')
const command = ['npm', 'start', '--silent']

export async function run({ options }: BenchArgs): Promise<BenchResult> {
  const runs = Number(options['runs'] ?? 5)
  const first: number[] = []
  const warm: number[] = []
  for (let n = 0; n < runs; n++) {
    const { checkout, remove } = freshCheckout()
    try {
      const dataDir = join(checkout, 'data')
      for (const times of [first, warm]) {
        const service = await startService({ checkout, dataDir, command })
        times.push(service.readyMs)
        await service.stop()
      }
    } finally {
      remove()
    }
  }
  return {
    figures: {
      'very first': { value: median(first), unit: 'ms', goal: '≤6,000 ms (P12)' },
      warm: { value: median(warm), unit: 'ms', goal: '≤2,000 ms (P12)' },
      'very first, slowest': { value: Math.max(...first), unit: 'ms' },
      'warm, slowest': { value: Math.max(...warm), unit: 'ms' },
    },
    durability: 'fsync and synchronous_commit on',
    postgres: embeddedPostgresVersion(),
    notes: [
      `median of ${runs}; "very first" builds the dashboard, creates the database and runs every migration`,
      'the time includes npm itself',
    ],
  }
}

/** A copy of the checkout as a clone has it, with the packages of this one: nothing built, no data. */
function freshCheckout(): { checkout: string; remove: () => void } {
  const checkout = mkdtempSync(join(tmpdir(), 'faultline-startup-'))
  chmodSync(checkout, 0o755)
  const parts = [
    'server',
    'scripts',
    'shared',
    'migrations',
    'web',
    'docs',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'vite.config.ts',
    '.npmrc',
  ]
  for (const part of parts.filter((name) => existsSync(join(root, name)))) {
    cpSync(join(root, part), join(checkout, part), {
      recursive: true,
      filter: (path) => !basename(path).startsWith('dist'),
    })
  }
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  return { checkout, remove: () => rmSync(checkout, { recursive: true, force: true }) }
}
