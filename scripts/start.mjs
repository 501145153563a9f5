/**
 * `npm start` and `npm run dev`. Plain JavaScript that parses on Node 20.19: it finds the Node the server needs, builds
 * the dashboard when its sources changed, and starts the server.
 */
import { join } from 'node:path'
import { buildWeb } from './build-web.mjs'
import { ensureInstalled } from './install.mjs'
import { launch } from './launch.mjs'
import { requireNode, root } from './runtime.mjs'

const help = `npm start            build the dashboard if needed, start the database, migrate, serve
npm run dev          the same with reloading: the server restarts and the dashboard updates on every change

Settings are environment variables, for example:  PORT=9000 FAULTLINE_DATA_DIR=/srv/faultline npm start
Ctrl-C stops everything cleanly. All settings: docs/running.md
`

const args = process.argv.slice(2)
const unknown = args.filter((arg) => !['--dev', '--help', '-h'].includes(arg) && !arg.startsWith('--roles='))
if (args.includes('--help') || args.includes('-h')) {
  process.stdout.write(help)
} else if (unknown.length > 0) {
  process.stderr.write(`Unknown argument ${unknown[0]}.\n\n${help}`)
  process.exitCode = 1
} else {
  await ensureInstalled(root, { withDev: false })
  const node = requireNode()
  if (args.includes('--dev')) await (await import('./dev.mjs')).develop(node)
  else await start(node)
}

async function start(node) {
  if (!(await buildWeb(node))) {
    process.exitCode = 1
    return
  }
  launch(node, [join(root, 'server', 'main.ts'), 'serve', ...args.filter((arg) => arg.startsWith('--roles='))])
}
