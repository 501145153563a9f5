/**
 * Writes build/package: the server as JavaScript, the built dashboard, migrations, licences and the bill of materials; and
 * packs it. `npm run package` runs it after it has built the dashboard.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { stdout } from 'node:process'
import { javascriptOf, packagesOf } from './javascript.ts'
import { parseLockGraph } from './lock-closure.ts'
import { packageManifest, shrinkwrap } from './manifest.ts'
import { LIMITS, packageProblems, type PackageFile } from './problems.ts'
import { billOfMaterials } from './sbom.ts'

const root = join(import.meta.dirname, '../..')
/** Tests build elsewhere: `--out=<folder>`. */
const build = process.argv.find((word) => word.startsWith('--out='))?.slice('--out='.length) ?? join(root, 'build')
const out = join(build, 'package')

/** Files and whole folders of the package beside server/ and shared/. */
const PARTS = [
  'migrations',
  'web/dist',
  'docs/openapi.json',
  'scripts/faultline.mjs',
  'scripts/launch.mjs',
  'scripts/runtime.mjs',
  'LICENSE',
  'THIRD-PARTY-NOTICES',
  'CHANGELOG.md',
]

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()

rmSync(out, { recursive: true, force: true })
const imported = new Set<string>()
for (const folder of ['server', 'shared']) {
  for (const file of filesBelow(join(root, folder))) {
    const path = relative(root, file)
    if (/\.(?:test|fixture)\.[jt]s$|\.d\.ts$|\.md$/.test(path)) continue
    const source = readFileSync(file, 'utf8')
    const code = path.endsWith('.ts') ? javascriptOf(source) : source
    for (const name of packagesOf(code)) imported.add(name)
    const target = join(out, path.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, code)
  }
}
for (const part of PARTS)
  cpSync(join(root, part), join(out, part), {
    recursive: true,
    filter: (from) => (!from.endsWith('.built-from') && !from.endsWith('.md')) || part.endsWith('.md'),
  })
cpSync(join(root, 'deploy/npm/README.md'), join(out, 'README.md'))
chmodSync(join(out, 'scripts/faultline.mjs'), 0o755)

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const graph = parseLockGraph(read('package-lock.json'))
const manifest = packageManifest(read('package.json'), imported)
const bundled = new Set(
  filesBelow(join(root, 'web'))
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('.test.') && !relative(root, file).startsWith('web/dist'))
    .flatMap((file) => [...packagesOf(readFileSync(file, 'utf8'))]),
)
writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
writeFileSync(join(out, 'npm-shrinkwrap.json'), shrinkwrap(manifest, graph))
writeFileSync(join(out, 'sbom.cdx.json'), billOfMaterials(manifest, graph, [...bundled]))

const files: PackageFile[] = filesBelow(out).map((file) => ({ path: relative(out, file), bytes: readFileSync(file) }))
const problems = packageProblems(files, [root, ...(homedir().length > 5 ? [homedir()] : [])])

const archive = join(build, `${manifest.name}-${manifest.version}.tgz`)
rmSync(archive, { force: true })
const packed = spawnSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', build], {
  cwd: out,
  encoding: 'utf8',
})
if (packed.status !== 0 || !existsSync(archive)) problems.push(`npm pack failed: ${packed.stderr}`)
else if (statSync(archive).size > LIMITS.packedBytes)
  problems.push(`${statSync(archive).size} bytes packed, ${LIMITS.packedBytes} at most`)

const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
if (problems.length > 0) {
  process.stderr.write(`The package cannot be released:\n${problems.map((one) => `  ${one}\n`).join('')}`)
  process.exitCode = 1
} else {
  const bytes = files.reduce((sum, one) => sum + one.bytes.length, 0)
  stdout.write(
    `${relative(process.cwd(), archive)}: ${files.length} files, ${mb(bytes)}, ${mb(statSync(archive).size)} packed\n`,
  )
}
