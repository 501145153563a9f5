/**
 * `npm run check` runs this over `server/`: it counts the arrows between districts (one district imports from another)
 * and the public files (files that another district imports), types included, and refuses more of them. The order of districts
 * and rooms is a rule of lint.
 *
 * `node scripts/check-districts.ts --list` prints arrows with their imports, and the districts with their lines.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { argv, stdout } from 'node:process'
import { fileURLToPath } from 'node:url'
import { serverDistricts } from './districts.ts'

/** Every pair of fourteen districts in strict order has 91. */
export const MAX_ARROWS = 60
/** Only falls: another one needs one fewer elsewhere. Lower it with the count. */
export const MAX_PUBLIC_FILES = 418

/** Paths from the root of the repository, with the text of each file. */
export type Sources = ReadonlyMap<string, string>

export type Traffic = {
  /** `ingest → events` and the number of its imports. */
  readonly arrows: ReadonlyMap<string, number>
  /** Files that another district imports. */
  readonly publicFiles: ReadonlySet<string>
}

const IMPORT = /(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*'((?:\.{1,2}\/|#server\/)[^']+)'/g

const districtOf = (file: string): string | undefined =>
  serverDistricts.find(({ name }) => file.startsWith(`server/${name}/`))?.name

export function countTraffic(sources: Sources): Traffic {
  const arrows = new Map<string, number>()
  const publicFiles = new Set<string>()
  for (const [file, text] of sources) {
    const from = districtOf(file)
    if (from === undefined) continue
    for (const [, path = ''] of text.matchAll(IMPORT)) {
      const target = path.startsWith('#') ? path.slice(1) : normalize(join(dirname(file), path)).replaceAll('\\', '/')
      const to = districtOf(target)
      if (to === undefined || to === from || !sources.has(target)) continue
      const arrow = `${from} → ${to}`
      arrows.set(arrow, (arrows.get(arrow) ?? 0) + 1)
      publicFiles.add(target)
    }
  }
  return { arrows, publicFiles }
}

/** Sentences about what is refused; empty when all is well. */
export function problemsOf(
  { arrows, publicFiles }: Traffic,
  maxArrows = MAX_ARROWS,
  maxPublicFiles = MAX_PUBLIC_FILES,
): string[] {
  const problems: string[] = []
  if (arrows.size > maxArrows)
    problems.push(
      `server/ has ${arrows.size} arrows between districts; the maximum is ${maxArrows}. Pass what the lower district needs as a parameter, or move the file to the district it belongs to.`,
    )
  if (publicFiles.size > maxPublicFiles)
    problems.push(
      `server/ has ${publicFiles.size} public files (files that another district imports); the maximum is ${maxPublicFiles}. Import a file that is public already, or make another one private to its district.`,
    )
  if (publicFiles.size < maxPublicFiles)
    problems.push(
      `server/ has ${publicFiles.size} public files: set MAX_PUBLIC_FILES in scripts/check-districts.ts to that, so that it stays.`,
    )
  return problems
}

/** The files of `server/` without tests and fixtures. */
export const productSources = (root: string): Sources =>
  new Map(
    globSync('server/**/*.ts', { cwd: root })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => !/\.(?:test|fixture)\.ts$/.test(file))
      .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
  )

if (argv[1] === fileURLToPath(import.meta.url)) {
  const sources = productSources(fileURLToPath(new URL('..', import.meta.url)))
  const traffic = countTraffic(sources)
  if (argv.includes('--list')) {
    for (const [arrow, imports] of [...traffic.arrows].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      stdout.write(`${arrow}  ${imports}\n`)
    for (const { name } of serverDistricts) {
      const lines = [...sources]
        .filter(([file]) => districtOf(file) === name)
        .reduce((sum, [, text]) => sum + text.split('\n').length - 1, 0)
      stdout.write(`${name}: ${lines} lines\n`)
    }
    stdout.write(`${traffic.arrows.size} arrows, ${traffic.publicFiles.size} public files\n`)
  }
  const problems = problemsOf(traffic)
  if (problems.length > 0) stdout.write(`${problems.join('\n')}\n`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
