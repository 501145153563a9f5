import type { Asked } from './asked.ts'
import { type Issue, IssueDetail, Issues } from './shapes.ts'

/** The issue that the question names, with its newest event; null when there is none, or the caller may not read it. */
export async function findIssue({ question, projectId, facts }: Asked) {
  const { issue } = question
  if (issue === null) return null
  const id = issue.includes('-') && issue.length === 36 ? issue : await idOf(issue)
  return id === null ? null : facts.read('readIssue', IssueDetail, { params: { issueId: id }, query: {} })

  async function idOf(shortId: string): Promise<string | null> {
    const found = await facts.read('listIssues', Issues, {
      query: { q: `issue:${shortId}`, limit: '1', ...(projectId === null ? {} : { projectId: [projectId] }) },
    })
    const [first]: readonly Issue[] = found?.items ?? []
    return first?.id ?? null
  }
}
