import type { StoredRoot } from './code-host.api.ts'
import { foldFileName } from './store-commits.ts'

/** From paths of frames to paths of the repository. Pure. */

type Root = Pick<StoredRoot, 'stack_root' | 'source_root' | 'by'>

/**
 * The file of the repository that a path of a frame means: by a root, else the only known file that ends in the same folders
 * and name. A root that was found needs the file to be known; a typed one does not.
 * @param known paths of the repository, at least those with the same name
 */
export function sourcePath(path: string, roots: readonly Root[], known: ReadonlySet<string>): string | null {
  for (const { stack_root: from, source_root: to, by } of roots) {
    const begin = from.replace(/^[a-z][a-z0-9+.-]*:\/\/\/?|^\//i, '')
    if (!path.startsWith(begin)) continue
    const source = to + path.slice(begin.length)
    if (by === 'member' || known.has(source)) return source
  }
  return bestMatch(path, known)
}

/** The only known path with the most common folders at its end; null when two have as many, or only the name is common. */
function bestMatch(path: string, known: Iterable<string>): string | null {
  let [best, most, isOnly]: [string | null, number, boolean] = [null, 0, false]
  for (const candidate of known) {
    const common = commonParts(path, candidate)
    if (common > most) [best, most, isOnly] = [candidate, common, true]
    else if (common === most) isOnly = false
  }
  const enough = path.includes('/') ? 2 : 1
  return isOnly && (most >= enough || most === partsOf(best ?? '').length) ? best : null
}

const partsOf = (path: string): string[] => path.split('/')

/** How many parts two paths have in common at their end. */
export function commonParts(a: string, b: string): number {
  const [one, other] = [partsOf(a).reverse(), partsOf(b).reverse()]
  const end = one.findIndex((part, at) => part !== other[at])
  return end < 0 ? one.length : end
}

const MAX_FOUND = 5
/** Two files lead to a root that one of them alone could lead to by accident. */
const MIN_MATCHED = 2

/** Finds roots by trial: each frame that has one best file says how the two paths differ at their beginning. */
export function findRoots(paths: readonly string[], known: ReadonlyMap<string, readonly string[]>): StoredRoot[] {
  const tried = [...new Set(paths)]
  const groups = new Map<string, { from: string; to: string; paths: string[] }>()
  for (const path of tried) {
    const match = bestMatch(path, known.get(foldFileName(path)) ?? [])
    if (match === null) continue
    const common = commonParts(path, match)
    const [from, to] = [beginOf(path, common), beginOf(match, common)]
    const group = groups.get(`${from}\n${to}`) ?? { from, to, paths: [] }
    group.paths.push(path)
    groups.set(`${from}\n${to}`, group)
  }
  return [...groups.values()]
    .filter((group) => group.paths.length >= Math.min(MIN_MATCHED, tried.length))
    .map(({ from, to, paths: matched }): StoredRoot => {
      const shared = sharedFolders(matched.map((path) => path.slice(from.length)))
      const stackRoot = from + shared
      return {
        stack_root: stackRoot,
        source_root: to + shared,
        by: 'found',
        matched: matched.length,
        tried: tried.filter((path) => path.startsWith(stackRoot)).length,
      }
    })
    .toSorted((a, b) => b.matched - a.matched)
    .slice(0, MAX_FOUND)
}

const beginOf = (path: string, common: number): string => {
  const begin = partsOf(path).slice(0, -common)
  return begin.length === 0 ? '' : `${begin.join('/')}/`
}

/** The folders with which all paths begin. */
function sharedFolders(paths: readonly string[]): string {
  const [first = [], ...rest] = paths.map((path) => partsOf(path).slice(0, -1))
  const end = first.findIndex((part, at) => rest.some((parts) => parts[at] !== part))
  const shared = end < 0 ? first : first.slice(0, end)
  return shared.length === 0 ? '' : `${shared.join('/')}/`
}
