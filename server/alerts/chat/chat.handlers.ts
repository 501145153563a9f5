import type { Handlers } from '../../platform/context/handlers.ts'
import type { ChatLink, chatRoutes } from './chat.api.ts'
import { type LinkRow, selectUserLinks } from './chat.queries.ts'
import { confirmLink, readOffer } from './confirm-link.ts'
import { removeLink } from './remove-link.ts'
import { takePress } from './take-press.ts'

const viewLink = ({ id, team_id, chat_user_id, team_name, chat_user_name, created_at }: LinkRow): ChatLink => ({
  id,
  team_id,
  chat_user_id,
  team_name,
  chat_user_name,
  created_at: created_at.toISOString(),
})

export const chatHandlers: Handlers<typeof chatRoutes> = {
  takeChatPress: async (app, caller, call) => {
    await takePress(app, caller, call.raw())
    return {}
  },
  readChatLinkOffer: async (app, _actor, { body }) => {
    const { team_name, chat_user_name, expires_at } = await readOffer(app, body.token)
    return { team_name, chat_user_name, expires_at: expires_at.toISOString() }
  },
  confirmChatLink: async (app, actor, { body }) => viewLink(await confirmLink(app, actor, body.token)),
  listChatLinks: async (app, actor) => ({ items: (await selectUserLinks(app.db, actor.userId)).map(viewLink) }),
  removeChatLink: (app, actor, { params }) => removeLink(app, actor, params.linkId),
}
