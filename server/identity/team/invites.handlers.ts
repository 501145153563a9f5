import { ACCESS_COOKIE } from '../auth/session-cookies.ts'
import type { Handlers } from '../../platform/context/handlers.ts'
import { acceptInvite, readInvite } from './accept-invite.ts'
import { resendInvite, revokeInvite } from './change-invite.ts'
import { inviteMember, inviteMembers } from './invite-members.ts'
import type { inviteRoutes } from './invites.api.ts'
import { listInvites } from './list-invites.ts'

export const inviteHandlers: Handlers<typeof inviteRoutes> = {
  inviteMember: (app, actor, { body }) => inviteMember(app, actor, body),
  listInvites: (app, actor, { query }) => listInvites(app, actor, query),
  inviteMembers: async (app, actor, { body: { emails, email = '', role } }) => ({
    results: await inviteMembers(app, actor, { emails: emails ?? [email], role }),
  }),
  resendInvite: (app, actor, { params }) => resendInvite(app, actor, params.inviteId),
  revokeInvite: (app, actor, { params }) => revokeInvite(app, actor, params.inviteId),
  readInvite: (app, caller, { body }) => readInvite(app, body.token, caller),
  acceptInvite: (app, caller, { body, cookies }) =>
    acceptInvite(app, { ...body, accessToken: cookies.get(ACCESS_COOKIE) }, caller),
}
