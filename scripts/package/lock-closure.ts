import { z } from 'zod'

/** Packages that some dependencies need, of a lockfile of npm. */

const Names = z.record(z.string(), z.string()).default({})
const Entry = z.looseObject({
  version: z.string().optional(),
  license: z.string().optional(),
  integrity: z.string().optional(),
  optional: z.boolean().optional(),
  dev: z.boolean().optional(),
  devOptional: z.boolean().optional(),
  engines: z.unknown().optional(),
  dependencies: Names,
  optionalDependencies: Names,
  peerDependencies: Names,
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean().optional() })).default({}),
})
export type LockEntry = z.infer<typeof Entry>

export type LockGraph = ReadonlyMap<string, LockEntry>

/** The entries of a lockfile by their folder, without the project itself. */
export function parseLockGraph(text: string): LockGraph {
  const { packages } = z.object({ packages: z.record(z.string(), Entry) }).parse(JSON.parse(text))
  return new Map(Object.entries(packages).filter(([path]) => path !== ''))
}

/** The folder that a package finds a dependency in, as Node looks it up; null where it is not locked. */
export function locate(graph: LockGraph, from: string, name: string): string | null {
  for (let at = from; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (graph.has(`${at}/node_modules/${name}`)) return `${at}/node_modules/${name}`
  }
  return graph.has(`node_modules/${name}`) ? `node_modules/${name}` : null
}

/**
 * Folders of the packages that these names need, with everything below them.
 * @param withOptional whether optional dependencies count
 */
export function closure(graph: LockGraph, names: readonly string[], withOptional: boolean): Set<string> {
  const found = new Set<string>()
  const queue = names.map((name) => ({ from: '', name }))
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const path = locate(graph, next.from, next.name)
    if (path === null || found.has(path)) continue
    found.add(path)
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } =
      graph.get(path) ?? Entry.parse({})
    const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
    // npm lists optional dependencies among the others, too.
    const needed = [...Object.keys(dependencies), ...peers].filter((name) => !(name in optionalDependencies))
    for (const name of [...needed, ...(withOptional ? Object.keys(optionalDependencies) : [])])
      queue.push({ from: path, name })
  }
  return found
}
