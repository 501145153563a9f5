import { z } from 'zod'
import { closure, type LockEntry, type LockGraph } from './lock-closure.ts'

/** The manifest and the lockfile of the package, of those of the checkout. */

const Versions = z.record(z.string(), z.string())
const Checkout = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  engines: Versions,
  dependencies: Versions,
  optionalDependencies: Versions,
})
export type Manifest = z.infer<typeof Checkout>

/**
 * The manifest of the package: what the server imports, and the Node and the PostgreSQL of the machine.
 * @param imported names of the packages that the JavaScript of the package imports
 * @throws Error when one of them is no dependency of the checkout
 */
export function packageManifest(text: string, imported: ReadonlySet<string>): Manifest & Record<string, unknown> {
  const { name, version, description, license, engines, dependencies, optionalDependencies } = Checkout.parse(
    JSON.parse(text),
  )
  const unknown = [...imported].filter((one) => !(one in dependencies))
  if (unknown.length > 0) throw new Error(`the server imports ${unknown.join(', ')}, which package.json does not name`)
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    imports: { '#server/*': './server/*', '#shared/*': './shared/*' },
    bin: { faultline: 'scripts/faultline.mjs' },
    engines,
    dataFolder: 'faultline-data',
    dependencies: Object.fromEntries(Object.entries(dependencies).filter(([one]) => imported.has(one))),
    optionalDependencies,
  }
}

/**
 * `npm-shrinkwrap.json`, the lockfile that npm takes from a package: `npx faultline` installs the versions that were
 * tested, with their hashes.
 */
export function shrinkwrap(manifest: Manifest, graph: LockGraph): string {
  const { name, version, license, engines, dependencies, optionalDependencies } = manifest
  const names = [...Object.keys(dependencies), ...Object.keys(optionalDependencies)]
  const required = closure(graph, Object.keys(dependencies), false)
  const entries = [...closure(graph, names, true)]
    .toSorted((a, b) => (a < b ? -1 : Number(a > b)))
    .flatMap((path) => {
      const entry = graph.get(path)
      return entry === undefined ? [] : [[path, lockEntry(entry, required.has(path))] as const]
    })
  const own = {
    name,
    version,
    license,
    bin: { faultline: 'scripts/faultline.mjs' },
    engines,
    dependencies,
    optionalDependencies,
  }
  const packages = Object.fromEntries<unknown>([['', own], ...entries])
  return `${JSON.stringify({ name, version, lockfileVersion: 3, requires: true, packages }, null, 2)}\n`
}

function lockEntry(entry: LockEntry, isRequired: boolean): Record<string, unknown> {
  // Their `engines` are those of the packaged Node, not of the Node that npm runs on.
  const { dev: _dev, devOptional: _devOptional, optional: _optional, engines: _engines, ...kept } = entry
  const filled = Object.entries(kept).filter(
    ([, value]) => typeof value !== 'object' || value === null || Object.keys(value).length > 0,
  )
  return { ...Object.fromEntries(filled), ...(isRequired ? {} : { optional: true }) }
}
