import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { alerts } from './alerts.ts'
import { auth } from './auth.ts'
import { backup } from './backup.ts'
import { bombs } from './bombs.ts'
import { brokenSymbols } from './broken-symbols.ts'
import { clockJumps } from './clock-jumps.ts'
import { coldBlocks } from './cold-blocks.ts'
import { costlyPatterns } from './costly-patterns.ts'
import { databaseNetwork } from './database-network.ts'
import { diskFull } from './disk-full.ts'
import { failingIo } from './failing-io.ts'
import { fairDigestion } from './fair-digestion.ts'
import { fuzzEnvelopes } from './fuzz-envelopes.ts'
import { greedyKey } from './greedy-key.ts'
import { hostileJson } from './hostile-json.ts'
import { intakeLog } from './intake-log.ts'
import { killFold } from './kill-fold.ts'
import { killMigrations } from './kill-migrations.ts'
import { killDatabase, killIntake, stopIntake } from './kill-intake.ts'
import { manyProcesses } from './many-processes.ts'
import { manyKinds } from './many-kinds.ts'
import { nlq } from './nlq.ts'
import { overload } from './overload.ts'
import { powerCut } from './power-cut.ts'
import { properties } from './properties.ts'
import { slowClients } from './slow-clients.ts'
import { smuggling } from './smuggling.ts'
import { soak } from './soak.ts'
import { standby } from './standby.ts'
import { unreadAnswers } from './unread-answers.ts'
import { twoServices } from './two-services.ts'
import { webhooks } from './webhooks.ts'
import { childrenOf, send } from '../kit/processes.ts'
import { type Claim, print, type Torture, type Verdict } from './torture.ts'

/**
 * `npm run torture -- <name> [--seed=n] [--full] [--option=value]`: destructive proofs, the rows of
 * docs/reliability.md. `all` runs each in its default form and prints one table at the end. Exit code 1 when a claim
 * does not hold.
 */
