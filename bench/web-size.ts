import { gzipSync } from 'node:zlib'
import { join } from 'node:path'
import { build, type Rolldown } from 'vite'
import type { BenchResult } from './bench.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'

export const summary = 'gzip sizes of what a browser loads first, per page of the dashboard'

const root = join(import.meta.dirname, '..')

/** Gzip bytes of everything a page needs before it is drawn. */
export type FirstLoad = { jsBytes: number; cssBytes: number; files: readonly string[] }

/** The pages that are measured. The budget is that of `issues`. */
const PAGES = {
  '/issues': 'features/issues/list/issues-page',
  '/issues/:id': 'features/issues/page/issue-page',
  '/login': 'features/identity/accounts/login-page',
  '/onboarding': 'features/projects/onboarding/onboarding-page',
  '/projects/:id/settings/keys': 'features/projects/settings/keys-page',
} as const

/** Builds the dashboard in memory and adds up, per page, the entry, the page's own chunk, and all they import. */
export async function measureFirstLoads(): Promise<Record<string, FirstLoad>> {
  const built = await buildForProduction()
  if (!('output' in built)) throw new Error('the build gave no single output')
  const chunks = built.output.filter((file) => file.type === 'chunk')
  const assets = new Map(
    built.output.filter((file) => file.type === 'asset').map((file) => [file.fileName, file.source]),
  )
  const entry = chunks.find((chunk) => chunk.isEntry)
  if (entry === undefined) throw new Error('the build has no entry')

  const loadOf = (page: string): FirstLoad => {
    const own = chunks.find((chunk) => chunk.facadeModuleId?.endsWith(`/web/${page}.tsx`) === true)
    if (own === undefined) throw new Error(`the build has no chunk for ${page}.tsx`)
    const needed = closure([entry, own], chunks)
    const styles = new Set(needed.flatMap((chunk) => [...(chunk.viteMetadata?.importedCss ?? [])]))
    return {
      jsBytes: sum(needed.map((chunk) => gzipSync(chunk.code).length)),
      cssBytes: sum([...styles].map((name) => gzipSync(assets.get(name) ?? '').length)),
      files: [...needed.map((chunk) => chunk.fileName), ...styles],
    }
  }
  return Object.fromEntries(Object.entries(PAGES).map(([address, page]) => [address, loadOf(page)]))
}

/** The NODE_ENV of a test runner would select the development build of React, twice the size. */
async function buildForProduction() {
  const before = process.env.NODE_ENV
  process.env.NODE_ENV = 'production'
  try {
    return await build({
      configFile: join(root, 'vite.config.ts'),
      root: join(root, 'web'),
      mode: 'production',
      logLevel: 'error',
      build: { write: false },
    })
  } finally {
    process.env.NODE_ENV = before
  }
}

/** The chunks and everything they import statically, each once. */
function closure(start: readonly Rolldown.OutputChunk[], all: readonly Rolldown.OutputChunk[]): Rolldown.OutputChunk[] {
  const byName = new Map(all.map((chunk) => [chunk.fileName, chunk]))
  const needed = new Set<Rolldown.OutputChunk>()
  const add = (chunk: Rolldown.OutputChunk) => {
    if (needed.has(chunk)) return
    needed.add(chunk)
    for (const name of chunk.imports) {
      const imported = byName.get(name)
      if (imported !== undefined) add(imported)
    }
  }
  for (const chunk of start) add(chunk)
  return [...needed]
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

export async function run(): Promise<BenchResult> {
  const loads = await measureFirstLoads()
  const kB = (bytes: number) => Math.round(bytes / 100) / 10
  return {
    figures: Object.fromEntries(
      Object.entries(loads).flatMap(([address, { jsBytes, cssBytes }]) => [
        [
          `${address} JavaScript`,
          { value: kB(jsBytes), unit: 'kB', ...(address === '/issues' ? { goal: '≤200 kB gzip' } : {}) },
        ],
        [
          `${address} CSS`,
          { value: kB(cssBytes), unit: 'kB', ...(address === '/issues' ? { goal: '≤20 kB gzip' } : {}) },
        ],
      ]),
    ),
    durability: 'none: nothing is stored',
    postgres: embeddedPostgresVersion(),
    notes: ['gzip at its default level, each file separately, as the server sends it'],
  }
}
