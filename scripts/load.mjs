/** `npm run load`: installs and builds what is missing, then runs bench/size-machine.ts. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { buildWeb } from './build-web.mjs'
import { ensureInstalled } from './install.mjs'
import { requireNode, root, toolEnvironment } from './runtime.mjs'

await ensureInstalled(root, { withDev: false })
const node = requireNode()
process.exitCode = 1
if (await buildWeb(node)) {
  // Ctrl-C reaches both; the child stops its service.
  process.on('SIGINT', () => {})
  const script = join(root, 'bench', 'size-machine.ts')
  const { status } = spawnSync(node, [script, ...process.argv.slice(2)], {
    env: toolEnvironment(node),
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
}
