import type { Handlers } from '../../platform/context/handlers.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { createComment, deleteComment, listComments, updateComment } from './comments.ts'
import { deleteIssue } from '../merging/delete-issue.ts'
import type { issueRoutes } from './issues.api.ts'
import { listIssues, searchIssues } from '../search/list-issues.ts'
import { listSimilar } from './list-similar.ts'
import { suggestTerms } from '../search/suggest.ts'
import type { IssueParts } from './parts.ts'
import { readIssue } from './read-issue.ts'
import { readVolume } from './read-volume.ts'
import { updateIssue } from './update-issue.ts'

/** @param parts of the page of an issue */
export const issueHandlers = (parts: IssueParts): Handlers<typeof issueRoutes> => ({
  listIssues: (app, actor, { query }) => listIssues(app, actor, query),
  searchIssues: (app, actor, { query }) => searchIssues(app, actor, query),
  readIssue: (app, actor, { params, query }) => readIssue(app, actor, parts, params.issueId, query.event, query),
  updateIssue: (app, actor, { params, body }) => updateIssue(app, actor, { ...params, ...body }),
  deleteIssue: (app, actor, { params }) => deleteIssue(app, actor, params.issueId),
  listComments: (app, actor, { params, query }) => listComments(app, actor, { ...params, ...query }),
  createComment: (app, actor, { params, body }) => createComment(app, actor, { ...params, ...body }),
  updateComment: (app, actor, { params, body }) => updateComment(app, actor, { ...params, ...body }),
  deleteComment: (app, actor, { params }) => deleteComment(app, actor, params),
  listSimilar: (app, actor, { params, query }) => listSimilar(app, actor, params.issueId, query.limit),
  listProjectIssues: async (app, actor, { params, query }) => {
    await requireProject(app, actor, params.projectId)
    return searchIssues(app, actor, { ...query, projectId: [params.projectId] })
  },
  suggestTerms: (app, actor, { query }) => suggestTerms(app, actor, query),
  readVolume: (app, actor, { query }) => readVolume(app, actor, query),
})