const tortures: Readonly<Record<string, Torture>> = {
  'kill-intake': {
    id: 'T-01',
    summary: 'kill -9 of the whole service under load: everything acknowledged is stored once (--kills, --writers=8)',
    run: killIntake,
  },
  'kill-database': {
    id: 'T-02',
    summary: 'kill -9 of the database under load: the same, 503 meanwhile, and it recovers by itself (--kills)',
    run: killDatabase,
  },
  'kill-fold': {
    id: 'T-45',
    summary:
      'kill -9 between append and fold, during folding, merging and unmerging: all counts equal a recount (--kills, --threads=4)',
    run: killFold,
  },
  'power-cut': {
    id: 'T-03',
    summary:
      'the power fails under load, and database and spool lose all or a part of what no sync made durable: everything acknowledged is stored once (--kills)',
    run: powerCut,
  },
  'failing-io': {
    id: 'T-04',
    summary:
      'the n-th write, sync or open fails, in our files and those of the database and of the spool: nothing acknowledged is lost (--most)',
    run: failingIo,
  },
  'disk-full': {
    id: 'T-05',
    summary: 'the disk is full for a while: ingestion refuses, members can read, and it recovers (--seconds)',
    run: diskFull,
  },
  'database-network': {
    id: 'T-06',
    summary:
      'the database slow, cut, silent or losing packets behind a proxy: no request hangs, memory does not grow (--seconds)',
    run: databaseNetwork,
  },
  'stop-intake': {
    id: 'T-07',
    summary: 'SIGTERM of the whole service under load: the same as kill-intake, ended within 10 s (--kills)',
    run: stopIntake,
  },
  'clock-jumps': {
    id: 'T-08',
    summary:
      'the clocks of service and database jump by hours and days, apart and together: nothing lost, each alert once (--rounds)',
    run: clockJumps,
  },
  backup: {
    id: 'T-41',
    summary:
      'backups under load, each restored: everything acknowledged before is there once, audit logs verify (--rounds)',
    run: backup,
  },
  'many-processes': {
    id: 'S-01',
    summary:
      'nine processes of one database end in turn, by kill -9 or as in a rolling restart: nothing lost, nothing twice (--rounds, --postgres=15)',
    run: manyProcesses,
  },
  soak: {
    id: 'T-42',
    summary:
      'everything at once for 5 minutes (30 with --full), with kills: nothing lost, nothing twice, counts right; memory, handles and latency do not grow (--minutes)',
    run: soak,
  },
  standby: {
    id: 'S-03',
    summary:
      'the primary of a synchronous pair of databases is killed under load, its standby promoted: nothing lost, nothing twice (--rounds, --postgres=15)',
    run: standby,
  },
  'intake-log': {
    id: 'T-52',
    summary:
      'a replicated intake log: its servers, the network, the database, intake and mover end in turn, and it is full: nothing lost, nothing twice (--seconds)',
    run: intakeLog,
  },
  'cold-blocks': {
    id: 'T-53',
    summary:
      'bodies move to object storage: kill -9 of the mover, a store that fails, deletions meanwhile: nothing lost, nothing deleted stays (--rounds)',
    run: coldBlocks,
  },
  'kill-migrations': {
    id: 'T-40',
    summary:
      'the connection ends at every seventh statement of the migrations (each with --full): the next start finishes them',
    run: killMigrations,
  },
  'fuzz-envelopes': {
    id: 'T-09',
    summary: 'mutated recordings through intake and digestion: documented refusals, no crash (--count, --requests)',
    run: fuzzEnvelopes,
  },
  bombs: {
    id: 'T-10',
    summary: 'small bodies that become large: refused in a second, in little memory',
    run: bombs,
  },
  'hostile-json': {
    id: 'T-11',
    summary: 'JSON that no serializer writes: accepted or refused, never 5xx, no prototype touched (--count)',
    run: hostileJson,
  },
  'broken-symbols': {
    id: 'T-12',
    summary: 'mutated debug files, mappings and source maps: indexed or refused, in bounded time and memory (--count)',
    run: brokenSymbols,
  },
  properties: {
    id: 'P-01',
    summary: 'random histories, queries and merges against their models, 20 times as many as in npm test: minutes',
    run: properties,
  },
  webhooks: {
    id: 'T-15',
    summary:
      'deliveries to receivers that fail, hang and reset: each ends after its schedule, none late, early or twice; then T-16, while workers are killed (--deliveries, --rate, --kills)',
    run: webhooks,
  },
  alerts: {
    id: 'T-39',
    summary:
      'very many events of one issue, flapping conditions, receivers away for an hour, on two processes: one alert per cool-down, none lost, sent in order (--part=flood, outage or flapping; --events)',
    run: alerts,
  },
  auth: {
    id: 'T-21…',
    summary:
      'attacks on accounts, sessions and keys, against two services on one database: T-21 to T-45, A-01, A-02 (--row=T-21)',
    run: auth,
  },
  'slow-clients': {
    id: 'T-13',
    summary: 'thousands of sockets that drip, readers that do not read: each is closed in time (--sockets)',
    run: slowClients,
  },
  'unread-answers': {
    id: 'T-46',
    summary: 'sockets that pipeline hundreds of requests and read no answer: bounded memory and descriptors',
    run: unreadAnswers,
  },
  'greedy-key': {
    id: 'T-47',
    summary:
      'sockets of one public key that fill the memory for bodies: other organisations are not refused (--sockets)',
    run: greedyKey,
  },
  overload: {
    id: 'T-43',
    summary:
      'ten times what can be digested, then the usual load: accepted or refused soon, nothing lost, full speed again (--seconds)',
    run: overload,
  },
  'two-services': {
    id: 'T-48',
    summary: 'a second service on the same data, also in namespaces of its own: it ends with one line, nothing is lost',
    run: twoServices,
  },
  'many-kinds': {
    id: 'T-49',
    summary: 'thousands of events with different fingerprints: a bounded number of issues, and every event counted',
    run: manyKinds,
  },
  'costly-patterns': {
    id: 'T-50',
    summary: 'expressions of scrubbing rules that take long: refused, or filtered; other organisations are not delayed',
    run: costlyPatterns,
  },
  'fair-digestion': {
    id: 'T-51',
    summary:
      'huge events, packed logs and costly rules of one project: events of another organisation are shown as before',
    run: fairDigestion,
  },
  nlq: {
    id: 'T-35',
    summary: 'mutated statements of members: no row of another organisation, no change (--count)',
    run: nlq,
  },
  smuggling: {
    id: 'T-14',
    summary: 'raw requests that two HTTP parsers read differently: 400 and the end',
    run: smuggling,
  },
}

/** A service ends within this time of its SIGTERM, with its database. */
const END_MS = 15_000

// Services have process groups of their own, which a signal to this process does not reach.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) process.once(name, endAll)
await main(process.argv.slice(2))

