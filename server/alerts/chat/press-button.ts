import { explainRefusal, type Permission } from '#shared/permissions.ts'
import type { ChatButton } from '../actions/chat-buttons.ts'
import { renderChat, type ChatMessage } from '../actions/render-chat.ts'
import { acknowledgeAlert } from '../rules/acknowledge-alert.ts'
import { buildMessage } from '../rules/build-message.ts'
import { type AlertForMessage, selectForMessages } from '../rules/fired.queries.ts'
import { resolveAlert } from '../rules/resolve-alert.ts'
import { countDenial } from '../../history/audit/denials.ts'
import type { Caller, ChatActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import { isUuid, newPrefixedId } from '../../platform/kernel/ids.ts'
import { readMember } from '../../identity/team/members.queries.ts'
import type { Press, ChatUser } from './chat-payload.ts'
import { selectLink, putOffer } from './chat.queries.ts'
import { newOneTimeToken, oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'

/** The chat's view after a press: the message as it is now, or a sentence that only the user sees. */
export type ChatAnswer =
  | ({ readonly replace_original: true } & ChatMessage)
  | { readonly response_type: 'ephemeral'; readonly replace_original: false; readonly text: string }

/** The minimum role is the same as for the change in the dashboard. */
const PERMISSIONS = {
  acknowledge: 'alerts.write',
  resolve: 'alerts.write',
  ignore: 'issues.write',
  assign_to_me: 'issues.write',
} as const satisfies Record<ChatButton, Permission>

/** The same for alerts that do not exist: only members know what an organisation has. */
const NO_ACCESS =
  'This alert does not exist any more, or your Faultline account is no active member of its organisation.'

/**
 * Does what a button says, as the member to whose account the chat user is linked. A user without a link gets one to
 * confirm, and nothing changes.
 * @param isFirst false when the press has had its effect
 */
export async function pressButton(
  app: App,
  caller: Caller,
  { user, value: alertId }: Press,
  button: ChatButton,
  isFirst: boolean,
): Promise<ChatAnswer> {
  const link = await selectLink(app.db, user)
  if (link === undefined)
    return privately(
      `Nothing has changed: Faultline does not know yet who you are. <${await offerLink(app, user)}|Link your chat user to your account>, then press the button again. The link works once, for 10 minutes.`,
    )
  const alert = await readAlert(app, alertId)
  const member = alert === undefined ? undefined : await readMember(app.db, alert.org_id, link.user_id)
  if (alert === undefined || member === undefined) return privately(NO_ACCESS)
  const { id: userId, name, role } = member
  const actor: ChatActor = { kind: 'chat', userId, name, role, orgId: alert.org_id, ...caller }
  const refusal = explainRefusal(PERMISSIONS[button], actor)
  if (refusal !== null) {
    countDenial(app, 'access.denied', { actor }, { name: 'routes', value: `chat: ${button}` })
    return privately(refusal)
  }
  try {
    if (isFirst) await act(app, actor, alert, button)
  } catch (error) {
    if (error instanceof AppError) return privately(error.message)
    throw error
  }
  return messageOfNow(app, alertId)
}

async function act(app: App, actor: ChatActor, alert: AlertForMessage, button: ChatButton): Promise<void> {
  const issueId = alert.issue_number === null ? null : alert.issue_id
  if (button === 'acknowledge') await acknowledgeAlert(app, actor, alert.id)
  else if (button === 'resolve') {
    if (issueId !== null) await updateIssue(app, actor, issueId, { status: 'resolved' })
    // Its rule may leave it open when the issue is resolved.
    await resolveAlert(app, actor, alert.id)
  } else if (issueId !== null)
    await updateIssue(app, actor, issueId, button === 'ignore' ? { status: 'ignored' } : { assignee_id: actor.userId })
}

/** As the API does it. @throws AppError as `PATCH /api/issues/:issueId` */
const updateIssue = (app: App, actor: ChatActor, issueId: string, body: Readonly<Record<string, string>>) =>
  app.operations.call(actor, 'updateIssue', { params: { issueId }, body })

const readAlert = async (app: App, alertId: string): Promise<AlertForMessage | undefined> =>
  isUuid(alertId) ? (await selectForMessages(app.db, [alertId]))[0] : undefined

async function messageOfNow(app: App, alertId: string): Promise<ChatAnswer> {
  const alert = await readAlert(app, alertId)
  if (alert === undefined) return privately(NO_ACCESS)
  const about = { id: newPrefixedId('evt'), type: 'alert.fired', userId: null, at: app.clock.now() } as const
  return { replace_original: true, ...renderChat(buildMessage(alert, about, app.config.publicUrl)) }
}

const privately = (text: string): ChatAnswer => ({ response_type: 'ephemeral', replace_original: false, text })

const OFFER_LIFE_MS = 10 * 60_000

/**
 * Makes a link with which a member confirms that a user of the chat is them; the newest one is valid, once.
 * @returns its address, for a message that only this user sees
 */
export async function offerLink(app: App, user: ChatUser): Promise<string> {
  const token = newOneTimeToken()
  await putOffer(app.db, {
    token_hash: oneTimeTokenHash(token),
    team_id: user.teamId,
    chat_user_id: user.userId,
    team_name: user.teamName,
    chat_user_name: user.userName,
    expires_at: new Date(app.clock.now().getTime() + OFFER_LIFE_MS),
  })
  return `${app.config.publicUrl}/chat/link#token=${token}`
}
