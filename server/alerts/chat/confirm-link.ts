import { accountFacts } from '../../identity/auth/account-facts.ts'
import { lockUser } from '../../identity/auth/auth.queries.ts'
import { type SessionActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'
import {
  insertLink,
  type LinkRow,
  selectLink,
  selectUserLinks,
  selectOffer,
  takeOffer,
  type OfferRow,
} from './chat.queries.ts'

export const MAX_LINKS = 20

const spent = () => invalid('This link was used or is older than 10 minutes. Press a button in the chat again.')

/** Whom a link would link, for the page that asks. @throws AppError invalid (used, replaced or expired) */
export async function readOffer(app: App, token: string): Promise<OfferRow> {
  const offer = await selectOffer(app.db, oneTimeTokenHash(token), app.clock.now())
  if (offer === undefined) throw spent()
  return offer
}

/**
 * Links the chat user of an offer to the user of the session: from then on their buttons act as this user.
 * @throws AppError invalid (used, replaced or expired), conflict (linked to another account, too many links)
 */
export async function confirmLink(app: App, actor: SessionActor, token: string): Promise<LinkRow> {
  return app.tx(async (tx) => {
    await lockUser(tx, actor.userId)
    const context = factContext(app, actor)
    const offer = await takeOffer(tx, oneTimeTokenHash(token), context.at)
    if (offer === undefined) throw spent()
    const { team_id, chat_user_id, team_name, chat_user_name } = offer
    const known = await selectLink(tx, { teamId: team_id, userId: chat_user_id })
    if (known?.user_id === actor.userId) return known
    if ((await selectUserLinks(tx, actor.userId)).length >= MAX_LINKS)
      throw conflict(`You can link at most ${MAX_LINKS} chat users. Remove one first.`)
    const named = { team_id, chat_user_id, team_name, chat_user_name }
    const link = { id: newId(), ...named, user_id: actor.userId, created_at: context.at }
    if (!(await insertLink(tx, link))) throw conflict('This chat user is linked to another account.')
    const fact = { kind: 'integration.chat.linked', data: { team_id, chat_user_id } } as const
    await recordFacts(tx, context, await accountFacts(tx, actor.userId, fact))
    return link
  })
}
