/**
 * `npm test`: everything, on the pinned Node. Arguments go to vitest (`npm test -- server/kernel`). The last line
 * printed is `N passed, N failed`; the exit code is 0 only when nothing failed.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireInstalled, requireNode, root, toolEnvironment } from './runtime.mjs'

requireInstalled()
const node = requireNode()
const scratch = mkdtempSync(join(tmpdir(), 'faultline-test-'))
const report = join(scratch, 'report.json')

const child = spawn(
  node,
  [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  // NODE_ENV of the caller must not turn a test run into a strict production start.
  { cwd: root, env: { ...toolEnvironment(node), NODE_ENV: 'test' }, stdio: ['ignore', 'inherit', 'inherit'] },
)
// A terminal sends Ctrl-C to the whole group already; these are for those who signal only us.
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
process.on('SIGINT', () => {})

child.on('error', (error) => {
  process.stderr.write(`vitest did not start: ${error.message}\n`)
  finish(1)
})
child.on('close', (code) => finish(code ?? 1))

function finish(code) {
  const { passed, failed } = count()
  // A run that broke outside any test (a suite that does not load, an unhandled rejection) has failed too.
  const failures = code === 0 ? failed : Math.max(failed, 1)
  rmSync(scratch, { recursive: true, force: true })
  process.stdout.write(`${passed} passed, ${failures} failed\n`)
  process.exitCode = failures === 0 ? 0 : 1
}

function count() {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'))
    const brokenFiles = testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
    return { passed: numPassedTests, failed: numFailedTests + brokenFiles.length }
  } catch {
    return { passed: 0, failed: 0 }
  }
}
