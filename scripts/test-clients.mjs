/**
 * `npm run test:clients`: published SDKs of several languages against a fresh service. Installs their packages first
 * (test/clients has the only second lockfile) and prints at the end what was skipped for lack of a toolchain. `--
 * --write` puts the measurements into docs/compatibility.md; other arguments go to vitest.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureInstalled } from './install.mjs'
import { requireNode, root, toolEnvironment } from './runtime.mjs'
import { runVitest } from './vitest.mjs'

const words = process.argv.slice(2)
if (words.includes('--help')) {
  process.stdout.write(
    'npm run test:clients [-- --write] [vitest arguments]   published SDKs against a fresh service\n',
  )
  process.exit(0)
}
await ensureInstalled(root, { withDev: true })
const folder = join(root, 'test/clients')
installOnce()
await runVitest(['--config', join(folder, 'vitest.config.ts'), ...words.filter((word) => word !== '--write')], {
  env: words.includes('--write') ? { WRITE_COMPATIBILITY: '1' } : {},
  beforeLast: ({ skipped }) => {
    for (const name of new Set(skipped)) process.stdout.write(`skipped: ${name}\n`)
  },
})

/** Runs `npm ci` unless the installed packages are those of the lockfile. */
function installOnce() {
  const lockfile = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  const mark = join(folder, 'node_modules', '.installed-lockfile')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lockfile) return
  process.stdout.write('installing the SDKs of test/clients\n')
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    env: toolEnvironment(requireNode()),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) {
    process.stdout.write('npm ci in test/clients failed\n0 passed, 1 failed\n')
    process.exit(1)
  }
  writeFileSync(mark, lockfile)
}
