import type { Handlers } from '../../platform/context/handlers.ts'
import { listInbox, markInboxRead } from './inbox.ts'
import type { inboxRoutes } from './inbox.api.ts'
import { readSubscription, subscribe, unsubscribe } from './subscriptions.ts'

export const inboxHandlers: Handlers<typeof inboxRoutes> = {
  readSubscription: (app, actor, { params }) => readSubscription(app, actor, params.issueId),
  subscribe: (app, actor, { params }) => subscribe(app, actor, params.issueId),
  unsubscribe: (app, actor, { params }) => unsubscribe(app, actor, params.issueId),
  listInbox: (app, actor, { query }) => listInbox(app, actor, query),
  markInboxRead: (app, actor, { body }) => markInboxRead(app, actor, body),
}
