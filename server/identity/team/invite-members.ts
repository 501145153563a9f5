import type { z } from 'zod'
import type { Role } from '#shared/permissions.ts'
import { accountKey, LIMITS, takeAttempt, type Limit } from '../auth/attempts.ts'
import { Email } from '../auth/credentials.api.ts'
import { foldEmail } from '../auth/email.ts'
import { noteInvite } from '../auth/membership-changes.queries.ts'
import { actorForLog, requireActingMember, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { AppError, conflict, invalid, notFound } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { newOneTimeToken, oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'
import { enqueueMails, type QueuedMail } from '../../platform/mails/enqueue-mails.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { lockTeam, requireGrantable, type LockedTeam } from './change-team.ts'
import { inviteMail } from './invite-mail.ts'
import type { Invite, InviteResult } from './invites.api.ts'
import { insertInvite, membersWithEmails, readInviteRow } from './invites.queries.ts'
import { viewInvite } from './list-invites.ts'

const INVITE_LIFE_MS = 7 * 86_400_000

export const inviteEnd = (now: Date): Date => new Date(now.getTime() + INVITE_LIFE_MS)

/**
 * Invites one address.
 * @throws AppError forbidden (a role above one's own), conflict (a member, or an open invitation), rate_limited
 */
export async function inviteMember(
  app: App,
  actor: OrgActor,
  input: { readonly email: string; readonly role: Role },
): Promise<z.infer<typeof Invite>> {
  const row = await app.tx(async (tx) => {
    const [outcome] = await invite(tx, app, actor, [input.email], input.role)
    if (outcome === undefined || outcome instanceof AppError) throw outcome ?? notFound('Invitation')
    return readInviteRow(tx, actor.orgId, outcome)
  })
  if (row === undefined) throw notFound('Invitation')
  app.log.info({ ...actorForLog(actor), invites: 1 }, 'invite.created')
  return viewInvite(row)
}

const STATUS: Partial<Record<AppError['code'], z.infer<typeof InviteResult>['status']>> = {
  conflict: 'conflict',
  invalid: 'invalid',
  rate_limited: 'limited',
}

/**
 * Invites each address that can be invited.
 * @returns a result for each, in their order
 * @throws AppError forbidden (a role above one's own)
 */
export async function inviteMembers(
  app: App,
  actor: OrgActor,
  input: { readonly emails: readonly string[]; readonly role: Role },
): Promise<z.infer<typeof InviteResult>[]> {
  const outcomes = await app.tx((tx) => invite(tx, app, actor, input.emails, input.role))
  app.log.info(
    { ...actorForLog(actor), invites: outcomes.filter((one) => typeof one === 'string').length },
    'invite.created',
  )
  return input.emails.map((email, index) => {
    const outcome = outcomes[index] ?? notFound('Invitation')
    return outcome instanceof AppError
      ? { email, status: STATUS[outcome.code] ?? 'invalid', error: outcome.message }
      : { email, status: 'invited', invite_id: outcome }
  })
}

type Outcome = string | AppError

/** @returns for each address the id of its invitation, or why it has none */
async function invite(tx: Tx, app: App, actor: OrgActor, addresses: readonly string[], role: Role): Promise<Outcome[]> {
  const team = await lockTeam(tx, actor)
  requireGrantable(team, role)
  const now = app.clock.now()
  const folded = addresses.map((address) => {
    const parsed = Email.safeParse(address)
    return parsed.success ? foldEmail(parsed.data) : null
  })
  const emails = [...new Set(folded.filter((email) => email !== null))]
  const members = await membersWithEmails(tx, team.orgId, emails)
  const limited = new Map<string, AppError>()
  // In one order for all organisations: two that invite the same addresses must not wait for each other.
  for (const email of emails.toSorted()) {
    // Without a mail nothing is sent to someone who may not want it.
    if (members.has(email) || app.isQuiet === true) continue
    const refusal = await takeEmailAttempt(tx, app, actor, email)
    if (refusal !== null) limited.set(email, refusal)
  }
  const outcomes: Outcome[] = []
  const mails: QueuedMail[] = []
  const facts: Fact[] = []
  const seen = new Set<string>()
  for (const email of folded) {
    const outcome = await inviteOne(tx, app, { actor, team, members, limited, seen, now, role, mails }, email)
    outcomes.push(outcome)
    if (typeof outcome === 'string' && email !== null)
      facts.push({ kind: 'invite.created', orgId: team.orgId, targetId: outcome, label: email, data: { role } })
  }
  if (facts.length > 0) {
    await noteInvite(tx, team.orgId, now)
    if (app.isQuiet !== true) await enqueueMails(tx, app, team.orgId, mails)
    await recordFacts(tx, factContext(app, actor, now), facts)
  }
  return outcomes
}

type Sending = {
  readonly actor: OrgActor
  readonly team: LockedTeam
  readonly members: ReadonlySet<string>
  /** Addresses that got enough invitations, with the refusal. */
  readonly limited: ReadonlyMap<string, AppError>
  readonly seen: Set<string>
  readonly now: Date
  readonly role: Role
  readonly mails: QueuedMail[]
}

async function inviteOne(tx: Tx, app: App, sending: Sending, email: string | null): Promise<Outcome> {
  const { actor, team, members, limited, seen, now, role, mails } = sending
  if (email === null) return invalid('This is not an email address such as name@example.com.')
  if (seen.has(email)) return conflict('This address is in the list twice.')
  seen.add(email)
  if (members.has(email)) return conflict('This person is a member of the organisation already.')
  const refusal = limited.get(email) ?? (app.isQuiet === true ? null : await takeInviteAttempt(tx, app, actor))
  if (refusal !== null) return refusal
  const { userId, name } = requireActingMember(actor)
  const token = newOneTimeToken()
  const expiresAt = inviteEnd(now)
  const id = await insertInvite(tx, {
    id: newId(),
    org_id: team.orgId,
    email,
    role,
    invited_by: userId,
    token_hash: oneTimeTokenHash(token),
    created_at: now,
    sent_at: app.isQuiet === true ? null : now,
    expires_at: expiresAt,
  })
  if (id === undefined) return conflict('This address has an open invitation already. Send that one again.')
  mails.push(inviteMail(app, { to: email, org: team.org.name, inviter: name, role, token, expiresAt }))
  return id
}

/**
 * Counts a mail to someone who may not want it, for the organisation.
 * @returns why it must not be sent; null when it may
 */
export const takeInviteAttempt = (tx: Tx, app: App, actor: OrgActor): Promise<AppError | null> =>
  take(tx, app, actor, LIMITS.invite, actor.orgId)

/** The same for the address, from all organisations: those of one stranger must not fill its mailbox. */
export const takeEmailAttempt = (tx: Tx, app: App, actor: OrgActor, email: string): Promise<AppError | null> =>
  take(tx, app, actor, LIMITS.inviteEmail, accountKey(email))

async function take(tx: Tx, app: App, { origin }: OrgActor, limit: Limit, key: string): Promise<AppError | null> {
  const attempt = await takeAttempt(app, limit, key, origin.kind === 'request' ? origin.ip : '', tx)
  return attempt.allowed ? null : attempt.refusal
}
