import { z } from 'zod'
import type { Tx } from '../../platform/storage/database.ts'
import { changePaths, type NewKnownCommit, upsertKnownCommits } from './commits.queries.ts'
import type { ChangedFile, HostCommit } from './vendor.ts'

/** Commits as they are stored, within bounds. */

/** Files of one commit. A commit of more says which file it changed for none of the others. */
const MAX_FILES = 1_000
const MAX_PATH_CHARACTERS = 1_000
/** Characters of the diffs of one commit. */
const MAX_PATCHES = 32_000
const MAX_MESSAGE = 1_000
const MAX_NAME = 200
/** Files of a repository that are known. */
const MAX_PATHS = 100_000

export const StoredFiles = z.array(
  z.object({
    path: z.string(),
    type: z.enum(['A', 'M', 'D']),
    lines: z.array(z.tuple([z.number(), z.number()])).optional(),
    patch: z.string().optional(),
  }),
)

/** The name of a file without its folders, in lower case. */
export const foldFileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1).toLowerCase()

/** JSON and names of changed files, cut to the stored size. */
export function packFiles(files: readonly ChangedFile[]): { json: string; names: string[] } {
  let left = MAX_PATCHES
  const kept = files.flatMap((file) => {
    if (file.path.length > MAX_PATH_CHARACTERS || file.path.includes('\0')) return []
    const { patch, ...rest } = file
    if (patch === undefined || patch.length > left) return [rest]
    left -= patch.length
    return [{ ...rest, patch: storable(patch) }]
  })
  const stored = kept.slice(0, MAX_FILES)
  return { json: JSON.stringify(stored), names: stored.map(({ path }) => foldFileName(path)) }
}

/** PostgreSQL takes no zero character and no half of a pair. */
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed()

const cut = (text: string | null, max: number): string | null =>
  text === null ? null : storable(text).slice(0, max).toWellFormed()

/**
 * Adds commits, oldest first, and their files to what is known of the default branch.
 * @param wants whether the files and lines of new ones are to be fetched
 * @returns hashes of those that are new on the default branch
 */
export async function storeKnownCommits(
  tx: Tx,
  projectId: string,
  commits: readonly HostCommit[],
  { isDefault, wants }: { readonly isDefault: boolean; readonly wants: boolean },
): Promise<Set<string>> {
  const rows = commits.map((commit): NewKnownCommit => {
    const files = commit.files === null ? null : packFiles(commit.files)
    return {
      project_id: projectId,
      sha: commit.sha.toLowerCase(),
      is_default: isDefault,
      message: cut(commit.message, MAX_MESSAGE) ?? '',
      author_name: cut(commit.authorName, MAX_NAME),
      author_email: cut(commit.authorEmail, MAX_NAME)?.toLowerCase() ?? null,
      author_login: cut(commit.authorLogin, MAX_NAME),
      committed_at: validTime(commit.committedAt),
      files: files?.json ?? null,
      names: files?.names ?? [],
      is_wanted: wants,
    }
  })
  const fresh = await upsertKnownCommits(tx, rows)
  if (isDefault) await followPaths(tx, projectId, commits)
  return fresh
}

/** The last change of a path decides whether it is there. */
async function followPaths(tx: Tx, projectId: string, commits: readonly HostCommit[]): Promise<void> {
  const last = new Map<string, boolean>()
  for (const { files } of commits)
    for (const { path, type } of files ?? [])
      if (path.length <= MAX_PATH_CHARACTERS && !path.includes('\0')) last.set(storable(path), type !== 'D')
  const present = [...last].flatMap(([path, isThere]) => (isThere ? [{ path, name: foldFileName(path) }] : []))
  const gone = [...last].flatMap(([path, isThere]) => (isThere ? [] : [path]))
  await changePaths(tx, projectId, present.slice(0, MAX_PATHS), gone, MAX_PATHS)
}

const validTime = (time: Date): Date => (Number.isNaN(time.getTime()) || time.getTime() < 0 ? new Date(0) : time)

export { MAX_PATHS }
