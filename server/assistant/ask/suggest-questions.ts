import type { Asked } from './asked.ts'
import { Issues, page, Release } from './shapes.ts'

/** Three questions that can be answered, about what the projects have now. */
export async function suggestQuestions({ facts, projectId }: Asked): Promise<string[]> {
  const project = projectId === null ? {} : { projectId }
  const [issues, releases] = await Promise.all([
    facts.read('listIssues', Issues, {
      query: { ...(projectId === null ? {} : { projectId: [projectId] }), limit: '1', sort: '-user_count' },
    }),
    facts.read('listReleases', page(Release), { query: { ...project, limit: '5' } }),
  ])
  const [issue] = issues?.items ?? []
  const [newest] = releases?.items ?? []
  const older = releases?.items.find(({ id, project_id }) => id !== newest?.id && project_id === newest?.project_id)
  const questions = [
    ...(issue === undefined ? [] : [`Who is affected by ${issue.short_id}?`]),
    ...(newest === undefined
      ? []
      : [older === undefined ? `Is ${newest.version} healthy?` : `Compare ${newest.version} with ${older.version}.`]),
    'What is new in the last 7 days?',
    'How did the crash-free rate develop in the last 7 days?',
    'Which devices crash most?',
  ]
  return questions.slice(0, 3)
}
