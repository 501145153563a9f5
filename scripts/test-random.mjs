/**
 * `npm run test:random [-- --seed=n] [vitest arguments]`: tests with random cases, with a random seed where `npm test` has
 * a fixed one. Prints the seed; `--seed=<the same>` repeats the run.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './runtime.mjs'
import { runVitest } from './vitest.mjs'

const words = process.argv.slice(2)
const seed = words.find((word) => word.startsWith('--seed='))?.slice('--seed='.length) ?? `${Date.now() % 2 ** 31}`
const args = words.filter((word) => !word.startsWith('--seed='))
const hasRandomCases = (file) => readFileSync(join(root, file), 'utf8').includes("from 'fast-check'")
const files = globSync('{server,shared,web,test}/**/*.test.{ts,tsx}', { cwd: root }).filter(hasRandomCases)

process.stdout.write(`seed ${seed}\n`)
await runVitest(['--project', 'unit', '--project', 'web', ...(args.length === 0 ? files : args)], {
  env: { TEST_SEED: seed },
  beforeLast: () => process.stdout.write(`seed ${seed}: npm run test:random -- --seed=${seed} repeats it\n`),
})
