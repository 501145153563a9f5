/** The command-line program with a DSN: it sends a message with a log as breadcrumbs, and a run of a scheduled job. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [, , program] = process.argv
const folder = mkdtempSync(join(tmpdir(), 'cli-app-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

function run(...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
  process.stdout.write(`${stdout}${stderr}`)
  if (status !== 0) process.exit(status ?? 1)
}

writeFileSync(join(folder, 'log.txt'), 'Pay now\n')
const event = ['send-event', '--message', 'stock is low: %s', '--message-arg', '3', '--level', 'warning']
const user = ['--user', 'id:42', '--user', 'email:ann@example.com']
const more = ['--release', 'tools@1.0.0', '--env', 'staging', '--tag', 'checkout:express', '--logfile', 'log.txt']
run(...event, ...user, ...more, '--no-environ')
run('monitors', 'run', '-e', 'staging', '-s', '0 3 * * *', '--timezone', 'UTC', 'nightly', '--', 'true')
