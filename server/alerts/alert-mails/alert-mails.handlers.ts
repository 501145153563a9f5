import type { Handlers } from '../../platform/context/handlers.ts'
import { invalid, notFound } from '../../platform/kernel/errors.ts'
import type { alertMailRoutes } from './alert-mails.api.ts'
import { deleteMemberMute, selectMutedRules } from './alert-mails.queries.ts'
import { unsubscribe } from './unsubscribe.ts'

const textOf = (token: unknown): string => (typeof token === 'string' ? token.slice(0, 500) : '')

export const alertMailHandlers: Handlers<typeof alertMailRoutes> = {
  unsubscribeMails: (app, _caller, { body }) => unsubscribe(app, body),
  unsubscribeOneClick: async (app, _caller, call) => {
    // Programs that only look at the link send no such body. Clients may send it as multipart.
    if (!call.raw().body.includes('One-Click')) throw invalid('Send List-Unsubscribe=One-Click as the body.')
    await unsubscribe(app, { token: textOf(call.query.token), scope: 'rule' })
    return { scope: 'rule' }
  },
  openUnsubscribe: async (_app, _caller, call) => {
    const token = textOf(call.query.token)
    call.redirect(token === '' ? '/unsubscribe' : `/unsubscribe#token=${encodeURIComponent(token)}`)
  },
  listMutedRules: async (app, actor) => ({
    items: (await selectMutedRules(app.db, actor)).map(({ id, created_at, rule_id, rule_name, project_name }) => ({
      id,
      rule: { id: rule_id, name: rule_name },
      project: { name: project_name },
      created_at: created_at.toISOString(),
    })),
  }),
  deleteMutedRule: (app, actor, { params }) =>
    app.tx(async (tx) => {
      if (!(await deleteMemberMute(tx, actor, params.muteId))) throw notFound('Mute')
    }),
}
