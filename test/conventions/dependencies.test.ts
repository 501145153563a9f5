import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'

const root = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const Names = z.record(z.string(), z.string())
const manifest = z
  .object({ dependencies: Names, optionalDependencies: Names, devDependencies: Names })
  .parse(JSON.parse(read('package.json')))
const lockfile = z
  .object({
    packages: z.record(
      z.string(),
      z.object({
        optionalDependencies: Names.optional(),
      }),
    ),
  })
  .parse(JSON.parse(read('package-lock.json')))

const declared = Object.keys({
  ...manifest.dependencies,
  ...manifest.optionalDependencies,
  ...manifest.devDependencies,
})

test('every dependency has a sentence in docs/dependencies.md', () => {
  const page = read('docs/dependencies.md')
  // Platform variants of one package may share a prefix: `…/linux-arm64`.
  const isNamed = (name: string) => page.includes(`\`${name}\``) || page.includes(`\`…/${name.split('/')[1]}\``)
  expect(declared.filter((name) => !isNamed(name))).toEqual([])
})

test('every version is exact', () => {
  const versions = Object.entries({
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.devDependencies,
  })
  expect(versions.filter(([, version]) => !/^(?:npm:.+@)?\d+\.\d+\.\d+(?:-[\w.-]+)?$/.test(version))).toEqual([])
})

test('what the product imports is installed in production', () => {
  const files = globSync(['server/**/*.ts', 'web/**/*.{ts,tsx}', 'vite.config.ts'], {
    cwd: root,
    exclude: (name) => name === 'dist',
  })
  const missing = files
    // The snippets are code of users' apps.
    .filter((file) => !/\.(?:test|fixture)\.tsx?$|snippets\.ts$/.test(file))
    .flatMap((file) => importedPackages(read(file)).map((name) => `${file}: ${name}`))
    .filter((line) => !((line.split(': ')[1] ?? '') in manifest.dependencies))
  expect(missing).toEqual([])
})

test('the lockfile knows the packages of every platform', () => {
  // npm drops packages that its registry lacks when it writes the lockfile; then `npm ci` fails on every platform.
  const missing = Object.entries(lockfile.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isInstalledFor(path, name)),
  )
  expect(missing).toEqual([])
})

/** Searches as Node does: beside the package's files, then in every node_modules above. */
function isInstalledFor(path: string, name: string): boolean {
  const place = path === '' ? `node_modules/${name}` : `${path}/node_modules/${name}`
  if (place in lockfile.packages) return true
  return path !== '' && isInstalledFor(path.slice(0, Math.max(0, path.lastIndexOf('node_modules/') - 1)), name)
}

/** Packages in import and export statements, `import()` included; without our own files and Node's modules. */
function importedPackages(source: string): string[] {
  const statements = source.matchAll(
    /^(?:import|export)\b[^'"`;]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm,
  )
  return [...statements]
    .map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '')
    .filter((name) => !/^[.#/]/.test(name) && !name.startsWith('node:') && !builtinModules.includes(name))
    .map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    )
}
