/** `npm run demo`: installs and builds what is missing, then runs demo/run.ts. */
import { join } from 'node:path'
import { buildWeb } from './build-web.mjs'
import { ensureInstalled } from './install.mjs'
import { launch } from './launch.mjs'
import { requireNode, root } from './runtime.mjs'

await ensureInstalled(root, { withDev: false })
const node = requireNode()
if (await buildWeb(node)) launch(node, [join(root, 'demo', 'run.ts'), ...process.argv.slice(2)])
else process.exitCode = 1
