import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { selectIssue } from '../rows/issues.queries.ts'
import { viewIssues } from '../rows/view-issue.ts'
import { selectCandidates, selectIssuesById } from './similar.queries.ts'
import { MIN_SCORE, compareIssues, titleWords } from './similarity.ts'

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
