import type { App } from '../../platform/context/app.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { updatePreferences } from '../notifications/update-preferences.ts'
import { lockMember, readMember } from '../../identity/team/members.queries.ts'
import { deleteMutes, insertMute, lockRule } from './alert-mails.queries.ts'
import { DIGEST, readUnsubscribeToken } from './unsubscribe-token.ts'

/** `rule`: mails of the rule that sent the link; `all`: of every rule of the organisation; `none`: all are wanted again. */
type UnsubscribeScope = 'rule' | 'all' | 'none'

export type Unsubscribed = { readonly scope: UnsubscribeScope; readonly rule_name: string | null }

/**
 * Ends or restores mails about alerts, or the weekly digest, for the receiver of a link. A second time changes nothing.
 * @returns the name of the rule; null when it was deleted
 * @throws AppError invalid (not a token of ours)
 */
export async function unsubscribe(
  app: App,
  { token, scope }: { readonly token: string; readonly scope: UnsubscribeScope },
): Promise<Unsubscribed> {
  const named = readUnsubscribeToken(app, token)
  if (named === null) throw invalid('This link is not valid. Use the whole link of the mail.')
  const { orgId, ruleId, receiver } = named
  if (ruleId === DIGEST) {
    if ('userId' in receiver && (await readMember(app.db, orgId, receiver.userId)) !== undefined)
      await updatePreferences(app, { orgId, userId: receiver.userId }, { weekly_digest: { enabled: scope === 'none' } })
    return { scope, rule_name: null }
  }
  const rule_name = await app.tx(async (tx) => {
    const rule = await lockRule(tx, orgId, ruleId)
    if ('userId' in receiver && (await lockMember(tx, orgId, receiver.userId)) === undefined) return rule?.name ?? null
    if (scope === 'none') await deleteMutes(tx, named)
    else if (scope === 'rule' ? rule !== undefined : 'addressHash' in receiver)
      await insertMute(tx, { id: newId(), orgId, receiver }, scope === 'all' ? null : ruleId, app.clock.now())
    return rule?.name ?? null
  })
  // A member's wish about all rules is their own setting, which the dashboard shows.
  if ('userId' in receiver && scope !== 'rule' && (await readMember(app.db, orgId, receiver.userId)) !== undefined)
    await updatePreferences(app, { orgId, userId: receiver.userId }, { channels: { email: scope === 'none' } })
  return { scope, rule_name }
}
