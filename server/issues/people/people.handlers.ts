import type { Handlers } from '../../context/handlers.ts'
import { listInbox, markInboxRead } from './inbox.ts'
import type { peopleRoutes } from './people.api.ts'
import { previewOwnership } from './preview-ownership.ts'
import { readSubscription, subscribe, unsubscribe } from './subscriptions.ts'

export const peopleHandlers: Handlers<typeof peopleRoutes> = {
  readSubscription: (app, actor, { params }) => readSubscription(app, actor, params.issueId),
  subscribe: (app, actor, { params }) => subscribe(app, actor, params.issueId),
  unsubscribe: (app, actor, { params }) => unsubscribe(app, actor, params.issueId),
  listInbox: (app, actor, { query }) => listInbox(app, actor, query),
  markInboxRead: (app, actor, { body }) => markInboxRead(app, actor, body),
  previewOwnership: (app, actor, { params, body }) =>
    previewOwnership(app, actor, params.projectId, body.ownership_rules),
}
