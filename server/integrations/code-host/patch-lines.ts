/** Reads unified diffs. Pure. */

/** Characters of the diff of one file that are kept. */
const MAX_PATCH_CHARACTERS = 4_000
const MAX_RANGES = 100

const HUNK = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/

/** Ranges of lines that a diff added or changed, in the new file: `[first, count]`. */
export function changedLines(patch: string): [number, number][] {
  const ranges: [number, number][] = []
  let line = 0
  let open: [number, number] | null = null
  let isDeleting = false
  for (const text of patch.split('\n')) {
    const hunk = HUNK.exec(text)
    if (hunk !== null) {
      line = Number(hunk[1])
      open = null
      isDeleting = false
    } else if (text.startsWith('+')) {
      if (open === null) ranges.push((open = [line, 0]))
      open[1] += 1
      line += 1
      isDeleting = false
    } else if (text.startsWith('-')) isDeleting = true
    else {
      // Lines were only deleted: the line that follows them changed its place.
      if (isDeleting && open === null) ranges.push([line, 1])
      open = null
      isDeleting = false
      line += 1
    }
  }
  return ranges.slice(0, MAX_RANGES)
}

export const keptPatch = (patch: string): string => patch.slice(0, MAX_PATCH_CHARACTERS)

export type DiffLine = { readonly line: number; readonly sign: ' ' | '+' | '-'; readonly text: string }

const AROUND = 1
const MAX_LINES = 8

/** The changed lines nearest to a line, with one line before and after; empty when the diff has no change there. */
export function excerpt(patch: string, near: number): DiffLine[] {
  const lines: DiffLine[] = []
  let line = 0
  for (const text of patch.split('\n')) {
    const hunk = HUNK.exec(text)
    if (hunk !== null) {
      line = Number(hunk[1])
      continue
    }
    const sign = text.startsWith('+') ? '+' : text.startsWith('-') ? '-' : ' '
    lines.push({ line, sign, text: text.slice(1) })
    if (sign !== '-') line += 1
  }
  const at = lines.findIndex((one) => one.sign === '+' && one.line === near)
  if (at < 0) return []
  let [from, to] = [at, at]
  while (from > 0 && lines[from - 1]?.sign !== ' ' && at - from < MAX_LINES / 2) from -= 1
  while (to < lines.length - 1 && lines[to + 1]?.sign !== ' ' && to - at < MAX_LINES / 2) to += 1
  return lines.slice(Math.max(0, from - AROUND), to + AROUND + 1)
}
