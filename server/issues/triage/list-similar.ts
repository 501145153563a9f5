import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { selectIssue } from '../rows/issues.queries.ts'
import { viewIssues } from '../rows/view-issue.ts'
import { selectCandidates, selectIssuesById } from './similar.queries.ts'
import { SIMILAR_PARTS, type SimilarPart } from '#shared/issue-values.ts'
import { addWords, isRecurring } from '../search/index-terms.ts'

const MAX_WORDS = 4

/**
 * Returns issues of the same project that resemble an issue, the most similar first.
 * @throws AppError not_found
 */
export async function listSimilar(app: App, actor: OrgActor, issueId: string, limit: number) {
  const issue = await selectIssue(app.db, actor, issueId)
  if (issue === undefined) throw notFound('Issue')
  // Long words are the rare ones.
  const words = [...titleWords(issue)].toSorted((a, b) => b.length - a.length).slice(0, MAX_WORDS)
  const candidates = await selectCandidates(app.db, issue, words)
  const similar = candidates
    .map(({ id, ...candidate }) => ({ id, ...compareIssues(issue, candidate) }))
    .filter(({ score }) => score >= MIN_SCORE)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit)
  const rows = await selectIssuesById(
    app.db,
    actor,
    similar.map(({ id }) => id),
  )
  const issues = new Map((await viewIssues(app, rows)).map((one) => [one.id, one]))
  return {
    items: similar.flatMap(({ id, score, shared }) => {
      const found = issues.get(id)
      return found === undefined ? [] : [{ issue: found, score, shared: [...shared] }]
    }),
  }
}

/** How much two issues resemble each other. Pure. */

export type Compared = { readonly title: string; readonly culprit: string; readonly error_type: string | null }

type Similarity = {
  /** From 0 (nothing in common) to 1. */
  readonly score: number
  readonly shared: readonly SimilarPart[]
}

const WEIGHTS: Readonly<Record<SimilarPart, number>> = { type: 3, culprit: 3, message: 4 }
/** Two of the three parts reach it; the type alone does not. */
export const MIN_SCORE = 0.5
const MIN_SHARED_WORDS = 0.5

/** The words of the title without the error type, numbers and ids, which differ between events of one error. */
function titleWords({ title, error_type: type }: Pick<Compared, 'title' | 'error_type'>): ReadonlySet<string> {
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