/** Ends what this process started, then itself. It waits without its event loop: a torture would start the next service. */
function endAll(): never {
  const children = childrenOf(process.pid)
  for (const pid of children) send(groupOf(pid) ?? pid, 'SIGTERM')
  const pause = new Int32Array(new SharedArrayBuffer(4))
  const deadline = performance.now() + END_MS
  while (children.some((pid) => stateOf(pid) !== null) && performance.now() < deadline) Atomics.wait(pause, 0, 0, 50)
  for (const pid of children) if (stateOf(pid) !== null) send(groupOf(pid) ?? pid, 'SIGKILL')
  process.exit(130)
}

/** The group that a process leads, as a target of signals; null when it leads none. */
function groupOf(pid: number): number | null {
  return stateOf(pid)?.group === pid ? -pid : null
}

/** Null for one that has ended, also when its end was not read. */
function stateOf(pid: number): { readonly group: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? null : { group: Number(group) }
  } catch {
    return null
  }
}

async function main(words: string[]): Promise<void> {
  const [name = '', ...rest] = words
  const chosen = name === 'all' ? Object.keys(tortures) : [name].filter((known) => tortures[known] !== undefined)
  if (chosen.length === 0) {
    process.stdout.write('npm run torture -- <name>|all [--seed=n] [--full] [--spool-file=off] [--option=value]\n\n')
    for (const [known, { id, summary }] of Object.entries(tortures))
      process.stdout.write(`  ${known.padEnd(16)} ${id}  ${summary}\n`)
    if (name !== '' && !name.startsWith('-')) {
      process.stderr.write(`\nThere is no torture "${name}".\n`)
      process.exitCode = 1
    }
    return
  }
  const options = Object.fromEntries(
    rest.map((word): [string, string] => {
      const [option = '', ...value] = word.replace(/^--/, '').split('=')
      return [option, value.length === 0 ? 'true' : value.join('=')]
    }),
  )
  const seed = z.coerce
    .number()
    .int()
    .parse(options['seed'] ?? Date.now() % 1_000_000)
  // Every service that a torture starts has this environment.
  const spoolFile = z.enum(['on', 'off']).optional().parse(options['spool-file'])
  if (spoolFile !== undefined) process.env['FAULTLINE_SPOOL_FILE'] = spoolFile
  const rows: Row[] = []
  for (const one of chosen) {
    const torture = tortures[one]
    if (torture === undefined) continue
    print(`${torture.id} ${one}, seed ${seed}${spoolFile === undefined ? '' : `, --spool-file=${spoolFile}`}`)
    const startedMs = performance.now()
    const verdict = await judged(torture, { seed, full: options['full'] === 'true', options })
    const seconds = (performance.now() - startedMs) / 1000
    const judgements = rowsOf(torture.id, one, verdict)
    rows.push(...judgements)
    const failures = judgements.filter((row) => row.verdict === 'FAILED')
    print(`${torture.id} ${one}: ${failures.length} of ${judgements.length} claims failed, ${seconds.toFixed(0)} s`)
    for (const row of failures) print(`  FAILED: ${row.asked}; measured: ${row.measured}`)
  }
  printTable(rows)
  const failed = rows.filter(({ verdict }) => verdict === 'FAILED')
  if (failed.length === 0) return
  print(`${failed.length} of ${rows.length} claims FAILED. Repeat with --seed=${seed}`)
  process.exitCode = 1
}

/** An error of the torture itself proves nothing and is reported like a claim that failed. */
async function judged(torture: Torture, args: Parameters<Torture['run']>[0]): Promise<Verdict> {
  try {
    return await torture.run(args)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    const measured = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)
    return { claims: [{ asked: 'to run to its end', measured, holds: false }] }
  }
}

type Row = { readonly id: string; readonly name: string; readonly asked: string; measured: string; verdict: string }

function rowsOf(id: string, name: string, { claims, skipped }: Verdict): Row[] {
  const verdictOf = ({ holds }: Claim): string => (holds ? 'held' : 'FAILED')
  const rows = claims.map((one) => ({ id, name, asked: one.asked, measured: one.measured, verdict: verdictOf(one) }))
  return skipped === undefined ? rows : [...rows, { id, name, asked: '', measured: '', verdict: `skipped: ${skipped}` }]
}

function printTable(rows: readonly Row[]): void {
  const lines = [
    ['row', 'name', 'asked', 'measured', ''],
    ...rows.map(({ id, name, asked, measured, verdict }) => [id, name, asked, measured, verdict]),
  ]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  print('')
  for (const line of lines)
    print(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}
