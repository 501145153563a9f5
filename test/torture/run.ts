import { z } from 'zod'
import { fuzzEnvelopes } from './fuzz-envelopes.ts'
import { killDatabase, killIntake, stopIntake } from './kill-intake.ts'

/**
 * `npm run torture -- <name> [--option=value]`: long, destructive proofs that do not belong into `npm test`. Each is
 * seeded, prints its seed, is bounded in time, and ends with exit code 1 when its claim does not hold.
 */

export type TortureArgs = {
  /** Repeats a run: the same moments, the same victims. */
  readonly seed: number
  readonly options: Readonly<Record<string, string>>
}

type Torture = { readonly summary: string; run(args: TortureArgs): Promise<boolean> }

const tortures: Readonly<Record<string, Torture>> = {
  'kill-intake': {
    summary:
      'kill -9 of the whole service under load: every acknowledged event is there once (--kills=20, --writers=8)',
    run: killIntake,
  },
  'kill-database': {
    summary:
      'kill -9 of the database under load: the same claim, and the service recovers by itself (--kills=6, --writers=8)',
    run: killDatabase,
  },
  'stop-intake': {
    summary:
      'SIGTERM of the whole service under load: the same claim, gone within 10 s with exit code 0 (--kills=20, --writers=8)',
    run: stopIntake,
  },
  'fuzz-envelopes': {
    summary:
      'recordings, mutated, through intake and digestion: nothing but documented refusals (--count=20000, --full: 1,000,000)',
    run: fuzzEnvelopes,
  },
}

await main(process.argv.slice(2))

async function main(words: string[]): Promise<void> {
  const [name, ...rest] = words
  const torture = name === undefined ? undefined : tortures[name]
  if (torture === undefined) {
    process.stdout.write('npm run torture -- <name> [--seed=n] [--option=value]\n\n')
    for (const [known, { summary }] of Object.entries(tortures))
      process.stdout.write(`  ${known.padEnd(14)} ${summary}\n`)
    if (name !== undefined && !name.startsWith('-')) {
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
  process.stdout.write(`${name}, seed ${seed}\n`)
  const holds = await torture.run({ seed, options })
  if (!holds) {
    process.stdout.write(`FAILED. Repeat with --seed=${seed}\n`)
    process.exitCode = 1
  }
}
