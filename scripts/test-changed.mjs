/**
 * `npm run test:changed [-- --base=<revision>] [--list] [--why=<test file>] [vitest arguments]`: runs the test files that
 * the changes since the base can reach, files that are not committed included. `import-graph.ts` finds them.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { dependenciesOf, foldersOf, reachedBy } from './import-graph.ts'
import { root } from './runtime.mjs'
import { runVitest } from './vitest.mjs'

/** Every test depends on these without naming them. */
const EVERYTHING = ['package.json', 'package-lock.json', 'vitest.config.ts']
const CODE = /\.(?:[cm]?[jt]s|tsx|css|html)$/
const HELP = `npm run test:changed [-- --base=<revision>] [--list] [--why=<test file>] [vitest arguments]
Runs the test files that changes since the base can reach, files that are not committed included.
  --base=<revision>   by default where the branch left main
  --list              prints the files and runs nothing
  --why=<test file>   prints through which files a change reaches this one, and runs nothing
`

const words = process.argv.slice(2)
const valueOf = (name) => words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)
if (words.includes('--help')) process.stdout.write(HELP)
else await testChanged()

async function testChanged() {
  const base = valueOf('base') ?? git('merge-base', 'main', 'HEAD')?.at(0) ?? 'HEAD'
  const differing = git('diff', '--name-only', '--no-renames', base)
  if (differing === null) return fail(`git knows no revision ${base}: give another one, such as --base=HEAD.`)
  const untracked = git('ls-files', '--others', '--exclude-standard') ?? []
  const changed = [...new Set([...differing, ...untracked])]
  const { tests, via } = await testsReachedBy(changed, [...(git('ls-files') ?? []), ...untracked])

  const why = valueOf('why')
  if (why !== undefined)
    return print(tests.includes(why) ? chainOf(why, via).join('\n  → ') : `No change reaches ${why}.`)
  print(`${changed.length} files changed since ${base.slice(0, 12)} and reach ${tests.length} test files`)
  if (words.includes('--list')) return print(tests.join('\n'))
  if (tests.length === 0) return print('0 passed, 0 failed')
  await runVitest([...tests, ...words.filter((word) => !word.startsWith('--base='))])
}

/** @returns the test files, and for each reached file the one that a change reaches it through */
async function testsReachedBy(changed, known) {
  const { test } = (await import('../vitest.config.ts')).default
  const projects = test.projects.map((project) => project.test)
  const files = new Set([...known, ...changed])
  const folders = new Set([...files].flatMap(foldersOf))
  const { imports: subpaths } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const graph = new Map()
  for (const file of files) {
    const path = join(root, file)
    if (!CODE.test(file) || EVERYTHING.includes(file) || !existsSync(path)) continue
    const text = readFileSync(path, 'utf8')
    const dependencies = dependenciesOf(file, text, { files, folders, subpaths })
    // A value of a global setup is named by the test's `inject` alone.
    if (/\binject\(/.test(text)) dependencies.push(...[test.globalSetup ?? []].flat())
    graph.set(file, dependencies)
  }
  const tests = []
  for (const { include, exclude = [], globalSetup = [], setupFiles = [] } of projects) {
    const isTest = (file) =>
      [include, exclude].map((all) => all.some((one) => matchesGlob(file, one))).join() === 'true,false'
    for (const file of [...graph.keys()].filter(isTest)) {
      tests.push(file)
      graph.get(file).push(...EVERYTHING, ...[globalSetup, setupFiles].flat())
    }
  }
  const via = reachedBy(changed, graph)
  return { tests: tests.filter((file) => via.has(file)), via }
}

/** From the test file to the changed one. */
function chainOf(file, via) {
  const next = via.get(file)
  return next === file ? [file] : [file, ...chainOf(next, via)]
}

/** @returns lines, or null when git refuses */
function git(...args) {
  const { status, stdout } = spawnSync('git', ['-c', 'core.quotePath=false', ...args], { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.split('\n').filter((line) => line !== '') : null
}

function print(text) {
  process.stdout.write(`${text}\n`)
}

function fail(text) {
  process.stderr.write(`${text}\n`)
  process.exitCode = 1
}
