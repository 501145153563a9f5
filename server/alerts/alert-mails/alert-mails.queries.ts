import { sql, type SqlBool } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Receiver } from './unsubscribe-token.ts'

type Muted = { readonly userIds: ReadonlySet<string>; readonly addresses: ReadonlySet<string> }

/** Who does not want mails of a rule; addresses as hexadecimal hashes. */
export async function selectMuted(
  tx: Tx,
  { orgId, ruleId }: { readonly orgId: string; readonly ruleId: string },
  { userIds, addressHashes }: { readonly userIds: readonly string[]; readonly addressHashes: readonly Buffer[] },
): Promise<Muted> {
  const rows = await tx
    .selectFrom('alert_mail_mutes')
    .select(['user_id', 'address_hash'])
    .where('org_id', '=', orgId)
    .where((where) => where.or([where('rule_id', '=', ruleId), where('rule_id', 'is', null)]))
    .where(sql<SqlBool>`(user_id = any(${[...userIds]}::uuid[]) or address_hash = any(${[...addressHashes]}::bytea[]))`)
    .execute()
  return {
    userIds: new Set(rows.flatMap(({ user_id }) => user_id ?? [])),
    addresses: new Set(rows.flatMap(({ address_hash }) => address_hash?.toString('hex') ?? [])),
  }
}

export type Mute = { readonly id: string; readonly orgId: string; readonly receiver: Receiver }

/** @param ruleId null is every rule of the organisation */
export async function insertMute(tx: Tx, mute: Mute, ruleId: string | null, now: Date): Promise<void> {
  await tx
    .insertInto('alert_mail_mutes')
    .values({ id: mute.id, org_id: mute.orgId, rule_id: ruleId, ...receiverColumns(mute.receiver), created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Ends what mutes a rule for a receiver. */
export async function deleteMutes(
  tx: Tx,
  { orgId, ruleId, receiver }: { readonly orgId: string; readonly ruleId: string; readonly receiver: Receiver },
): Promise<void> {
  const { user_id, address_hash } = receiverColumns(receiver)
  await tx
    .deleteFrom('alert_mail_mutes')
    .where('org_id', '=', orgId)
    .where((where) => where.or([where('rule_id', '=', ruleId), where('rule_id', 'is', null)]))
    .where('user_id', 'is not distinct from', user_id)
    .where('address_hash', 'is not distinct from', address_hash)
    .execute()
}

const receiverColumns = (receiver: Receiver) =>
  'userId' in receiver
    ? { user_id: receiver.userId, address_hash: null }
    : { user_id: null, address_hash: receiver.addressHash }

/** Locks a rule, which cannot be deleted before the transaction ends. */
export const lockRule = (tx: Tx, orgId: string, ruleId: string) =>
  tx
    .selectFrom('alert_rules')
    .select(['id', 'name'])
    .where('id', '=', ruleId)
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .forKeyShare()
    .executeTakeFirst()

/** A member's muted rules, by name. */
export const selectMutedRules = (
  db: Connection,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
) =>
  db
    .selectFrom('alert_mail_mutes as m')
    .innerJoin('alert_rules as r', 'r.id', 'm.rule_id')
    .innerJoin('projects as p', 'p.id', 'r.project_id')
    .select(['m.id', 'm.created_at', 'r.id as rule_id', 'r.name as rule_name', 'p.name as project_name'])
    .where('m.org_id', '=', orgId)
    .where('m.user_id', '=', userId)
    .where('r.deleted_at', 'is', null)
    .orderBy('r.name')
    .orderBy('m.id')
    .limit(100)
    .execute()

export async function deleteMemberMute(
  tx: Tx,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
  muteId: string,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('alert_mail_mutes')
    .where('id', '=', muteId)
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
