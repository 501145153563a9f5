/**
 * `npm run package`: builds the package that `npx faultline` runs, in build/package, and packs it into one file beside it.
 * It installs what is missing, as `npm start` does.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { buildWeb } from './build-web.mjs'
import { ensureInstalled } from './install.mjs'
import { requireNode, root, toolEnvironment } from './runtime.mjs'

if (process.argv.includes('--instead-of-pack')) {
  process.stderr.write('The checkout is not the package. Build and pack it with: npm run package\n')
  process.exit(1)
}
await ensureInstalled(root, { withDev: false })
const node = requireNode()
const isBuilt = await buildWeb(node)
const { status } = isBuilt
  ? spawnSync(
      node,
      [
        '--disable-warning=ExperimentalWarning',
        join(root, 'scripts/package/write-package.ts'),
        ...process.argv.slice(2),
      ],
      { cwd: root, env: toolEnvironment(node), stdio: 'inherit' },
    )
  : { status: 1 }
process.exitCode = status ?? 1
