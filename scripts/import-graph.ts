import { posix } from 'node:path'

/**
 * Which files of the checkout a file can load or read when it runs, and what a change reaches. Read from the text: a
 * quoted path that exists is a dependency, whether `import`, `new URL`, `join` or a child process takes it. One too many
 * costs a test run, one too few hides a failure.
 */

/** Types are gone at run time. */
const TYPE_IMPORT = /^(?:import|export) type [^'"]*?\bfrom '[^']+'/gm
const COMMENT_LINE = /^\s*(?:\/\/|\/?\*).*$/gm
const QUOTED = /['"`]((?:[\w.@/#*,{}-]|\$\{[^{}]*\})+)(?=['"`])/g
const CSS_IMPORT = /@import\s+(?:url\()?['"]([^'"]+)['"]/g

export type Checkout = {
  readonly files: ReadonlySet<string>
  /** As `server/issues/`. */
  readonly folders: ReadonlySet<string>
  /** Subpaths of package.json: `#server/*` → `./server/*`. */
  readonly subpaths: Readonly<Record<string, string>>
}

/** Folders of a file, the nearest first, as `server/issues/`. */
export function foldersOf(file: string): string[] {
  const folder = posix.dirname(file)
  return folder === '.' ? [] : [`${folder}/`, ...foldersOf(folder)]
}

/** Paths of files, folders (`docs/`) and patterns (`docs/*.md`) that the text of a file names. */
export function dependenciesOf(file: string, text: string, { files, folders, subpaths }: Checkout): string[] {
  const plain = text.replaceAll(COMMENT_LINE, '').replaceAll(TYPE_IMPORT, '')
  const named = [...plain.matchAll(file.endsWith('.css') ? CSS_IMPORT : QUOTED)].map(([, name = '']) => name)
  // A plain word is a folder only beside the root of the checkout, as in `join(root, 'web')`.
  const knowsRoot = /\broot\b/.test(plain)
  const knowsPatterns = plain.includes('globSync(')
  const found = new Set<string>()
  for (const name of named.map(withoutValues)) {
    const isRelative = /^\.\.?\//.test(name)
    const path = isRelative ? posix.join(posix.dirname(file), name) : fromRoot(name, subpaths)
    const beside = posix.join(posix.dirname(file), name)
    const folder = path.endsWith('/') ? path : `${path}/`
    if (files.has(path)) found.add(path)
    else if (path.includes('*')) {
      if (isRelative || (knowsPatterns && path.includes('/'))) found.add(path)
    } else if (folders.has(folder)) {
      if (knowsRoot || name.includes('/')) found.add(folder)
    } else if (files.has(beside)) found.add(beside)
  }
  found.delete(file)
  return [...found]
}

/** A template's values may be anything: `./${name}.ts` is a pattern. A value at the beginning is the root. */
const withoutValues = (name: string): string => name.replace(/^\$\{[^}]*\}\//, '').replaceAll(/\$\{[^}]*\}/g, '*')

function fromRoot(name: string, subpaths: Checkout['subpaths']): string {
  for (const [from, to] of Object.entries(subpaths)) {
    const start = from.slice(0, -1)
    if (name.startsWith(start)) return posix.normalize(to.slice(0, -1) + name.slice(start.length))
  }
  return name
}

/** From each file that a change reaches to the file it depends on, which is nearer to the change; a changed file has itself. */
export function reachedBy(
  changed: readonly string[],
  graph: ReadonlyMap<string, readonly string[]>,
): Map<string, string> {
  const dependents = new Map<string, string[]>()
  for (const [file, dependencies] of graph)
    for (const one of dependencies) dependents.set(one, [...(dependents.get(one) ?? []), file])
  const patterns = [...dependents.keys()].filter((one) => one.includes('*'))
  const reached = new Map(changed.map((file) => [file, file]))
  for (const [file] of reached) {
    const matching = patterns.filter((one) => posix.matchesGlob(file, one))
    for (const name of [file, ...foldersOf(file), ...matching])
      for (const dependent of dependents.get(name) ?? []) if (!reached.has(dependent)) reached.set(dependent, file)
  }
  return reached
}
