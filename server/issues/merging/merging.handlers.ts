import type { Handlers } from '../../platform/context/handlers.ts'
import { discardIssue, listDiscards, removeDiscard } from './discard-issue.ts'
import { mergeIssues } from './merge-issues.ts'
import type { mergingRoutes } from './merging.api.ts'
import { previewGrouping } from './preview-grouping.ts'
import { readGrouping } from './read-grouping.ts'
import { unmergeIssues } from './unmerge-issues.ts'
import { upgradeGrouping } from './upgrade-grouping.ts'

export const mergingHandlers: Handlers<typeof mergingRoutes> = {
  mergeIssues: (app, actor, { params, body }) => mergeIssues(app, actor, { ...params, ...body }),
  unmergeIssues: (app, actor, { params, body }) => unmergeIssues(app, actor, { ...params, ...body }),
  discardIssue: (app, actor, { params }) => discardIssue(app, actor, params.issueId),
  listDiscards: (app, actor, { params, query }) => listDiscards(app, actor, { ...params, ...query }),
  removeDiscard: (app, actor, { params }) => removeDiscard(app, actor, params),
  readGrouping: (app, actor, { params }) => readGrouping(app, actor, params.projectId),
  previewGrouping: (app, actor, { params, body }) => previewGrouping(app, actor, params.projectId, body),
  upgradeGrouping: (app, actor, { params, body }) => upgradeGrouping(app, actor, { ...params, ...body }),
}
