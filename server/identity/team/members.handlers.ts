import { setSessionCookies } from '../auth/session-cookies.ts'
import type { Handlers } from '../../platform/context/handlers.ts'
import { changeMember } from './change-member.ts'
import { listMembers } from './list-members.ts'
import type { memberRoutes } from './members.api.ts'
import { removeMember } from './remove-member.ts'

export const memberHandlers: Handlers<typeof memberRoutes> = {
  listMembers: (app, actor, { query }) => listMembers(app, actor, query),
  updateMember: async (app, actor, { params, body, cookies }) => {
    const { member, tokens } = await changeMember(app, actor, params.memberId, body)
    if (tokens !== null) setSessionCookies(cookies, tokens)
    return member
  },
  removeMember: (app, actor, { params }) => removeMember(app, actor, params.memberId),
}
