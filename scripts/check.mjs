/**
 * `npm run check`: types, lint with import boundaries, format, styles, words, dependencies, districts and SQL, in parallel.
 * Prints the problems and one line per tool. `npm run check -- --fix` formats and applies the safe lint fixes first.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { ensureInstalled } from './install.mjs'
import { requireNode, root, toolEnvironment } from './runtime.mjs'

await ensureInstalled(root, { withDev: true })
const node = requireNode()
const bin = (...path) => join(root, 'node_modules', ...path)
// One checker: four, the default, each work out the types that files share, which takes twice the processor time.
const types = ['--pretty', 'false', '--checkers', '1']

const tools = [
  { name: 'types (server)', args: [bin('typescript', 'bin', 'tsc'), '-p', 'tsconfig.json', ...types] },
  ...(existsSync(join(root, 'web', 'tsconfig.json'))
    ? [{ name: 'types (web)', args: [bin('typescript', 'bin', 'tsc'), '-p', 'web/tsconfig.json', ...types] }]
    : []),
  { name: 'lint', args: [bin('oxlint', 'bin', 'oxlint'), '--type-aware', '--deny-warnings', '--format=unix'] },
  { name: 'format', args: [bin('oxfmt', 'bin', 'oxfmt'), '--list-different'] },
  { name: 'styles', args: [join(root, 'scripts', 'check-styles.ts')] },
  { name: 'words', args: [join(root, 'scripts', 'check-words.ts')] },
  { name: 'dependencies', args: [join(root, 'scripts', 'check-dependencies.ts')] },
  { name: 'districts', args: [join(root, 'scripts', 'check-districts.ts')] },
  { name: 'sql', args: [join(root, 'scripts', 'check-sql.ts')] },
  { name: 'wasm', args: [join(root, 'scripts', 'write-wasm.ts'), '--check'] },
]

const run = ({ name, args }) =>
  new Promise((resolve) => {
    const startedAt = performance.now()
    const child = spawn(node, args, { cwd: root, env: toolEnvironment(node), stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => resolve({ name, ok: false, output: error.message, seconds: 0 }))
    child.on('close', (code) => {
      const seconds = (performance.now() - startedAt) / 1000
      resolve({ name, ok: code === 0, output: output.trim(), seconds })
    })
  })

if (process.argv.includes('--help')) {
  process.stdout.write(
    'npm run check [-- --fix]   types, lint with import boundaries, format, styles, words, dependencies\n',
  )
  process.exit(0)
}

if (process.argv.includes('--fix')) {
  await run({ name: 'lint', args: [bin('oxlint', 'bin', 'oxlint'), '--type-aware', '--fix'] })
  await run({ name: 'format', args: [bin('oxfmt', 'bin', 'oxfmt')] })
}

const results = await Promise.all(tools.map(run))
for (const { name, ok, output } of results) {
  if (ok) continue
  const hint = name === 'format' ? 'Not formatted (npm run format):\n' : ''
  process.stdout.write(`── ${name}\n${hint}${output}\n\n`)
}
for (const { name, ok, seconds } of results) {
  process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${name.padEnd(15)} ${seconds.toFixed(1)} s\n`)
}
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1
