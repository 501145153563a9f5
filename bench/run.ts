import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Bench, BenchArgs, BenchResult } from './bench.ts'

/** Files beside this one; loaded only when asked for, since a bench may pull in half the product. */
const benches = ['startup', 'idle', 'intake', 'drain', 'disk', 'normalize', 'web-size'].filter((name) =>
  existsSync(join(import.meta.dirname, `${name}.ts`)),
)

const load = async (name: string): Promise<Bench> => (await import(`./${name}.ts`)) as Bench

const here = import.meta.dirname

await main(process.argv.slice(2))

async function main(words: string[]): Promise<void> {
  const names = words.filter((word) => !word.startsWith('-'))
  if (words.includes('--help') || words.includes('-h') || names.length === 0) return printHelp()
  const wanted = names.includes('all') ? benches : names
  const unknown = wanted.find((name) => !benches.includes(name))
  if (unknown !== undefined) {
    process.stderr.write(`There is no bench "${unknown}". Known: ${benches.join(', ')}, all.\n`)
    process.exitCode = 1
    return
  }
  const args = parseArgs(words)
  for (const name of wanted) await runOne(name, args)
}

async function runOne(name: string, args: BenchArgs): Promise<void> {
  const machine = describeMachine()
  print(`\n── ${name}`)
  print(
    `machine     ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.os}; node ${process.version}; load before ${machine.loadBefore}`,
  )
  const bench = await load(name)
  const result = await bench.run(args)
  report(result)
  const record = {
    name,
    at: new Date().toISOString(),
    commit: commit(),
    machine,
    node: process.version,
    args,
    ...result,
  }
  mkdirSync(join(here, 'results'), { recursive: true })
  appendFileSync(join(here, 'results', `${name}.jsonl`), `${JSON.stringify(record)}\n`)
}

function report({ figures, payload, durability, postgres, notes }: BenchResult): void {
  if (postgres !== undefined) print(`database    PostgreSQL ${postgres}, ${durability}`)
  if (payload !== undefined) print(`payload     ${payload}`)
  for (const [name, { value, unit, goal }] of Object.entries(figures)) {
    const shown = value.toLocaleString('en-GB', { maximumFractionDigits: value < 100 ? 2 : 0 })
    print(`${name.padEnd(32)} ${shown.padStart(12)} ${unit.padEnd(10)}${goal === undefined ? '' : `  goal ${goal}`}`)
  }
  for (const note of notes ?? []) print(`note        ${note}`)
}

async function printHelp(): Promise<void> {
  print('npm run bench -- <name>… | all  [--long] [--option=value]\n')
  for (const name of benches) print(`  ${name.padEnd(12)} ${(await load(name)).summary}`)
  print(
    '\nEach run appends a line to bench/results/<name>.jsonl. Close other programs first; compare ratios, not machines.',
  )
}

function parseArgs(words: string[]): BenchArgs {
  const pairs = words
    .filter((word) => word.startsWith('--'))
    .map((word): [string, string] => {
      const [name = '', ...rest] = word.slice(2).split('=')
      return [name, rest.length === 0 ? 'true' : rest.join('=')]
    })
  const { long, ...options } = Object.fromEntries(pairs)
  return { long: long === 'true', options }
}

function describeMachine(): { cpu: string; cores: number; memoryGiB: number; os: string; loadBefore: number } {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown processor',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    os: `${osName()} (${release()})`,
    // What others were doing with the machine in the minute before.
    loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  }
}

function osName(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? process.platform
  } catch {
    return process.platform
  }
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: here, encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
