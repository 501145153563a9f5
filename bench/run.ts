import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { type Before, type Bench, type BenchArgs, type BenchResult, type Figure, median } from './bench.ts'

/** Files beside this one; loaded on demand, since a bench may import half the product. */
const benches = [
  'startup',
  'idle',
  'intake',
  'drain',
  'visible',
  'webhooks',
  'alerts',
  'auth',
  'read',
  'sessions',
  'metrics',
  'overload',
  'disk',
  'normalize',
  'web-size',
  'symbols',
  'assistant',
  'import',
  'backup',
  'scale',
].filter((name) => existsSync(join(import.meta.dirname, `${name}.ts`)))

/** What `all` runs, in about ten minutes; with `--long` each in its long form instead of these options. */
const ALL: readonly (readonly [name: string, options: Readonly<Record<string, string>>])[] = [
  ['startup', { runs: '3' }],
  ['idle', {}],
  ['intake', { runs: '1', seconds: '20' }],
  ['drain', { runs: '1', seconds: '45' }],
  ['drain', { size: '3000', runs: '1', seconds: '30' }],
  ['drain', { size: '50000', runs: '1', seconds: '30' }],
  ['visible', {}],
  ['overload', {}],
  ['disk', {}],
  ['normalize', {}],
  ['web-size', {}],
]

const load = async (name: string): Promise<Bench> => (await import(`./${name}.ts`)) as Bench

const here = import.meta.dirname

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
await main(process.argv.slice(2))

async function main(words: string[]): Promise<void> {
  const names = words.filter((word) => !word.startsWith('-'))
  if (words.includes('--help') || words.includes('-h') || names.length === 0) return printHelp()
  const wanted = names.filter((name) => name !== 'all')
  const unknown = wanted.find((name) => !benches.includes(name))
  if (unknown !== undefined) {
    process.stderr.write(`There is no bench "${unknown}". Known: ${benches.join(', ')}, all.\n`)
    process.exitCode = 1
    return
  }
  const args = parseArgs(words)
  if (names.includes('all')) await runAll(args)
  for (const name of wanted) await runOne(name, args)
}

type Row = { id: string; what: string; asked: string; measured: string; command: string }

/** Runs every bench once, then prints a table of all targets (docs/performance.md). */
async function runAll(args: BenchArgs): Promise<void> {
  const rows: Row[] = []
  for (const [index, [name, options]] of ALL.entries()) {
    print(`\n${index + 1} of ${ALL.length}`)
    const size: Record<string, string> = options['size'] === undefined ? {} : { size: options['size'] }
    const given = { long: args.long, options: { ...(args.long ? size : options), ...args.options } }
    const command = ['npm run bench --', name, ...Object.entries(size).map(([key, value]) => `--${key}=${value}`)].join(
      ' ',
    )
    try {
      rows.push(...rowsOf(await runOne(name, given), command))
    } catch (error) {
      // A bench that fails does not discard the others' figures.
      print(`failed: ${error instanceof Error ? error.message : String(error)}`)
      rows.push({ id: '–', what: name, asked: '', measured: 'failed', command })
      process.exitCode = 1
    }
  }
  rows.sort((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)))
  print('')
  printTable([{ id: 'id', what: 'what', asked: 'asked', measured: 'measured', command: 'command' }, ...rows])
}

/** Figures whose goal names a target of the design: `≥4,000/s (P2)`. */
function rowsOf({ figures }: BenchResult, command: string): Row[] {
  return Object.entries(figures).flatMap(([what, figure]) => {
    const goal = /^(.*) \((P\d+)\)$/.exec(figure.goal ?? '')
    return goal === null
      ? []
      : [
          {
            id: goal[2] ?? '',
            what: what.trim(),
            asked: goal[1] ?? '',
            measured: `${shown(figure)} ${figure.unit}`,
            command,
          },
        ]
  })
}

function printTable(rows: readonly Row[]): void {
  const columns = ['id', 'what', 'asked', 'measured', 'command'] as const
  const widths = columns.map((column) => Math.max(...rows.map((row) => row[column].length)))
  for (const row of rows)
    print(
      columns
        .map((column, at) => row[column].padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}

function shown({ value }: Pick<Figure, 'value'>): string {
  return value.toLocaleString('en-GB', { maximumFractionDigits: value < 100 ? 2 : 0 })
}

async function runOne(name: string, args: BenchArgs): Promise<BenchResult> {
  const machine = describeMachine()
  print(`\n── ${name}`)
  print(
    `machine     ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.os}; node ${process.version}; load before ${machine.loadBefore}`,
  )
  const bench = await load(name)
  const result = await bench.run(args)
  report(result)
  // The result of another checkout does not belong to the commit of this one.
  if (args.options['checkout'] !== undefined) return result
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
  return result
}

function report({ figures, payload, durability, postgres, notes }: BenchResult): void {
  if (postgres !== undefined) print(`database    PostgreSQL ${postgres}, ${durability}`)
  if (payload !== undefined) print(`payload     ${payload}`)
  for (const [name, figure] of Object.entries(figures)) {
    const { unit, goal, before } = figure
    print(
      `${name.padEnd(34)} ${shown(figure).padStart(12)} ${unit.padEnd(10)}${goal === undefined ? '' : `  goal ${goal}`}${before === undefined ? '' : compared(before)}`,
    )
  }
  for (const note of notes ?? []) print(`note        ${note}`)
}

function compared({ value, ratios }: Before): string {
  const each = ratios.map((ratio) => ratio.toFixed(2)).join(', ')
  return `  before ${shown({ value }).padStart(6)}  ratio ${median(ratios).toFixed(2)} (${each})`
}

async function printHelp(): Promise<void> {
  print('npm run bench -- <name>… | all  [--long] [--option=value]\n')
  for (const name of benches) print(`  ${name.padEnd(12)} ${(await load(name)).summary}`)
  print(
    '\nEach run appends a line to bench/results/<name>.jsonl, except with --checkout. Close other programs first; compare ratios, not machines.',
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
    // The load of the machine in the minute before.
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
