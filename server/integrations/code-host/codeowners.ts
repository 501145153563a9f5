import type { OwnershipRule } from '../../issues/ownership/ownership-rules.api.ts'
import { MAX_GLOB_CHARACTERS } from '../../platform/kernel/glob.ts'
import type { StoredRoot } from './code-host.api.ts'

/** Reads CODEOWNERS files. Pure. */

/** Rules of a file that are kept: the last ones, which decide. */
export const MAX_COMPILED = 500
const MAX_LINES = 5_000

/** A line: a pattern and its owners. A line without owners ends the ownership of its files and is left out. */
export type OwnersLine = { readonly pattern: string; readonly owners: readonly string[] }

/** Sections of GitLab, `[Docs] @writers`, give their owners to lines without any. */
export function parseCodeowners(text: string): OwnersLine[] {
  const lines: OwnersLine[] = []
  let ofSection: readonly string[] = []
  for (const raw of text.split('\n').slice(0, MAX_LINES)) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const section = /^\^?\[[^\]]+\](?:\[\d+\])?(.*)$/.exec(line)
    if (section !== null) {
      ofSection = ownersOf(section[1] ?? '')
      continue
    }
    const [, pattern = '', rest = ''] = /^((?:\\.|[^\s\\])+)(.*)$/.exec(line) ?? []
    const owners = ownersOf(rest)
    const chosen = owners.length > 0 ? owners : ofSection
    if (pattern !== '' && chosen.length > 0) lines.push({ pattern: pattern.replaceAll(/\\(.)/g, '$1'), owners: chosen })
  }
  return lines
}

const ownersOf = (text: string): string[] =>
  (text.split('#')[0] ?? '').split(/\s+/).filter((word) => /^@[\w.@/-]+$|^[^@\s]+@[^@\s]+$/.test(word))

/** A member or team for an owner; null for one who is neither. */
export type FindOwner = (owner: string) => { readonly userId: string } | { readonly team: string } | null

/**
 * Ownership rules of a file: each line goes to the first of its owners who is known. Roots say how a path of the repository
 * looks in a frame.
 */
export function compileOwners(
  lines: readonly OwnersLine[],
  find: FindOwner,
  roots: readonly Pick<StoredRoot, 'stack_root' | 'source_root'>[],
): { rules: OwnershipRule[]; unknown: string[] } {
  const unknown = new Set<string>()
  const rules = lines.flatMap(({ pattern, owners }): OwnershipRule[] => {
    const known = owners.flatMap((owner) => {
      const found = find(owner)
      if (found === null) unknown.add(owner)
      return found === null ? [] : [found]
    })
    const [owner] = known
    if (owner === undefined) return []
    const names = 'userId' in owner ? { user_id: owner.userId, team: null } : { user_id: null, team: owner.team }
    return globsOf(pattern, roots).map((glob) => ({ ...glob, ...names }))
  })
  return { rules: rules.slice(-MAX_COMPILED), unknown: [...unknown].slice(0, 50) }
}

/**
 * The globs of a pattern. Frames know paths of the machine that built the app, so that a pattern of the root of the repository
 * matches in any folder; and where a root maps it, the path and the package that frames show.
 */
function globsOf(
  pattern: string,
  roots: readonly Pick<StoredRoot, 'stack_root' | 'source_root'>[],
): Pick<OwnershipRule, 'match' | 'glob'>[] {
  const path = pattern.replace(/^\//, '').replaceAll(/\*+/g, '*')
  const isFolder = path.endsWith('/') || !/[.*][^/]*$/.test(path)
  const glob = path === '*' ? '*' : isFolder ? `${path.replace(/\/$/, '')}/*` : path
  const mapped = roots.flatMap(({ stack_root: from, source_root: to }) => {
    if (to === '' || !glob.startsWith(to)) return []
    const shown = from + glob.slice(to.length)
    return [
      { match: 'path', glob: shown },
      // A JVM frame names its package, not its folder.
      ...(/^[\w$]+\/(?:[\w$]+\/)*\*$/.test(shown) ? [{ match: 'module', glob: shown.replaceAll('/', '.') }] : []),
    ]
  })
  return [{ match: 'path', glob }, ...mapped].filter((one) => one.glob.length <= MAX_GLOB_CHARACTERS)
}
