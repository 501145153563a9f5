import type { KnownCommit } from './commits.queries.ts'
import type { FramePlace } from './frame-paths.ts'
import { StoredFiles } from './store-commits.ts'
import { commonParts } from './source-roots.ts'
import type { z } from 'zod'
import { DAY_MS } from '../../platform/kernel/day.ts'

/** Which commits may have caused an issue. Pure. */

type File = z.infer<typeof StoredFiles>[number]

/** A frame and the file of the repository that it means; null while that is not known. */
export type SourcePlace = FramePlace & { readonly source: string | null }

export type Touched = { readonly file: File; readonly place: SourcePlace; readonly isLineChanged: boolean }
export type Suspect = {
  readonly commit: KnownCommit
  readonly isInRelease: boolean
  readonly touched: readonly Touched[]
  readonly score: number
}

/** A changed line counts more than anything else; then the release, the frame and the age. */
const LINE = 100
const RELEASE = 60
const FRAME = 40
const PER_FRAME = 6
const MAX_AGE_DAYS = 90

/**
 * Commits that changed a file of a frame, the likeliest first, then the newest.
 * @param inRelease hashes of the first release of the issue
 * @param firstSeen of the issue
 */
export function rankSuspects(
  commits: readonly KnownCommit[],
  places: readonly SourcePlace[],
  inRelease: ReadonlySet<string>,
  firstSeen: Date,
): Suspect[] {
  return commits
    .flatMap((commit): Suspect[] => {
      const touched = touchedBy(StoredFiles.catch([]).parse(commit.files), places)
      const [first] = touched
      if (first === undefined) return []
      const isInRelease = inRelease.has(commit.sha)
      const ageDays = Math.max(0, firstSeen.getTime() - commit.committed_at.getTime()) / DAY_MS
      const score =
        (touched.some(({ isLineChanged }) => isLineChanged) ? LINE : 0) +
        (isInRelease ? RELEASE : 0) +
        Math.max(0, FRAME - PER_FRAME * (first.place.depth - 1)) -
        Math.min(ageDays, MAX_AGE_DAYS) / 3
      return [{ commit, isInRelease, touched, score }]
    })
    .toSorted((a, b) => b.score - a.score || b.commit.committed_at.getTime() - a.commit.committed_at.getTime())
}

/** Files of frames that a commit changed, those with a changed line first, then the innermost. */
function touchedBy(files: readonly File[], places: readonly SourcePlace[]): Touched[] {
  const found: Touched[] = []
  for (const place of places) {
    const file = files.find((one) => isFileOf(one.path, place))
    if (file === undefined || found.some((other) => other.file === file && other.place.line === place.line)) continue
    const { line } = place
    const isLineChanged =
      line !== null && (file.lines ?? []).some(([from, count]) => line >= from && line < from + count)
    found.push({ file, place, isLineChanged })
  }
  return found.toSorted((a, b) => Number(b.isLineChanged) - Number(a.isLineChanged) || a.place.depth - b.place.depth)
}

function isFileOf(path: string, { source, path: shown }: SourcePlace): boolean {
  if (source !== null) return path === source
  // Only the name is known: any file of this name may be it.
  const common = commonParts(path, shown)
  return common >= Math.min(2, shown.split('/').length) || (common >= 1 && common === path.split('/').length)
}
