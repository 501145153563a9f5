/** Runs vitest on the pinned Node and prints `N passed, N failed` as the last line. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureInstalled } from './install.mjs'
import { compileCache, requireNode, root, toolEnvironment } from './runtime.mjs'

/**
 * Sets the exit code of this process: 0 only when nothing failed.
 * @param {readonly string[]} args for vitest, after `run`
 * @param {{env?: Record<string, string>, beforeLast?: (output: {skipped: string[]}) => void}} [options]
 */
export async function runVitest(args, { env = {}, beforeLast = () => {} } = {}) {
  await ensureInstalled(root, { withDev: true, closing: '0 passed, 1 failed\n' })
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
      ...args,
    ],
    // A caller's NODE_ENV must not turn a test run into a strict production start.
    {
      cwd: root,
      env: { ...compileCache, ...toolEnvironment(node), NODE_ENV: 'test', ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
  // A terminal sends Ctrl-C to the whole group; these are for signals to this process alone.
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  process.on('SIGINT', () => {})

  child.on('error', (error) => {
    process.stderr.write(`vitest did not start: ${error.message}\n`)
    finish(1)
  })
  child.on('close', (code) => finish(code ?? 1))

  function finish(code) {
    const { passed, failed, skipped } = count(report)
    // A run that broke outside tests (a suite that does not load, an unhandled rejection) has failed too.
    const failures = code === 0 ? failed : Math.max(failed, 1)
    rmSync(scratch, { recursive: true, force: true })
    beforeLast({ skipped })
    process.stdout.write(`${passed} passed, ${failures} failed\n`)
    process.exitCode = failures === 0 ? 0 : 1
  }
}

function count(report) {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'))
    const brokenFiles = testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
    const skipped = testResults
      .flatMap((file) => file.assertionResults)
      .filter((one) => one.status === 'skipped' || one.status === 'pending')
      .map((one) => one.ancestorTitles.join(' '))
    return { passed: numPassedTests, failed: numFailedTests + brokenFiles.length, skipped }
  } catch {
    return { passed: 0, failed: 0, skipped: [] }
  }
}
