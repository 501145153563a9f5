import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { BenchResult, Figure } from './bench.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'

export const summary = 'compressed scripts and styles that a browser has asked for at the first content, for every page'

const root = join(import.meta.dirname, '..')

const Sizes = z.object({ jsBytes: z.number(), cssBytes: z.number() })
const Loads = z.record(
  z.string(),
  z
    .object({ files: z.array(z.string()), gzip: Sizes, transferred: Sizes })
    .transform(({ files, gzip, transferred }) => ({
      files: { value: files.length, unit: '' },
      'JavaScript, gzip': { value: kB(gzip.jsBytes), unit: 'kB', goal: '≤200' },
      'CSS, gzip': { value: kB(gzip.cssBytes), unit: 'kB', goal: '≤20' },
      'JavaScript, brotli': { value: kB(transferred.jsBytes), unit: 'kB' },
      'CSS, brotli': { value: kB(transferred.cssBytes), unit: 'kB' },
    })),
)

const kB = (bytes: number): number => Math.round(bytes / 100) / 10

/** Runs the browser test that holds the budget, which measures every page. */
export function run(): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-web-size-'))
  try {
    const file = join(folder, 'loads.json')
    spawnSync(process.execPath, ['scripts/test.mjs', 'test/e2e/first-load.e2e.test.ts'], {
      cwd: root,
      env: { ...process.env, WEB_SIZE_FILE: file },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const loads = Loads.parse(JSON.parse(readFileSync(file, 'utf8')))
    const figures = Object.entries(loads).flatMap(([route, load]) =>
      Object.entries(load).map(([name, figure]): [string, Figure] => [`${route} ${name}`, figure]),
    )
    return Promise.resolve({
      figures: Object.fromEntries(figures),
      durability: 'none: nothing is stored',
      postgres: embeddedPostgresVersion(),
      notes: [
        'bodies without headers; files as the build compresses them',
        'brotli as transferred to this browser; gzip where the address is neither https nor local',
      ],
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
