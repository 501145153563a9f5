/**
 * `node scripts/repeat-tests.mjs [--times=10] [--busy=0] [vitest arguments]`: runs `npm test` several times in a row to
 * find tests that sometimes fail. `--busy=2` runs two busy processes beside it. Prints one line per run, keeps the
 * output of runs that failed, and exits with 1 when one did.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureInstalled } from './install.mjs'
import { requireNode, root, toolEnvironment } from './runtime.mjs'

await ensureInstalled(root, { withDev: true })
const node = requireNode()
const words = process.argv.slice(2)
const numberOf = (name, byDefault) => {
  const word = words.find((one) => one.startsWith(`--${name}=`))
  return word === undefined ? byDefault : Number(word.slice(name.length + 3))
}
const times = numberOf('times', 10)
const busy = numberOf('busy', 0)
const args = words.filter((word) => !/^--(times|busy)=/.test(word))
const folder = mkdtempSync(join(tmpdir(), 'faultline-repeat-'))

const loops = Array.from({ length: busy }, () => spawn(node, ['-e', 'while (true);'], { stdio: 'ignore' }))
process.on('exit', () => {
  for (const loop of loops) loop.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130))

let failed = 0
for (let run = 1; run <= times; run++) {
  const log = join(folder, `run-${run}.log`)
  const output = createWriteStream(log)
  const startedMs = Date.now()
  const child = spawn(node, [join(root, 'scripts', 'test.mjs'), ...args], {
    cwd: root,
    env: toolEnvironment(node),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let lastLine = ''
  for (const stream of [child.stdout, child.stderr]) stream.pipe(output, { end: false })
  child.stdout.on('data', (chunk) => {
    lastLine = String(chunk).trimEnd().split('\n').at(-1) ?? lastLine
  })
  const [code] = await once(child, 'close')
  output.end()
  const seconds = Math.round((Date.now() - startedMs) / 1000)
  process.stdout.write(`run ${run} of ${times}: ${lastLine}, ${seconds} s${code === 0 ? '' : `, see ${log}`}\n`)
  if (code === 0) rmSync(log)
  else failed++
}
if (failed === 0) rmSync(folder, { recursive: true, force: true })
process.stdout.write(`${times - failed} of ${times} runs without a failure\n`)
process.exit(failed === 0 ? 0 : 1)
