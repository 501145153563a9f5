import { SIMILAR_PARTS, type SimilarPart } from '#shared/issue-values.ts'
import { isRecurring } from '../search/document.ts'
import { addWords } from '../search/index-terms.ts'

/** How much two issues resemble each other. Pure. */

export type Compared = { readonly title: string; readonly culprit: string; readonly error_type: string | null }

export type Similarity = {
  /** From 0 (nothing in common) to 1. */
  readonly score: number
  readonly shared: readonly SimilarPart[]
}

const WEIGHTS: Readonly<Record<SimilarPart, number>> = { type: 3, culprit: 3, message: 4 }
/** Two of the three parts reach it; the type alone does not. */
export const MIN_SCORE = 0.5
const MIN_SHARED_WORDS = 0.5

/** The words of the title without the error type, numbers and ids, which differ between events of one error. */
export function titleWords({ title, error_type: type }: Pick<Compared, 'title' | 'error_type'>): ReadonlySet<string> {
  const message = type !== null && title.startsWith(type) ? title.slice(type.length) : title
  const words = new Set<string>()
  addWords(words, message)
  return new Set([...words].filter(isRecurring))
}

/** Compares two issues. A part that both lack does not count. */
export function compareIssues(a: Compared, b: Compared): Similarity {
  const [wordsA, wordsB] = [titleWords(a), titleWords(b)]
  const matches: Record<SimilarPart, number | null> = {
    type: a.error_type === null && b.error_type === null ? null : a.error_type === b.error_type ? 1 : 0,
    culprit: a.culprit === '' && b.culprit === '' ? null : a.culprit === b.culprit ? 1 : 0,
    message: wordsA.size + wordsB.size === 0 ? null : overlapOf(wordsA, wordsB),
  }
  let [sum, weights] = [0, 0]
  for (const part of SIMILAR_PARTS) {
    const match = matches[part]
    if (match === null) continue
    sum += match * WEIGHTS[part]
    weights += WEIGHTS[part]
  }
  return {
    score: weights === 0 ? 0 : sum / weights,
    shared: SIMILAR_PARTS.filter((part) => (matches[part] ?? 0) >= MIN_SHARED_WORDS),
  }
}

/** Jaccard index: words of both among the words of either. */
function overlapOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const common = a.intersection(b).size
  return common / (a.size + b.size - common)
}
