import { closure, locate, type LockEntry, type LockGraph } from './lock-closure.ts'
import type { Manifest } from './manifest.ts'

/**
 * The software bill of materials, CycloneDX 1.6: packages that are installed with the package, and those whose code is in
 * the built dashboard. It has no time, so that the same sources give the same file.
 * @param bundled names of the packages that the dashboard imports
 */
export function billOfMaterials(manifest: Manifest, graph: LockGraph, bundled: readonly string[]): string {
  const { name, version, description, license, dependencies, optionalDependencies } = manifest
  const direct = [...Object.keys(dependencies), ...Object.keys(optionalDependencies)]
  const installed = closure(graph, direct, true)
  const all = new Set([...installed, ...closure(graph, bundled, false)])
  const paths = [...all].toSorted((a, b) => (a < b ? -1 : Number(a > b)))
  const reference = (path: string): string => `${purlOf(path, graph.get(path))}#${path}`
  const needs = (from: string, names: readonly string[]): string[] => [
    ...new Set(
      names.flatMap((one) => {
        const path = locate(graph, from, one)
        return path === null || !all.has(path) ? [] : [reference(path)]
      }),
    ),
  ]
  const own = `pkg:npm/${name}@${version}`
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': own,
        name,
        version,
        description,
        licenses: [{ expression: license }],
        purl: own,
      },
    },
    components: paths.map((path) => component(path, graph.get(path), reference(path), installed.has(path))),
    dependencies: [
      { ref: own, dependsOn: needs('', [...direct, ...bundled]) },
      ...paths.map((path) => {
        const entry = graph.get(path)
        return {
          ref: reference(path),
          dependsOn: needs(path, Object.keys({ ...entry?.dependencies, ...entry?.optionalDependencies })),
        }
      }),
    ],
  }
  return `${JSON.stringify(bill, null, 2)}\n`
}

const nameOf = (path: string): string => path.replace(/^.*node_modules\//, '')
const purlOf = (path: string, entry: LockEntry | undefined): string =>
  `pkg:npm/${nameOf(path).replace(/^@/, '%40')}@${entry?.version ?? ''}`

function component(path: string, entry: LockEntry | undefined, reference: string, isInstalled: boolean) {
  const [, sha512] = /^sha512-(.+)$/.exec(entry?.integrity ?? '') ?? []
  return {
    type: 'library',
    'bom-ref': reference,
    name: nameOf(path),
    version: entry?.version ?? '',
    scope: entry?.optional === true ? 'optional' : 'required',
    ...(sha512 === undefined
      ? {}
      : { hashes: [{ alg: 'SHA-512', content: Buffer.from(sha512, 'base64').toString('hex') }] }),
    ...(entry?.license === undefined ? {} : { licenses: [{ expression: entry.license }] }),
    purl: purlOf(path, entry),
    ...(isInstalled ? {} : { properties: [{ name: 'faultline:bundled', value: 'in the dashboard' }] }),
  }
}
