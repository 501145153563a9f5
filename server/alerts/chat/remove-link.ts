import { accountFacts } from '../../identity/auth/account-facts.ts'
import { type SessionActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { deleteUserLink } from './chat.queries.ts'

/** The buttons of the chat user act no longer. @throws AppError not_found */
export async function removeLink(app: App, actor: SessionActor, linkId: string): Promise<void> {
  await app.tx(async (tx) => {
    const link = await deleteUserLink(tx, actor.userId, linkId)
    if (link === undefined) throw notFound('Link')
    const { team_id, chat_user_id } = link
    const fact = { kind: 'integration.chat.unlinked', data: { team_id, chat_user_id } } as const
    await recordFacts(tx, factContext(app, actor), await accountFacts(tx, actor.userId, fact))
  })
}
