/**
 * Pictures of every page of the dashboard in its main states, in both themes, at 1440 and 390 pixels; with `--between` at
 * 1024 and 768 pixels, too. `npm run pictures -- <folder> [--only=issues,releases] [--between]` takes them;
 * `npm run pictures -- compare <before> <after> [<differences>]` says which differ and by how much.
 */
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { ensureInstalled } from './install.mjs'
import { requireNode, root, toolEnvironment } from './runtime.mjs'
import { runVitest } from './vitest.mjs'

const args = process.argv.slice(2)
const folders = args.filter((arg) => !arg.startsWith('-')).map((arg) => (arg === 'compare' ? arg : resolve(arg)))
const only = args.find((arg) => arg.startsWith('--only='))?.slice('--only='.length) ?? ''
const between = args.includes('--between') ? 'yes' : ''

if (folders[0] === 'compare' && folders.length >= 3) {
  await ensureInstalled(root, { withDev: true })
  const node = requireNode()
  const script = join(root, 'test/e2e/pictures/compare-pictures.ts')
  const { status } = spawnSync(node, [script, ...folders.slice(1)], { env: toolEnvironment(node), stdio: 'inherit' })
  process.exitCode = status ?? 1
} else if (folders.length === 1 && folders[0] !== 'compare') {
  await runVitest(['--project', 'pictures'], {
    env: { PICTURES_DIR: folders[0], PICTURES_ONLY: only, PICTURES_BETWEEN: between },
  })
} else {
  process.stderr.write(
    'npm run pictures -- <folder> [--only=<start of names>,…] [--between]\nnpm run pictures -- compare <before> <after> [<differences>]\n',
  )
  process.exitCode = 2
}
