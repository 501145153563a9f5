import type { Handlers } from '../../platform/context/handlers.ts'
import type { issueEventRoutes } from './issue-events.api.ts'
import { addAttachment } from './add-attachment.ts'
import { listEvents } from './list-events.ts'
import { listReleasesOfIssue, listUsers } from './list-users.ts'
import { readIssueEvent } from './read-event.ts'
import { readTrend } from './read-trend.ts'
import { readSharedValues } from './read-shared-values.ts'

export const issueEventHandlers: Handlers<typeof issueEventRoutes> = {
  listIssueEvents: (app, actor, { params, query }) => listEvents(app, actor, { ...params, ...query }),
  readIssueEvent: (app, actor, { params }) => readIssueEvent(app, actor, params),
  addAttachment: (app, actor, call) => addAttachment(app, actor, { ...call.params, ...call.query }, call.upload()),
  readSharedValues: (app, actor, { params }) => readSharedValues(app, actor, params.issueId),
  readIssueTrend: (app, actor, { params, query }) => readTrend(app, actor, params.issueId, query.range),
  listIssueUsers: (app, actor, { params, query }) => listUsers(app, actor, { ...params, ...query }),
  listIssueReleases: (app, actor, { params }) => listReleasesOfIssue(app, actor, params.issueId),
}
